"""The results that the compressor's scorers learn from: short chunks, long excerpts, tables.

See ``train_compress.py``, which reads them.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from attrs import evolve, frozen
from common import DATA, answered, normal, rows
from webfetch_compress_sentences.layout import Placed
from webfetch_compress_sentences.words import terms
from webfetch_rank_bm25.ranker import Bm25Ranker
from webfetch_rank_bm25.settings import Bm25Settings

from webfetch_core.api import Chunk, Document
from webfetch_core.pipeline.chunking import chunk
from webfetch_core.pipeline.selection import select

RESULTS = DATA / "qa_results" / "train.jsonl.xz"
TABLES = DATA.parent / "train" / "wtq_question_table.jsonl.xz"
SECTIONS = DATA.parent / "train" / "wiki_heading_section_pairs.jsonl.xz"
QUESTIONS_PER_TABLE = 2
RANKED = 30


@frozen(kw_only=True)
class Example:
    """A query, the excerpts of its result, and what marks the units that answer it: one of the answers, or
    being that row of that source. ``kind`` is ``short``, ``long`` or ``table``."""

    query: str
    chunks: Sequence[Chunk]
    answers: Sequence[str] = ()
    row: tuple[str, str] | None = None
    kind: str = "short"

    def topic(self, placed: Sequence[Placed]) -> str:
        """The source that answers: examples of one topic belong in one fold."""
        labels = self.labels(placed)
        return next((p.source for p, label in zip(placed, labels, strict=True) if label), "")

    def labels(self, placed: Sequence[Placed]) -> list[float]:
        if self.row is None:
            return [float(answered(p.unit.text, self.answers)) for p in placed]
        return [float((p.source, p.unit.text) == self.row) for p in placed]


def excerpts(ranked: Sequence[int], chunks: Sequence[Chunk], texts: dict[str, str]) -> Sequence[Chunk]:
    """Select as a search does, but for the length: the weights that ship were learned from excerpts with one
    neighbour on each side, where a search now takes two."""
    return select(
        ranked, chunks, texts, keep=5, per_source=4, near_duplicate=0.85, context=1, max_chars=1_600
    )


# ---- prose ---------------------------------------------------------------------------------------


def short_results() -> list[Example]:
    return [
        Example(
            query=row["query"],
            chunks=[Chunk(text=c["text"], url=c["url"], title=c["title"]) for c in row["chunks"]],
            answers=row["answers"],
        )
        for row in rows(RESULTS)
    ]


def long_results(short: Sequence[Example]) -> Iterator[Example]:
    """Yield the short results with each chunk in its surroundings."""
    parts: dict[str, dict[str, Chunk]] = defaultdict(dict)
    for example in short:
        for c in example.chunks:
            parts[c.url][c.text] = c
    texts: dict[str, str] = {}
    placed: dict[str, list[Chunk]] = {}
    for url, found in parts.items():
        texts[url], starts = joined(list(found))
        order = sorted(found, key=lambda text: (starts[text], len(text)))
        placed[url] = [evolve(found[t], start=starts[t], end=starts[t] + len(t)) for t in order]
    for example in short:
        chunks = [c for url in dict.fromkeys(c.url for c in example.chunks) for c in placed[url]]
        place = {(c.url, c.text): i for i, c in enumerate(chunks)}
        ranked = [place[c.url, c.text] for c in example.chunks]
        yield evolve(example, chunks=excerpts(ranked, chunks, texts), kind="long")


def joined(parts: Sequence[str], least: int = 15, most: int = 80) -> tuple[str, dict[str, int]]:
    """Put the chunks of one source together where one repeats the end of another, the rest as paragraphs.

    Returns the page and where each chunk starts in it.
    """
    heads = {part[:least]: part for part in reversed(parts)}
    after: dict[str, tuple[str, int]] = {}
    taken: set[str] = set()
    for part in parts:
        for start in range(max(1, len(part) - most), len(part) - least + 1):
            other = heads.get(part[start : start + least])
            if other and other != part and other not in taken and other.startswith(part[start:]):
                after[part] = other, len(part) - start
                taken.add(other)
                break
    page = ""
    starts: dict[str, int] = {}
    for part in [*(p for p in parts if p not in taken), *parts]:  # the second round is for circles
        here, shared = part, 0
        if here not in starts and page:
            page += "\n\n"
        while here and here not in starts:
            starts[here] = len(page) - shared
            page += here[shared:]
            here, shared = after.get(here, ("", 0))
    return page, starts


# ---- tables --------------------------------------------------------------------------------------

_MOST = re.compile(r"\b(?:most|highest|largest|greatest|longest|tallest|biggest|maximum|best)\b")
_LEAST = re.compile(r"\b(?:least|lowest|smallest|shortest|fewest|minimum)\b")
_FIRST = re.compile(r"\b(?:first|earliest)\b(?! (?:place|round|name|half|position))")
_LAST = re.compile(r"\b(?:last|latest|final)\b(?! (?:place|round|name|half|position))")
_AFTER = re.compile(r"\bnext\b|\b(?:right|immediately|directly|comes|came|listed) after\b|\bbelow\b")
_BEFORE = re.compile(r"\bprevious\b|\b(?:right|immediately|directly|comes|came|listed) before\b|\babove\b")
_MANY_ROWS = re.compile(
    r"\bhow many (?!points|people|years|goals|votes|seats|deaths|episodes|games|medals|miles|meters|wins)"
    r"|\bnumber of\b|\btotal\b|\bdifference\b|\bmore than\b|\bless than\b|\bor\b|\baverage\b|\bconsecutive\b"
    r"|\bhow long\b|\bsame\b|\bother than\b|\bbesides\b|\bnot\b"
)
_NUMBER = re.compile(r"[^\w]*(-?\d[\d,]*(?:\.\d+)?)")


def asked_row(question: str, head: Sequence[str], body: Sequence[Sequence[str]]) -> int | None:
    """The one row that holds the answer: it names what the question names, stands next to it, is the
    first or last, or has the extreme number of the column that the question names. None: cannot be told."""
    asked = f" {normal(question)} "
    if _MANY_ROWS.search(asked):
        return None
    plain = [sorted({normal(cell) for cell in row}) for row in body]
    seen = Counter(cell for row in plain for cell in row)
    scores = [
        sum(
            len(cell.split()) + len(cell) / 20
            for cell in row
            if len(cell) > 2 and f" {cell} " in asked and seen[cell] <= max(1, len(body) // 2)
        )
        for row in plain
    ]
    top = max(scores, default=0)
    named = [i for i, score in enumerate(scores) if score == top > 0]
    if step := 1 if _AFTER.search(asked) else -1 if _BEFORE.search(asked) else 0:
        return named[0] + step if len(named) == 1 and 0 <= named[0] + step < len(body) else None
    if len(named) == 1:
        return named[0]
    wanted = [pattern for pattern in (_FIRST, _LAST, _MOST, _LEAST) if pattern.search(asked)]
    pool = named or [i for i, row in enumerate(plain) if not any("total" in cell.split() for cell in row)]
    if len(wanted) != 1 or not pool:
        return None
    if wanted[0] in (_FIRST, _LAST):
        return pool[0 if wanted[0] is _FIRST else -1]
    words = set(terms(question))
    columns = [[_NUMBER.match(body[i][k]) for i in pool] for k, n in enumerate(head) if words & set(terms(n))]
    columns = [column for column in columns if all(column)]
    if len(columns) != 1:
        return None
    values = [float(number.group(1).replace(",", "")) for number in columns[0] if number]
    extreme = (max if wanted[0] is _MOST else min)(values)
    return pool[values.index(extreme)] if values.count(extreme) == 1 else None


@frozen(kw_only=True)
class Page:
    document: Document
    chunks: Sequence[Chunk]
    head: Sequence[str]
    body: Sequence[Sequence[str]]
    questions: Sequence[str]

    def about(self) -> set[str]:
        return set(terms(" ".join([self.document.title, *self.head])))


def table_pages() -> list[Page]:
    """The articles: a title, sections, and the table after the first, second or third of them."""
    tables = list(rows(TABLES))
    sections: dict[str, list[str]] = defaultdict(list)
    titles = sorted({table["title"] for table in tables}, key=lambda title: (-len(title), title))
    for section in rows(SECTIONS):
        title = next((t for t in titles if section["q"].startswith(t)), "")
        heading = section["q"][len(title) :].strip()
        sections[title].append(f"## {heading}\n\n{section['p']}" if heading else section["p"])
    pages = []
    for number, table in enumerate(tables):
        head, *body = ([cell.strip() for cell in line.split(" | ")] for line in table["table"].split("\n"))
        body = [(row + [""] * len(head))[: len(head)] for row in body]
        heading = ("", "## Overview\n\n", "## List\n\n")[number % 3]
        lines = [markdown_row(row) for row in (head, ["---"] * len(head), *body)]
        around = sections[table["title"]]
        before = 1 + number % 3
        parts = [f"# {table['title']}", *around[:before], heading + "\n".join(lines), *around[before:]]
        document = Document(
            url=f"https://page.example/{number}", title=table["title"], text="\n\n".join(parts)
        )
        pages.append(
            Page(
                document=document,
                chunks=chunk(document),
                head=head,
                body=body,
                questions=table["questions"],
            )
        )
    return pages


def markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def table_results(pages: Sequence[Page]) -> Iterator[Example]:
    """Yield up to two results a table; its page stands first, second or third of five."""
    about = [page.about() for page in pages]
    where: dict[str, list[int]] = defaultdict(list)
    for number, words in enumerate(about):
        for word in sorted(words):
            where[word].append(number)
    ranker = Bm25Ranker(Bm25Settings())
    for number, page in enumerate(pages):
        near: dict[int, float] = defaultdict(float)
        for word in sorted(about[number]):
            for other in where[word]:
                near[other] += math.log(len(pages) / len(where[word]))
        near.pop(number, None)
        others = sorted(near, key=lambda other: (-near[other], other))[:4]
        told = ((q, asked_row(q, page.head, page.body)) for q in page.questions)
        usable = [(q, row) for q, row in told if row is not None][:QUESTIONS_PER_TABLE]
        for given, (question, row) in enumerate(usable):
            title = page.document.title
            named = set(terms(title)) <= set(terms(question))  # if not: it was asked with the table in view
            query = question if named else f"{question.rstrip('?. ')} ({title})?"
            place = (number + given) % 3
            shown = [pages[i] for i in (*others[:place], number, *others[place:])]
            chunks = [c for p in shown for c in p.chunks]
            priors = [1 / (1 + 0.1 * rank) for rank, p in enumerate(shown) for _ in p.chunks]
            passages = [" ".join(dict.fromkeys((c.title, *c.heading_path))) + f"\n{c.text}" for c in chunks]
            scores = [s * p for s, p in zip(ranker.score(query, passages), priors, strict=True)]
            ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:RANKED]
            text = re.sub(r"\s{2,}|[\t\xa0]", " ", markdown_row(page.body[row]))  # as a unit is written
            yield Example(
                query=query,
                chunks=excerpts(ranked, chunks, {p.document.url: p.document.text for p in shown}),
                row=(page.document.url, text),
                kind="table",
            )
