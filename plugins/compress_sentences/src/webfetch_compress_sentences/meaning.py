"""What a bi-encoder thinks of units, where one is in use: closeness in meaning to the query."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from math import sqrt
from operator import mul

from webfetch_core.api import Embeddings, WebfetchError

Embed = Callable[[Sequence[str]], Embeddings]

MOST = 64
"""Units that are embedded, best by their words first; the others count as far as the least of these."""
WEIGHT = 0.5
"""Of meaning, against 1 for words; chosen on the 597 development results, where .4 to .75 do the same."""
WEIGHT_WITHOUT_WORDS = 2.0
"""Of meaning, where no unit has a word of the query and only the place of each is known besides."""
TITLE_CHARS = 60
UNIT_CHARS = 300


def told(title: str, unit: str) -> str:
    """A unit with what it is about: most sentences do not name their subject."""
    return f"{title[:TITLE_CHARS]}: {unit[:UNIT_CHARS]}" if title else unit[:UNIT_CHARS]


def with_meaning(
    query: str, texts: Sequence[str], scores: Sequence[float], embed: Embed, weight: float = WEIGHT
) -> list[float] | None:
    """Return ``scores`` with the cosine of the query and each text added.

    The cosines are brought to ``weight`` times the spread of the scores. Where nothing embeds, or it fails,
    the answer is None.
    """
    order = sorted(range(len(texts)), key=lambda i: (-scores[i], i))[:MOST]
    if len(order) < 2:
        return None
    try:
        vectors = embed([query, *(texts[i] for i in order)])
    except WebfetchError:  # none is in use, or it is slow: words alone serve
        return None
    rows = array("f", vectors.data)
    asked, *others = (rows[at : at + vectors.dim] for at in range(0, len(rows), vectors.dim))
    cosines = [sum(map(mul, asked, row)) for row in others]
    spread = weight * _deviation(scores)
    own = _deviation(cosines)
    mean = sum(cosines) / len(cosines)
    scaled = [spread * (value - mean) / own if own else 0.0 for value in cosines]
    added = dict(zip(order, scaled, strict=True))
    least = min(scaled)
    return [score + added.get(i, least) for i, score in enumerate(scores)]


def _deviation(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sqrt(sum((value - mean) ** 2 for value in values) / len(values))
