"""From a ranking to a handful of excerpts that are not five times the same. Pure.

A passage is ranked small and shown in its surroundings: a row of a table or the sentence after a
name often holds the answer to words that only its neighbour shares with the query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from attrs import define, evolve

from ..models import Chunk

_WORD = re.compile(r"\w+")
_SHINGLE = 3


@define
class _Span:
    """Chunks ``first`` to ``last`` of the candidates, all of one page; ``core`` is the ranked one."""

    core: int
    first: int
    last: int

    def touches(self, first: int, last: int) -> bool:
        return first <= self.last + 1 and last >= self.first - 1


def select(
    ranked: Sequence[int],
    chunks: Sequence[Chunk],
    texts: Mapping[str, str] | None = None,
    *,
    keep: int,
    per_source: int,
    near_duplicate: float,
    context: int = 0,
    max_chars: int = 1_600,
) -> tuple[Chunk, ...]:
    """At most ``keep`` excerpts, best first: no near-duplicates of each other, few from any one page.

    Args:
        ranked: places in ``chunks``, best first.
        chunks: all candidates; those of one page stand together, in the order of its text.
        texts: the whole text of each page, by URL; an excerpt is cut from it. A chunk of a page
            that is not there stands alone.
        per_source: most excerpts from one page, as long as other pages have something to say:
            what the cap leaves free is filled from the capped ones.
        near_duplicate: share of the smaller text's word triples that makes two passages the same.
        context: chunks shown on each side of a ranked one. Excerpts that meet become one.
        max_chars: an excerpt does not grow beyond this by context or by meeting another.
    """
    texts = texts or {}
    spans: list[_Span] = []
    spare: list[int] = []
    shingles: dict[int, frozenset[str]] = {}
    taken: dict[str, int] = {}

    def said(place: int) -> bool:
        mine = shingles.setdefault(place, shingled(chunks[place].text))
        return any(overlap(mine, shingles[s.core]) >= near_duplicate for s in spans)

    for place in ranked:
        if any(s.first <= place <= s.last for s in spans):
            continue
        span = _surroundings(place, chunks, texts, context, max_chars)
        url = chunks[place].url
        if url in texts and _joined(span, spans, chunks, max_chars):
            continue
        if len(spans) == keep or said(place):
            continue
        if taken.get(url, 0) >= per_source:
            spare.append(place)
            continue
        taken[url] = taken.get(url, 0) + 1
        spans.append(_apart(span, spans))
    for place in spare:
        if len(spans) == keep:
            break
        if not any(s.first <= place <= s.last for s in spans) and not said(place):
            spans.append(_apart(_surroundings(place, chunks, texts, context, max_chars), spans))
    order = {place: rank for rank, place in enumerate(ranked)}
    spans.sort(key=lambda s: order[s.core])
    return tuple(_excerpt(s, chunks, texts) for s in spans)


def _surroundings(
    place: int, chunks: Sequence[Chunk], texts: Mapping[str, str], context: int, max_chars: int
) -> _Span:
    span = _Span(core=place, first=place, last=place)
    url = chunks[place].url
    if url not in texts:
        return span
    for _ in range(context):
        for before, behind in ((0, 1), (1, 0)):
            first, last = span.first - before, span.last + behind
            inside = first >= 0 and last < len(chunks) and chunks[first].url == url == chunks[last].url
            if inside and _length(first, last, chunks) <= max_chars:
                span.first, span.last = first, last
    return span


def _joined(span: _Span, spans: Sequence[_Span], chunks: Sequence[Chunk], max_chars: int) -> bool:
    """Whether an excerpt of the same page that the span meets has taken it in."""
    for other in spans:
        if chunks[other.core].url != chunks[span.core].url or not other.touches(span.first, span.last):
            continue
        both = _Span(core=other.core, first=min(span.first, other.first), last=max(span.last, other.last))
        both = _apart(both, [s for s in spans if s is not other])
        inside = both.first <= span.core <= both.last
        if inside and _length(both.first, both.last, chunks) <= max_chars:
            other.first, other.last = both.first, both.last
            return True
    return False


def _apart(span: _Span, spans: Iterable[_Span]) -> _Span:
    """The span without what another excerpt shows already; its own chunk it always keeps."""
    for other in spans:
        if other.last < span.core:
            span.first = max(span.first, other.last + 1)
        elif other.first > span.core:
            span.last = min(span.last, other.first - 1)
    return span


def _length(first: int, last: int, chunks: Sequence[Chunk]) -> int:
    return chunks[last].end - chunks[first].start if first != last else len(chunks[first].text)


def _excerpt(span: _Span, chunks: Sequence[Chunk], texts: Mapping[str, str]) -> Chunk:
    first, last, core = chunks[span.first], chunks[span.last], chunks[span.core]
    if span.first == span.last:
        return core
    page = texts[core.url]
    # A chunk that begins inside a table carries the table's header, which is not at that place.
    own = page[first.start : first.end]
    header = first.text[: -len(own)] if own and first.text.endswith(own) else ""
    return evolve(
        core,
        text=header + page[first.start : last.end],
        start=first.start,
        end=last.end,
        heading_path=first.heading_path,
    )


def shingled(text: str) -> frozenset[str]:
    """Overlapping word triples of ``text``, case-folded; characters where there are no spaces."""
    words = _WORD.findall(text.casefold())
    if len(words) < _SHINGLE or max(map(len, words)) > 40:
        joined = "".join(words)
        return frozenset(joined[i : i + 4] for i in range(max(1, len(joined) - 3)))
    return frozenset(" ".join(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1))


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Share of the smaller set that the other holds too (containment; 1.0 = one is inside the other)."""
    if not a or not b:
        return 0.0
    return len(a & b) / min(len(a), len(b))
