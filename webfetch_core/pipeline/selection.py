"""From a ranking to a handful of chunks that are not five times the same. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..models import Chunk

_WORD = re.compile(r"\w+")
_SHINGLE = 3


def select(
    chunks: Sequence[Chunk], *, keep: int, per_source: int, near_duplicate: float
) -> tuple[Chunk, ...]:
    """The first ``keep`` chunks that are no near-duplicates of each other, few from any one URL.

    They stay in their order, best first.

    Args:
        chunks: best first.
        per_source: most chunks from one URL, as long as other sources have something to say:
            what the cap leaves free is filled from the capped ones.
        near_duplicate: share of the smaller text's word triples that makes two texts the same.
    """
    picked: dict[int, Chunk] = {}
    spare: dict[int, Chunk] = {}
    shingles: dict[int, frozenset[str]] = {}
    taken: dict[str, int] = {}

    def said(place: int, others: Iterable[int]) -> bool:
        return any(overlap(shingles[place], shingles[other]) >= near_duplicate for other in others)

    for place, chunk in enumerate(chunks):
        if len(picked) == keep:
            break
        capped = taken.get(chunk.url, 0) >= per_source
        if capped and len(spare) >= 2 * keep:  # more than can be needed
            continue
        shingles[place] = shingled(chunk.text)
        if said(place, picked) or (capped and said(place, spare)):
            continue
        (spare if capped else picked)[place] = chunk
        taken[chunk.url] = taken.get(chunk.url, 0) + 1
    for place, chunk in spare.items():
        if len(picked) < keep and not said(place, picked):
            picked[place] = chunk
    return tuple(picked[place] for place in sorted(picked))


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


def sources(chunks: Iterable[Chunk]) -> tuple[str, ...]:
    """The URLs of ``chunks``, each once, in order of first appearance."""
    return tuple(dict.fromkeys(chunk.url for chunk in chunks))
