"""Chunks of one source put back together, so that a sentence cut at a chunk's edge is whole again. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from webfetch_core.api import Chunk

from .units import Unit, split_units

_MIN_OVERLAP = 15
_MAX_OVERLAP = 400


@frozen(kw_only=True)
class Placed:
    """A unit and where it stands.

    Attributes:
        owner: index of the chunk that gives it back (the one holding most of it).
        rank: index of the best chunk that touches it.
        source: the URL of its chunk.
        chain: number of the run of overlapping chunks; units of one chain are consecutive.
        first, last: whether it opens or closes its chain.
        place: 0.0 at the start of its chain to 1.0 at the end.
    """

    unit: Unit
    owner: int
    rank: int
    source: str
    chain: int
    first: bool
    last: bool
    place: float


@frozen
class _Span:
    chunk: int
    start: int
    end: int


def lay_out(chunks: Sequence[Chunk]) -> list[Placed]:
    """Return the units of all chunks, chain by chain, each chain in the order of its text."""
    placed: list[Placed] = []
    for number, (text, spans) in enumerate(_chains(chunks)):
        units = split_units(text)
        for k, unit in enumerate(units):
            touching = [s for s in spans if s.start < unit.end and unit.start < s.end]
            owner = max(touching, key=lambda s: (min(s.end, unit.end) - max(s.start, unit.start), -s.chunk))
            placed.append(
                Placed(
                    unit=unit,
                    owner=owner.chunk,
                    rank=min(s.chunk for s in touching),
                    source=chunks[owner.chunk].url,
                    chain=number,
                    first=k == 0,
                    last=k == len(units) - 1,
                    place=k / (len(units) - 1) if len(units) > 1 else 0.0,
                )
            )
    return placed


def _chains(chunks: Sequence[Chunk]) -> list[tuple[str, list[_Span]]]:
    """Join chunks of one source wherever the end of one is the beginning of another."""
    follows: dict[int, tuple[int, int]] = {}  # chunk: the one after it, and what of that is the same
    taken: set[int] = set()
    for i, chunk in enumerate(chunks):
        found = [
            (shared, j)
            for j, other in enumerate(chunks)
            if j != i and j not in taken and other.url == chunk.url and (shared := _overlap(chunk, other))
        ]
        if found:
            shared, j = max(found, key=lambda pair: (pair[0], -pair[1]))
            if not _leads_to(follows, j, i):
                follows[i] = (j, shared)
                taken.add(j)
    chains = []
    for i in range(len(chunks)):
        if i in taken:
            continue
        text, spans = chunks[i].text, [_Span(i, 0, len(chunks[i].text))]
        at = i
        while at in follows:
            at, shared = follows[at]
            repeated = len(_header(chunks[at]))
            start = len(text) - shared
            text += chunks[at].text[repeated + shared :]
            spans.append(_Span(at, start, len(text)))
        chains.append((text, spans))
    return sorted(chains, key=lambda chain: min(s.chunk for s in chain[1]))


def _leads_to(follows: dict[int, tuple[int, int]], start: int, target: int) -> bool:
    while start in follows:
        start = follows[start][0]
        if start == target:
            return True
    return start == target


def _overlap(chunk: Chunk, following: Chunk) -> int:
    """Characters that ``following``, without its header, repeats from the end of ``chunk``; 0 when they do
    not adjoin."""
    header = _header(following)
    text, other = chunk.text, following.text[len(header) :]
    known = chunk.end - chunk.start == len(text) - len(_header(chunk)) and len(other) == (
        following.end - following.start
    )
    if known and chunk.start < following.start <= chunk.end < following.end:
        shared = chunk.end - following.start
        return shared if shared and text.endswith(other[:shared]) else 0
    if header:
        return 0
    longest = min(len(text), len(other), _MAX_OVERLAP)
    return next((k for k in range(longest, _MIN_OVERLAP - 1, -1) if text.endswith(other[:k])), 0)


def _header(chunk: Chunk) -> str:
    """What a chunk that begins inside a table or a fenced block has in front of its own text, or ""."""
    size = len(chunk.text) - (chunk.end - chunk.start)
    if not 0 < size < len(chunk.text) or chunk.text[size - 1] != "\n":
        return ""
    return chunk.text[:size] if chunk.text.startswith(("|", "```", "~~~")) else ""
