"""The pages that extraction is trained and measured on, their truths, and the measure.

``../shared/data/extraction`` holds for each collection ``<name>_pages.tar.xz`` (the bytes of the pages) and
``<name>_truth.jsonl.xz`` (one row per page: ``id``, ``file``, ``url`` and its truth):

- ``wcxb``: ``main_content``, ``page_type``, snippets ``with`` and ``without``
  (Murrough-Foley/web-content-extraction-benchmark, CC-BY-4.0);
- ``aeb``: ``articleBody`` (scrapinghub/article-extraction-benchmark, MIT);
- ``rdb``: ``expected_html`` (mozilla/readability test pages, Apache-2.0);
- ``traf``: snippets ``with`` and ``without`` only (adbar/trafilatura tests, Apache-2.0).
"""

from __future__ import annotations

import hashlib
import re
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import frozen
from common import DATA, need, rows
from lxml import html as lxml_html

FOLDER = DATA / "extraction"
HOW = "It holds the pages and truths named in evals/extract_data.py."
TYPES = ("article", "documentation", "forum", "product", "listing", "collection", "service")
"""Page types, in the order of the classifier's outputs."""

_WORD = re.compile(r"\w+")


@frozen(kw_only=True)
class Sample:
    """A page and what should come of it. ``truth`` is None where there are snippets only; ``page_type`` is
    ``article`` in the collections that hold nothing else."""

    id: str
    collection: str
    body: bytes
    url: str
    truth: str | None
    page_type: str
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()


def samples(*collections: str) -> Iterator[Sample]:
    """Yield the pages of the collections."""
    for name in collections:
        pages: dict[str, bytes] = {}
        with tarfile.open(need(FOLDER / f"{name}_pages.tar.xz", HOW)) as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content is not None:
                    pages[member.name] = content.read()
        for row in rows(need(FOLDER / f"{name}_truth.jsonl.xz", HOW)):
            yield Sample(
                id=row["id"],
                collection=name,
                body=pages[row["file"]],
                url=row.get("url") or "",
                truth=_truth(row),
                page_type=row.get("page_type") or "article",
                wanted=tuple(row.get("with") or ()),
                unwanted=tuple(row.get("without") or ()),
            )


def _truth(row: dict[str, str]) -> str | None:
    for field in ("main_content", "articleBody"):
        if field in row:
            return row[field] or ""
    if "expected_html" in row:
        return " ".join(lxml_html.fromstring(row["expected_html"]).itertext())
    return None


def words(text: str) -> list[str]:
    """Runs of word characters, lower case: the words that are counted."""
    return _WORD.findall(text.lower())


def word_scores(text: str, truth: str) -> tuple[float, float, float]:
    """F1, precision and recall of the words of ``text``, counted with repetition; nothing of nothing is 1."""
    found, wanted = Counter(words(text)), Counter(words(truth))
    if not found and not wanted:
        return 1.0, 1.0, 1.0
    common = (found & wanted).total()
    if not common:
        return 0.0, 0.0, 0.0
    precision, recall = common / found.total(), common / wanted.total()
    return 2 * precision * recall / (precision + recall), precision, recall


def holds(text: Sequence[str], snippet: str) -> bool:
    """Whether the words of ``snippet`` stand in ``text`` one after another."""
    return f" {' '.join(words(snippet))} " in f" {' '.join(text)} "


def domain(sample: Sample) -> str:
    """The registered domain of the page, by its address or its own word; else its id."""
    from tld import get_fld

    found = get_fld(sample.url or _own_address(sample.body), fail_silently=True)
    return found or sample.id


def _own_address(body: bytes) -> str:
    root = lxml_html.fromstring(body)
    for path in ("//link[@rel='canonical']/@href", "//meta[@property='og:url']/@content"):
        if found := root.xpath(path):
            return str(found[0])
    return ""


def part(name: str, parts: int, salt: str) -> int:
    """A number below ``parts`` that depends on the name only."""
    return int(hashlib.md5(f"{salt}{name}".encode(), usedforsecurity=False).hexdigest(), 16) % parts


FOLDS = 5


def fold(sample: Sample) -> int:
    """The fold that the page is tested in: all pages of a registered domain are in the same one."""
    return part(domain(sample), FOLDS, "outer")
