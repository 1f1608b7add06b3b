"""``--explain``: the waterfall of a request, and what each part of it came to."""

from __future__ import annotations

from collections.abc import Sequence

from ..models import Attempt, Chunk, Document, ProvenanceKind, SearchResult, Span
from ..pipeline.render import human_age
from .output import cut, one_line, table, told_size, told_time
from .sources import found_by, where

BLOCK, ASCII_BLOCK = "█", "#"
NAME_WIDTH = 34
MIN_BAR = 12


def explain_search(
    result: SearchResult, kept: Sequence[Chunk], width: int, *, unicode: bool = True
) -> list[str]:
    """The explanation of a search, as lines.

    Args:
        kept: what compression left of the result's chunks.
    """
    sections = [
        ("waterfall", waterfall(result.trace, width, unicode=unicode)),
        ("engines", _engines(result.attempts)),
        ("pages", _pages(result)),
        ("result", _result(result, kept)),
    ]
    return _titled(sections, width, unicode)


def explain_fetch(
    url: str, attempts: Sequence[Attempt], document: Document | None, width: int, *, unicode: bool = True
) -> list[str]:
    """The explanation of one page: who tried it, how long it took, and what is known of it."""
    rows = [("STAGE", "BY", "TIME", "OUTCOME", "REASON")]
    rows += [(a.stage, a.provider, told_time(a.elapsed_s), _outcome(a), a.reason) for a in attempts]
    facts: list[tuple[str, str]] = []
    if not attempts and document is not None:
        rows.append(("cache", "page cache", "", "hit", ""))
    if document is not None:
        facts = [("url", document.url), ("title", document.title), ("type", document.page_type)]
        facts += [("published", document.published or ""), ("flags", ", ".join(document.flags))]
        facts += [("links", str(len(document.links))), ("characters", str(len(document.text)))]
        facts += [(f"metadata {key}", value) for key, value in sorted(document.metadata.items())]
    return _titled(
        [(f"attempts for {url}", table(_filled(rows))), ("document", table([f for f in facts if f[1]]))],
        width,
        unicode,
    )


def _titled(sections: Sequence[tuple[str, list[str]]], width: int, unicode: bool) -> list[str]:
    lines: list[str] = []
    for title, body in sections:
        if body:
            lines += [*([""] if lines else []), one_line(title), *(f"  {line}" for line in body)]
    return [cut(line, width, unicode=unicode) for line in lines]


# ---- the waterfall -------------------------------------------------------------------------------


def waterfall(trace: Sequence[Span], width: int, *, unicode: bool = True) -> list[str]:
    """One bar a span, all on one scale that ends with the last of them."""
    if not trace:
        return []
    names = [cut(_name(span), NAME_WIDTH, unicode=unicode) for span in trace]
    times = [f"{span.start_s:6.3f} - {span.end_s:6.3f} s" for span in trace]
    left = max(len(name) for name in names)
    room = max(width - 2 - left - len(times[0]) - 4, MIN_BAR)
    bar = max(min(room // 2, 40), MIN_BAR)
    end = max(span.end_s for span in trace)
    block = BLOCK if unicode else ASCII_BLOCK
    return [
        f"{name:<{left}}  {time}  {_bar(span, end, bar, block)}  {_note(span)}".rstrip()
        for name, time, span in zip(names, times, trace, strict=True)
    ]


def _bar(span: Span, end: float, size: int, block: str) -> str:
    if end <= 0:
        return " " * size
    first = min(int(span.start_s / end * size), size - 1)
    last = max(first + 1, min(round(span.end_s / end * size), size))
    return (" " * first + block * (last - first)).ljust(size)


def _name(span: Span) -> str:
    target = _target(span)
    return one_line(" ".join(x for x in (span.stage, span.name, where(target) if target else "") if x))


def _target(span: Span) -> str:
    """The URL at the end of a span's note, if there is one."""
    last = span.note.rpartition(" ")[2]
    return last if "://" in last or last.startswith("local:") else ""


def _note(span: Span) -> str:
    return one_line(span.note.removesuffix(_target(span)))


# ---- what it came to -----------------------------------------------------------------------------


def _outcome(attempt: Attempt) -> str:
    if attempt.outcome != "ok":
        return attempt.outcome
    return f"ok, {told_size(attempt.count)}" if attempt.stage == "fetch" else "ok"


def _filled(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """``rows`` (a head and a body) without the columns that the body leaves empty."""
    wanted = [i for i in range(len(rows[0])) if any(row[i] for row in rows[1:])]
    return [[row[i] for i in wanted] for row in rows]


def _engines(attempts: Sequence[Attempt]) -> list[str]:
    rows = [("ENGINE", "HITS", "TIME", "COST", "OUTCOME", "REASON")]
    rows += [
        (
            a.provider,
            str(a.count),
            told_time(a.elapsed_s),
            f"${a.cost_usd:.4f}" if a.cost_usd else "free",
            a.outcome,
            a.reason,
        )
        for a in attempts
        if a.stage == "search"
    ]
    return table(_filled(rows)) if len(rows) > 1 else []


def _pages(result: SearchResult) -> list[str]:
    quoted = {chunk.url for chunk in result.chunks}
    failed = {failure.url: failure for failure in result.failed_urls}
    loads: dict[str, list[Attempt]] = {}
    for attempt in result.attempts:
        if attempt.stage in ("fetch", "extract") and attempt.target:
            loads.setdefault(attempt.target, []).append(attempt)
    rows = [("#", "PAGE", "FOUND BY", "OUTCOME", "LOADED BY", "REASON")]
    for hit in result.hits:
        failure = failed.get(hit.url)
        outcome = failure.kind if failure else "quoted" if hit.url in quoted else "not quoted"
        by = ", ".join(f"{a.provider} {told_time(a.elapsed_s)}" for a in loads.get(hit.url, ()))
        rows.append(
            (
                str(hit.rank),
                cut(one_line(hit.url), 60),
                found_by(hit),
                outcome,
                by or "-",
                failure.reason if failure else "",
            )
        )
    return table(_filled(rows)) if len(rows) > 1 else []


def _result(result: SearchResult, kept: Sequence[Chunk]) -> list[str]:
    provenance = result.provenance
    told = str(provenance.kind)
    if provenance.kind is not ProvenanceKind.FRESH:
        told += f", {human_age(provenance.age_s)} old"
    if provenance.kind is ProvenanceKind.SEMANTIC:
        told += f', matched "{one_line(provenance.matched_query)}" at {provenance.score:.2f}'
    before, after = (sum(len(chunk.text) for chunk in chunks) for chunks in (result.chunks, kept))
    return table(
        [
            ("from", told),
            ("freshness", str(result.freshness)),
            ("ranked by", ", ".join(result.ranked_by) or "nothing"),
            (
                "compression",
                f"kept {after} of {before} characters, {len(kept)} of {len(result.chunks)} passages",
            ),
            ("complete", "no: the time was up" if result.partial else "yes"),
            ("took", told_time(result.elapsed_s)),
        ]
    )
