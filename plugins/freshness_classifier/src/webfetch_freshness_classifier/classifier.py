"""Rules where words leave no doubt, else the trained models: policy over the two."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from math import log

from webfetch_core.api import Freshness

from .features import cues, features, is_silent
from .languages import classify_foreign, is_english
from .meaning import Embed, Meaning
from .model import CLASSES, Linear, Model
from .words import Query, read_query

_CLASSES = tuple(map(Freshness, CLASSES))

_NEAR = ("these_days", "this_year", "last_year", "newest")
"""Cues that keep a question open: what follows is never called stable."""

_LASTING = ("still", "current", "these_days", "this_year")
"""Cues with which a year of the past does not settle a question."""


def ruled(query: Query, found: Mapping[str, bool]) -> Freshness | None:
    """The class where words leave no doubt, else None.

    "today" and its like mean the present whatever else is said; the past settles a question unless last year
    or a later one is named too.
    """
    if found["now"]:
        return Freshness.REALTIME
    if query.latest < -1 if query.latest is not None else query.long_ago:
        return Freshness.RECENT if any(found[name] for name in _LASTING) else Freshness.STABLE
    return None


def open_ended(query: Query, found: Mapping[str, bool]) -> bool:
    """Whether a cue forbids to call the answer stable."""
    return (query.latest is not None and query.latest >= -1) or any(found[name] for name in _NEAR)


def decided(
    probabilities: tuple[float, ...], linear: Linear, *, bonus: float, never_stable: bool
) -> Freshness:
    """The class of these probabilities, after ``bonus`` for realtime."""
    realtime, recent, stable = (log(max(p, 1e-12)) for p in probabilities)
    realtime += bonus
    if probabilities[0] > linear.bound or never_stable:
        return Freshness.REALTIME if realtime >= recent else Freshness.RECENT
    best = max(zip((realtime, recent, stable), (2, 1, 0), strict=True))  # a draw goes to the fresher class
    return _CLASSES[2 - best[1]]


class TrainedClassifier:
    """Tells the class of a query by rules, and where they are silent by the trained models.

    Args:
        embed: gives vectors; where it is None, fails, or does not answer in time, words alone decide.
        patience_s: seconds that a vector is waited for.
    """

    def __init__(self, model: Model, embed: Embed | None = None, *, patience_s: float = 0.1) -> None:
        self._model = model
        self._meaning = Meaning(embed, patience_s) if embed is not None else None

    def classify(self, query: str, now: datetime) -> Freshness | None:
        """Return the class; None where nothing speaks for one, or in a language that is not read."""
        asked = read_query(query, now)
        if not asked.words:
            return None
        found = cues(asked)
        told = ruled(asked, found)
        if told is not None:
            return told
        if not is_english(asked):
            return classify_foreign(asked, now.year)
        row = features(asked, found)
        vector = self._meaning.vector(asked.embedded) if self._meaning else None
        silent, never_stable = is_silent(found), open_ended(asked, found)
        if vector is None:
            if silent:
                return Freshness.RECENT if never_stable else None
            linear = self._model.words
        else:
            linear = self._model.meaning
            row.extend(vector)
        return decided(
            linear.probabilities(row),
            linear,
            # Where only the vector speaks, a bonus would make most names and nouns realtime.
            bonus=0.0 if silent else linear.bonus,
            never_stable=never_stable,
        )
