"""Scoring across indexes as if they were one, and telling a match from an accident."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from attrs import frozen

from .store import BOOSTS, Found, View

MIN_SHARE = 0.34
"""A document that shares less than this part (a third) of the query's information, and fewer than half of its
terms, matches by accident: in a fusion with other engines it would push real answers down."""


@frozen(kw_only=True)
class Statistics:
    """What a query's stems weigh. ``frequencies`` has one mapping ``{stem: {field: documents}}`` an index."""

    counts: tuple[int, ...]
    frequencies: tuple[Mapping[str, Mapping[str, int]], ...]

    @property
    def total(self) -> int:
        """Documents in all indexes together."""
        return sum(self.counts)

    def everywhere(self, stem: str, field: str) -> int:
        """Documents of all indexes whose ``field`` holds ``stem``."""
        return sum(of_index[stem][field] for of_index in self.frequencies)


def idf(count: int, frequency: int) -> float:
    """Return BM25's inverse document frequency, ln(1 + (N - n + 0.5) / (n + 0.5)), always above 0."""
    frequency = min(frequency, count)
    return math.log1p((count - frequency + 0.5) / (frequency + 0.5))


def gather(views: Sequence[View], stems: Sequence[str]) -> Statistics:
    """Count documents and terms in every index."""
    return Statistics(
        counts=tuple(view.count for view in views),
        frequencies=tuple({stem: view.frequencies(stem) for stem in stems} for view in views),
    )


def weights(statistics: Statistics, place: int) -> dict[str, dict[str, float]]:
    """Return the weight of each stem and field in the index number ``place``.

    An index weighs a term by its own documents alone, so a small index would always lose against
    a large one. The weight undoes that: BM25 with the frequencies of all indexes together.
    """
    count = statistics.counts[place]
    made: dict[str, dict[str, float]] = {}
    for stem, fields in statistics.frequencies[place].items():
        made[stem] = {
            field: boost
            * idf(statistics.total, statistics.everywhere(stem, field))
            / idf(count, fields[field])
            for field, boost in BOOSTS.items()
            if fields[field]
        }
    return {stem: fields for stem, fields in made.items() if fields}


def keep_matches(
    view: View, found: Sequence[Found], statistics: Statistics, stems: Sequence[str]
) -> list[Found]:
    """Return those of ``found`` that share enough with the query; see ``MIN_SHARE``."""
    keys = [item.key for item in found]
    worth = worths(statistics, stems)
    needed = MIN_SHARE * sum(worth.values())
    share = dict.fromkeys(keys, 0.0)
    shared = dict.fromkeys(keys, 0)
    for stem in stems:
        for key in view.holders(stem, keys) if statistics.everywhere(stem, "body") else ():
            share[key] += worth[stem]
            shared[key] += 1
    return [item for item in found if share[item.key] >= needed or 2 * shared[item.key] >= len(stems)]


def worths(statistics: Statistics, stems: Sequence[str]) -> dict[str, float]:
    """Return what each stem of the query says about a document that holds it."""
    return {stem: idf(statistics.total, statistics.everywhere(stem, "body")) for stem in stems}
