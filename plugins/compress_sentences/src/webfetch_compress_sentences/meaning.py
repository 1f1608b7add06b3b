"""What models think of units, where a host has them: closeness to the query, and a reader's verdict."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from math import isfinite, sqrt
from operator import mul

from webfetch_core.api import Embeddings

from .patience import in_time
from .words import terms

Embed = Callable[[Sequence[str]], Embeddings]
ScorePairs = Callable[[str, Sequence[str]], Sequence[float]]

MOST = 32
"""Units that are embedded, best by their words first; a result of five excerpts has 20 to 100.

Between 16 and 64 of them nothing changes on 828 long results of the training part (808, 806, 808, 808 and 808
keep their answer).
"""
BATCH = 16
"""Units handed over at a time: what a slow machine did not come to counts as unknown."""
PATIENCE_S = 0.8
"""What embedding may take. The host waits 2 s for the whole compression."""

READ_MOST = 24
"""Units that a cross-encoder reads, best so far first: it takes ten times as long for each."""
READ_BATCH = 8
READ_PATIENCE_S = 0.6
READ_WEIGHT = 1.0
"""Of its verdict, against 1 for all else, both as standard deviations. Not measured: no weights were to be
had. In the published comparison it has all the weight, and keeps 29 of 29 where a bi-encoder keeps 26.
"""

READS = 0.12
"""Least share of function words among the words of a text that is embedded: 659 English results have .19 and
more (names, patch notes and lists among them), passages in eleven other languages at most .07."""
SAMPLE = 64
"""Units that are looked at for that."""
COMMON_IDF = 3.0
"""Terms below it are the 76 or so function words of the training data."""

TITLE_CHARS = 60
UNIT_CHARS = 300


def told(title: str, unit: str) -> str:
    """A unit with what it is about: most sentences do not name their subject."""
    return f"{title[:TITLE_CHARS]}: {unit[:UNIT_CHARS]}" if title else unit[:UNIT_CHARS]


def reads(texts: Sequence[str], idf: Mapping[str, float]) -> bool:
    """Whether ``texts`` are in the language of the training data, as far as its function words tell.

    Of others the shipped bi-encoder knows little, and the weights of its cosines would be too large.

    Args:
        idf: weights of common terms of the training data.
    """
    words = [word for text in texts[:SAMPLE] for word in terms(text) if word.isalpha()]
    common = sum(len(word) > 1 and idf.get(word, COMMON_IDF) < COMMON_IDF for word in words)
    return common >= READS * len(words)


def cosines(query: str, texts: Sequence[str], embed: Embed, patience_s: float = PATIENCE_S) -> list[float]:
    """Return the cosine of ``query`` and each text, of as many as could be had in ``patience_s`` seconds.

    Args:
        texts: most important first.
        embed: gives unit vectors; where it fails, the rest is missing.
    """
    asked: list[array[float]] = []

    def step(start: int) -> list[float]:
        some = texts[start : start + BATCH]
        vectors = embed([query, *some] if not asked else some)
        numbers = array("f", vectors.data)
        rows = [numbers[at : at + vectors.dim] for at in range(0, len(numbers), vectors.dim)]
        if not asked:
            asked.append(rows.pop(0))
        return _sound([sum(map(mul, asked[0], row)) for row in rows], len(some))

    done = in_time([partial(step, start) for start in range(0, len(texts), BATCH)], patience_s)
    return [value for values in done for value in values]


def read(
    query: str,
    texts: Sequence[str],
    scores: Sequence[float],
    score_pairs: ScorePairs,
    patience_s: float = READ_PATIENCE_S,
) -> list[float]:
    """Return ``scores`` with a cross-encoder's verdict added, as far as it came in time.

    Its scores are brought to the spread that ``scores`` have; units that it did not come to get the least of
    them. Fewer than two verdicts change nothing.
    """
    order = sorted(range(len(texts)), key=lambda i: (-scores[i], i))[:READ_MOST]

    def step(start: int) -> Sequence[float]:
        some = [texts[i] for i in order[start : start + READ_BATCH]]
        return _sound(score_pairs(query, some), len(some))

    done = in_time([partial(step, start) for start in range(0, len(order), READ_BATCH)], patience_s)
    verdicts = standard([value for values in done for value in values])
    if len(verdicts) < 2:
        return list(scores)
    spread = READ_WEIGHT * deviation([scores[i] for i in order])
    added = {i: spread * verdict for i, verdict in zip(order, verdicts, strict=False)}
    least = min(added.values())
    return [score + added.get(i, least) for i, score in enumerate(scores)]


def _sound(values: Sequence[float], n: int) -> list[float]:
    """``values``, which are to be ``n`` finite numbers. Raises ValueError or TypeError: they are not."""
    numbers = [float(value) for value in islice(values, n + 1)]
    if len(numbers) != n or not all(map(isfinite, numbers)):
        raise ValueError(f"{len(numbers)} numbers where {n} finite ones belong")
    return numbers


def standard(values: Sequence[float]) -> list[float]:
    """Return ``values`` in standard deviations from their mean; all 0 where they are all the same."""
    own = deviation(values)
    if not own:
        return [0.0] * len(values)
    mean = sum(values) / len(values)
    return [(value - mean) / own for value in values]


def deviation(values: Sequence[float]) -> float:
    """The standard deviation of ``values``; 0 of none."""
    if not values:
        return 0.0
    mean = sum(values) / len(values)
    return sqrt(sum((value - mean) ** 2 for value in values) / len(values))
