"""``--explain``: the waterfall of a request, and what each part of it came to.

A reason is never cut: it is what the reader came for. It stands below its row, wrapped.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..models import Attempt, Chunk, Document, ProvenanceKind, SearchResult, Span
from ..pipeline.render import YOUNG_S, human_age
from .output import cut, one_line, table, told_size, told_time, wrapped
from .sources import found_by, where

BLOCK, ASCII_BLOCK = "█", "#"
NAME_WIDTH = 34
MIN_BAR = 12
INDENT = "  "
MIN_URL, MAX_URL = 24, 60


def explain_search(
    result: SearchResult, kept: Sequence[Chunk], width: int, *, unicode: bool = True
) -> list[str]:
    """The explanation of a search, as lines.

    Args:
        kept: what compression left of the result's chunks.
    """
    inner = width - len(INDENT)
    return _titled(
        [
            ("waterfall", _bars(result.trace, width, unicode)),
            ("engines", _engines(result.attempts, inner)),
            ("pages", _pages(result, inner, unicode)),
            ("result", _result(result, kept, inner)),
        ]
    )


def explain_fetch(
    url: str, attempts: Sequence[Attempt], document: Document | None, width: int, *, unicode: bool = True
) -> list[str]:
    """The explanation of one page: who tried it, how long it took, and what is known of it."""
    inner = width - len(INDENT)
    rows = [("STAGE", "BY", "TIME", "OUTCOME")]
    rows += [(a.stage, a.provider, told_time(a.elapsed_s), _outcome(a)) for a in attempts]
    reasons = [a.reason for a in attempts]
    facts: list[tuple[str, str]] = []
    steps: list[str] = []
    if not attempts and document is not None:
        rows.append(("cache", "page cache", "", "hit"))
        reasons.append("")
    if document is not None:
        facts = [("url", document.url), ("title", document.title), ("type", document.page_type)]
        facts += [("published", document.published or ""), ("flags", ", ".join(document.flags))]
        facts += [("links", str(len(document.links))), ("characters", str(len(document.text)))]
        facts += [(f"metadata {key}", value) for key, value in sorted(document.metadata.items())]
        steps = _steps(document, inner)
    return _titled(
        [
            (f"attempts for {url}", _reasoned(rows, reasons, inner)),
            ("how the text was found", steps),
            ("document", table([f for f in facts if f[1]], width=inner)),
        ]
    )


def _steps(document: Document, width: int) -> list[str]:
    """The ways in which the text was looked for, each with the reason why it won or did not."""
    rows = [("STEP", "WORDS", "")]
    rows += [(step.name, str(step.words), "won" if step.won else "-") for step in document.steps]
    return _reasoned(rows, [step.reason for step in document.steps], width) if document.steps else []


def _titled(sections: Sequence[tuple[str, list[str]]]) -> list[str]:
    lines: list[str] = []
    for title, body in sections:
        if body:
            lines += [*([""] if lines else []), one_line(title), *(INDENT + line for line in body)]
    return lines


def _reasoned(rows: Sequence[Sequence[str]], reasons: Sequence[str], width: int) -> list[str]:
    """A table of ``rows`` (a head and a body), below each row of the body its reason, if it has one."""
    head, *body = table(_filled(rows))
    lines = [head]
    for line, reason in zip(body, reasons, strict=True):
        lines += [line, *_below(reason, width)]
    return lines


def _below(reason: str, width: int) -> list[str]:
    return wrapped(INDENT * 2, one_line(reason), width) if reason.strip() else []


# ---- the waterfall -------------------------------------------------------------------------------


def waterfall(trace: Sequence[Span], width: int, *, unicode: bool = True) -> list[str]:
    """One bar a span, all on one scale that ends with the last of them."""
    if not trace:
        return []
    names = [cut(_name(span), NAME_WIDTH, unicode=unicode) for span in trace]
    times = [f"{span.start_s:6.3f} - {span.end_s:6.3f} s" for span in trace]
    left = max(len(name) for name in names)
    room = max(width - len(INDENT) - left - len(times[0]) - 4, MIN_BAR)
    bar = max(min(room // 2, 40), MIN_BAR)
    end = max(span.end_s for span in trace)
    block = BLOCK if unicode else ASCII_BLOCK
    return [
        f"{name:<{left}}  {time}  {_bar(span, end, bar, block)}  {_note(span)}".rstrip()
        for name, time, span in zip(names, times, trace, strict=True)
    ]


def _bars(trace: Sequence[Span], width: int, unicode: bool) -> list[str]:
    """The waterfall with the notes for which a line has no room below it."""
    lines: list[str] = []
    for line, span in zip(waterfall(trace, width, unicode=unicode), trace, strict=True):
        note = _note(span)
        fits = len(line) <= width - len(INDENT) or not note
        lines += [line] if fits else [line.removesuffix(note).rstrip(), *_below(note, width - len(INDENT))]
    return lines


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


def _engines(attempts: Sequence[Attempt], width: int) -> list[str]:
    asked = [a for a in attempts if a.stage == "search"]
    rows = [("ENGINE", "HITS", "TIME", "COST", "OUTCOME")]
    rows += [
        (
            a.provider,
            str(a.count),
            told_time(a.elapsed_s),
            f"${a.cost_usd:.4f}" if a.cost_usd else "free",
            a.outcome,
        )
        for a in asked
    ]
    return _reasoned(rows, [a.reason for a in asked], width) if asked else []


def _pages(result: SearchResult, width: int, unicode: bool) -> list[str]:
    quoted = {chunk.url for chunk in result.chunks}
    failed = {failure.url: failure for failure in result.failed_urls}
    loads: dict[str, list[Attempt]] = {}
    for attempt in result.attempts:
        if attempt.stage in ("fetch", "extract") and attempt.target:
            loads.setdefault(attempt.target, []).append(attempt)
    rows = [("#", "PAGE", "FOUND BY", "OUTCOME", "LOADED BY")]
    reasons = []
    room = max(MIN_URL, min(MAX_URL, width // 2))
    for hit in result.hits:
        failure = failed.get(hit.url)
        outcome = failure.kind if failure else "quoted" if hit.url in quoted else "not quoted"
        by = ", ".join(f"{a.provider} {told_time(a.elapsed_s)}" for a in loads.get(hit.url, ()))
        page = cut(one_line(hit.url), room, unicode=unicode)
        rows.append((str(hit.rank), page, found_by(hit), outcome, by or "-"))
        reasons.append(failure.reason if failure else "")
    return _reasoned(rows, reasons, width) if reasons else []


def _result(result: SearchResult, kept: Sequence[Chunk], width: int) -> list[str]:
    provenance = result.provenance
    told = str(provenance.kind)
    if provenance.kind is not ProvenanceKind.FRESH:
        told += f", {human_age(provenance.age_s)} old"
    elif provenance.age_s >= YOUNG_S:
        told += f", quoting pages up to {human_age(provenance.age_s)} old"
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
        ],
        width=width,
    )
