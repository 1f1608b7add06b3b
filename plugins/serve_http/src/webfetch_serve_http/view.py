"""A search as the page shows it: every stage as rows, and what compression cut. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any
from urllib.parse import urlsplit

from attrs import frozen

from webfetch_core import Chunk, Document, SearchResult

_WORD = re.compile(r"\S+\s*|\s+")
_STAGES = ("cache", "classify", "match", "search", "fetch", "extract", "rank", "compress")
WIDTH = 1_000.0
"""Units of a bar's scale; a bar is never thinner than four of them."""
PAGE_STAGES = ("fetch", "extract")
BEGINNING_CHARS = 600


@frozen(kw_only=True)
class Piece:
    """A part of a passage; ``cut`` is what compression left out."""

    text: str
    cut: bool = False


@frozen(kw_only=True)
class Passage:
    """A passage of the result with what was cut from it. ``kept`` of its ``size`` characters are shown."""

    place: int
    url: str
    link: str
    host: str
    title: str
    heading: str
    score: float
    pieces: tuple[Piece, ...]
    kept: int
    size: int


@frozen(kw_only=True)
class EngineRow:
    """What an engine came to; ``bad`` where it failed."""

    name: str
    hits: int
    time: str
    cost: str
    outcome: str
    reason: str
    bad: bool


@frozen(kw_only=True)
class Load:
    """One try to fetch or to extract a page."""

    stage: str
    by: str
    time: str
    count: str
    outcome: str
    reason: str
    bad: bool


@frozen(kw_only=True)
class PageRow:
    """A page that was looked at: who found it, who loaded it, and what became of it."""

    place: int
    url: str
    link: str
    host: str
    title: str
    found_by: str
    loads: tuple[Load, ...]
    passages: int
    outcome: str
    reason: str
    bad: bool
    extracted: str = ""
    beginning: str = ""


@frozen(kw_only=True)
class Bar:
    """A bar of the waterfall, on a scale of ``WIDTH``."""

    stage: str
    kind: str
    name: str
    start: str
    took: str
    note: str
    x: float
    width: float


def pieces_of(original: str, kept: str) -> tuple[Piece, ...]:
    """``original`` in pieces: those that are in ``kept`` too, in its order, and those that were cut."""
    if kept == original:
        return (Piece(text=original),) if original else ()
    before, after = _WORD.findall(original), _WORD.findall(kept)
    same = SequenceMatcher(
        None, [w.strip() for w in before], [w.strip() for w in after], autojunk=False
    ).get_matching_blocks()
    pieces: list[Piece] = []
    at = 0
    for block in same:
        if block.a > at:
            pieces.append(Piece(text="".join(before[at : block.a]), cut=True))
        if block.size:
            pieces.append(Piece(text="".join(before[block.a : block.a + block.size])))
        at = block.a + block.size
    return tuple(pieces)


def passages_of(result: SearchResult, excerpts: Sequence[Chunk]) -> list[Passage]:
    """The result's passages, best first, each with what compression cut."""
    kept = {(chunk.url, chunk.start, chunk.end): chunk.text for chunk in excerpts}
    return [
        _passage(place, chunk, kept.get((chunk.url, chunk.start, chunk.end), ""))
        for place, chunk in enumerate(result.chunks, 1)
    ]


def _passage(place: int, chunk: Chunk, kept: str) -> Passage:
    pieces = pieces_of(chunk.text, kept)
    return Passage(
        place=place,
        url=chunk.url,
        link=link_of(chunk.url),
        host=host_of(chunk.url),
        title=chunk.title or chunk.url,
        heading=" › ".join(chunk.heading_path),
        score=chunk.score,
        pieces=pieces,
        kept=sum(len(piece.text) for piece in pieces if not piece.cut),
        size=len(chunk.text),
    )


def engines_of(attempts: Iterable[Any]) -> list[EngineRow]:
    """The engines that were asked; ``attempts`` are the library's records."""
    return [
        EngineRow(
            name=a.provider,
            hits=a.count,
            time=seconds(a.elapsed_s),
            cost=f"${a.cost_usd:.4f}" if a.cost_usd else "free",
            outcome=a.outcome,
            reason=a.reason,
            bad=a.outcome not in ("ok", "empty"),
        )
        for a in attempts
        if a.stage == "search"
    ]


def pages_of(result: SearchResult, documents: Mapping[str, Document] | None = None) -> list[PageRow]:
    """The pages of the result, in the order of the fusion; ``documents`` are those at hand, by URL."""
    loads: dict[str, list[Load]] = {}
    for a in result.attempts:
        if a.stage in PAGE_STAGES and a.target:
            loads.setdefault(a.target, []).append(
                Load(
                    stage=a.stage,
                    by=a.provider,
                    time=seconds(a.elapsed_s),
                    count=_told_count(a.stage, a.count),
                    outcome=a.outcome,
                    reason=a.reason,
                    bad=a.outcome != "ok",
                )
            )
    failed = {failure.url: failure for failure in result.failed_urls}
    quoted: dict[str, int] = {}
    for chunk in result.chunks:
        quoted[chunk.url] = quoted.get(chunk.url, 0) + 1
    rows = []
    for hit in result.hits:
        failure = failed.get(hit.url)
        outcome = failure.kind if failure else "quoted" if hit.url in quoted else "not quoted"
        document = (documents or {}).get(hit.url)
        rows.append(
            PageRow(
                place=hit.rank,
                url=hit.url,
                link=link_of(hit.url),
                host=host_of(hit.url),
                title=hit.title or hit.url,
                found_by=", ".join(f"{name} #{rank}" for name, rank in _by_rank(hit.engines)) or hit.engine,
                loads=tuple(loads.get(hit.url, ())),
                passages=quoted.get(hit.url, 0),
                outcome=outcome,
                reason=failure.reason if failure else "",
                bad=failure is not None,
                extracted=extracted_of(document) if document is not None else "",
                beginning=document.text.strip()[:BEGINNING_CHARS] if document is not None else "",
            )
        )
    return rows


def extracted_of(document: Document) -> str:
    """What was made of a page, in a line."""
    step = next((step.name for step in document.steps if step.won), "")
    facts = [
        f"{len(document.text):,} characters",
        document.page_type,
        f"by {step}" if step else "",
        f"published {document.published}" if document.published else "",
        ", ".join(document.flags),
    ]
    return " · ".join(fact for fact in facts if fact)


def bars_of(result: SearchResult) -> list[Bar]:
    """The waterfall, all bars on one scale that ends with the last of them."""
    end = max((span.end_s for span in result.trace), default=0.0) or 1.0
    bars = []
    for span in result.trace:
        start = min(max(span.start_s / end, 0.0), 1.0) * WIDTH
        width = max((span.end_s - span.start_s) / end * WIDTH, 4.0)
        x = min(start, WIDTH - 4.0)
        bars.append(
            Bar(
                stage=span.stage,
                kind=span.stage if span.stage in _STAGES else "other",
                name=span.name,
                start=seconds(span.start_s),
                took=seconds(span.end_s - span.start_s),
                note=span.note,
                x=round(x, 2),
                width=round(min(width, WIDTH - x), 2),
            )
        )
    return bars


def provenance_of(result: SearchResult) -> str:
    """Where the result comes from, in a sentence."""
    told = result.provenance
    age = f"{human_age(told.age_s)} old, {result.freshness.value}"
    match told.kind.value:
        case "fresh":
            return "Fresh search"
        case "exact":
            return f"From the cache: the same question, {age}"
        case "semantic":
            why = f", {told.reason}" if told.reason else ""
            return (
                f"From the cache: the answer to “{told.matched_query}”, which asks the same "
                f"(score {told.score:.2f}{why}), {age}"
            )
        case "stale":
            return f"From the cache, stale: {age}"
        case "finding":
            return f"Unverified: saved by a model for “{told.matched_query}”, not fetched, {age}"
        case _:
            return "Nothing in the cache, and the network was not asked"


def link_of(url: str) -> str:
    """``url`` where a browser may go there, else nothing: no ``javascript:`` of a page becomes a link."""
    try:
        parts = urlsplit(url)
        return url if parts.scheme in ("http", "https") and parts.hostname else ""
    except ValueError:
        return ""


def host_of(url: str) -> str:
    """The host of ``url``, or as much of it as there is."""
    try:
        return urlsplit(url).hostname or url[:80]
    except ValueError:
        return url[:80]


def seconds(value: float) -> str:
    """A time for people: ``8 ms``, ``1.24 s``."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1_000:.0f} ms"


def human_age(value: float) -> str:
    """``45 s``, ``12 min``, ``3 h`` or ``2 d``."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if value >= size:
            return f"{int(value // size)} {unit}"
    return f"{int(value)} s"


def _told_count(stage: str, count: int) -> str:
    if not count:
        return ""
    return f"{count:,} bytes" if stage == "fetch" else f"{count:,} characters"


def _by_rank(engines: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(engines.items(), key=lambda pair: (pair[1], pair[0]))
