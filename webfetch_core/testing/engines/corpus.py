"""A small corpus with a small lexical search: what simulated engines have indexed. Pure but for loading."""

from __future__ import annotations

import html
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urlsplit

from attrs import frozen

PAGES = "/pages/"
"""Where a simulator serves its corpus."""

_TYPES = {
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".htm": "text/html; charset=utf-8",
}
# Scripts without spaces are searched by the character.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_TITLE_WEIGHT = 3


@frozen(kw_only=True)
class CorpusDocument:
    """A page that an engine may know.

    Attributes:
        url: absolute, or a path under PAGES for a page that the simulator itself serves.
        published: ISO 8601 date or instant, or empty.
        language: ISO 639-1, or empty for a page that answers in any.
        body, content_type: the page as served; made from title and text where ``body`` is empty.
    """

    url: str
    title: str = ""
    text: str = ""
    published: str = ""
    language: str = ""
    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"

    @property
    def path(self) -> str:
        """Where a simulator serves this page."""
        if self.url.startswith("/"):
            return self.url
        parts = urlsplit(self.url)
        query = f"__{quote(parts.query, safe='')}" if parts.query else ""
        return f"{PAGES}{parts.netloc}{quote(parts.path or '/', safe='/%:@!$&()*+,;=~')}{query}"

    def page(self) -> bytes:
        """The page's bytes."""
        if self.body:
            return self.body
        blocks = "".join(f"<p>{html.escape(b)}</p>\n" for b in self.text.split("\n") if b.strip())
        title = html.escape(self.title)
        return (
            f'<!doctype html><html><head><meta charset="utf-8"><title>{title}</title></head>'
            f"<body><main><article><h1>{title}</h1>\n{blocks}</article></main></body></html>"
        ).encode()


class Corpus:
    """Documents with an inverted index. Immutable once made; ties are broken by URL."""

    def __init__(self, documents: Iterable[CorpusDocument] = ()) -> None:
        self.documents: tuple[CorpusDocument, ...] = tuple(documents)
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for at, document in enumerate(self.documents):
            counts = Counter(tokens(document.text))
            for word in tokens(document.title):
                counts[word] += _TITLE_WEIGHT
            length = 1.0 + math.log1p(sum(counts.values()) / 100)
            for word, count in counts.items():
                self._postings[word].append((at, count / (count + length)))

    def search(self, query: str) -> list[tuple[float, CorpusDocument]]:
        """Documents with a word of ``query``, best first: idf times damped count, summed."""
        scores: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(tokens(query)):
            found = self._postings.get(word, ())
            weight = math.log1p(len(self.documents) / (1 + len(found)))
            for at, count in found:
                scores[at] += weight * count
        order = sorted(scores, key=lambda at: (-scores[at], self.documents[at].url))
        return [(scores[at], self.documents[at]) for at in order]


def tokens(text: str) -> list[str]:
    """The words of ``text``, lower case."""
    return _TOKEN.findall(text.lower())


def snippet(text: str, query: str, width: int = 200) -> str:
    """The stretch of ``text`` with most of the words of ``query``, blanks folded; ``width`` characters."""
    wanted = set(tokens(query))
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    starts = [0, *(m.end() for m in re.finditer(r"[.!?]\s+", text))]
    best = max(starts, key=lambda at: (len(wanted & set(tokens(text[at : at + width]))), -at))
    cut = text[best : best + width]
    return cut if best + width >= len(text) else f"{cut.rsplit(' ', 1)[0]} ..."


def share(seed: int, *parts: str) -> float:
    """A number in [0, 1) that depends on ``seed`` and ``parts`` alone, the same in every process."""
    digest = blake2b("\n".join((str(seed), *parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


# ---- loading ----------------------------------------------------------------------------------------


def load_corpus(path: str | Path) -> list[CorpusDocument]:
    """Read a corpus.

    Args:
        path: a folder of ``.md``, ``.html`` and ``.txt`` files, found recursively and served under
            PAGES; or a JSONL file of objects with ``url`` and any of ``title text published language``.

    Raises:
        ValueError: no such path, no document in it, or a line that is not such an object.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(f for f in path.rglob("*") if f.suffix.lower() in _TYPES and f.is_file())
        documents = [_from_file(path, file) for file in files]
    elif path.is_file():
        lines = path.read_text(encoding="utf-8").splitlines()
        documents = [_from_line(path, n, line) for n, line in enumerate(lines, 1) if line.strip()]
    else:
        raise ValueError(f"{path}: no such folder or JSONL file")
    if not documents:
        raise ValueError(f"{path}: no document in it (expected .md, .html or .txt files, or JSON lines)")
    return documents


def _from_line(path: Path, number: int, line: str) -> CorpusDocument:
    try:
        data = json.loads(line)
    except ValueError as exc:
        raise ValueError(f"{path}:{number}: not JSON: {exc}") from exc
    if not isinstance(data, Mapping) or not isinstance(data.get("url"), str):
        raise ValueError(f'{path}:{number}: expected an object with a "url"')
    known = {k: data[k] for k in ("url", "title", "text", "published", "language") if data.get(k)}
    if wrong := sorted(k for k, v in known.items() if not isinstance(v, str)):
        raise ValueError(f"{path}:{number}: expected text in {', '.join(wrong)}")
    return CorpusDocument(**known)


def _from_file(folder: Path, file: Path) -> CorpusDocument:
    body = file.read_bytes()
    text = body.decode("utf-8", "replace")
    kind = _TYPES[file.suffix.lower()]
    title = ""
    if kind.startswith("text/html"):
        reader = _Text()
        reader.feed(text)
        reader.close()
        title, text = " ".join(reader.title.split()), "\n".join(reader.lines())
    elif kind.startswith("text/markdown"):
        heading = re.search(r"^#+\s+(.+?)\s*#*$", text, re.MULTILINE)
        title = heading[1] if heading else ""
    return CorpusDocument(
        url=PAGES + quote(file.relative_to(folder).as_posix()),
        title=title or file.stem.replace("-", " ").replace("_", " "),
        text=text,
        body=body,
        content_type=kind,
    )


class _Text(HTMLParser):
    """The title and the visible text of a page, roughly."""

    _SKIPPED = frozenset({"script", "style", "noscript", "template", "head"})
    _INLINE = frozenset({"a", "abbr", "b", "code", "em", "i", "small", "span", "strong", "sub", "sup"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._parts: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag == "body":
            self._open.clear()  # a head may be left open
        elif tag in self._SKIPPED or tag == "title":
            self._open.append(tag)
        elif tag not in self._INLINE:
            self._parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass
        elif tag not in self._INLINE:
            self._parts.append("\n")

    def handle_data(self, data: str) -> None:
        if "title" in self._open:
            self.title += data
        elif not self._open:
            self._parts.append(data)

    def lines(self) -> list[str]:
        """The text's lines, blanks folded, empty ones left out."""
        folded = (" ".join(line.split()) for line in "".join(self._parts).split("\n"))
        return [line for line in folded if line]
