"""What is known of a query without a model: one number for each of ``FEATURES``. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from .cues import CUES, SPEAKING
from .words import Query

_MOVING = ("price", "wealth", "weather", "traffic", "rank", "charts", "age", "elapsed", "news")
_CHANGING = (
    *(
        "these_days",
        "this_year",
        "last_year",
        "newest",
        "next",
        "last",
        "current",
        "still",
        "recent",
        "since",
    ),
    *("superlative", "nowadays", "future", "best"),
)
_SETTLED = ("define", "explain", "science", "geography", "fiction", "deed", "first", "was_early", "old_times")

_PAIRS = (
    ("newest", "contest"),
    ("newest", "event"),
    ("newest", "work"),
    ("newest", "product"),
    ("newest", "office"),
    ("newest", "release_text"),
    ("newest", "version"),
    ("last", "event"),
    ("last", "contest"),
    ("current", "office"),
    ("current", "contest"),
    ("is_early", "superlative"),
    ("was_early", "superlative"),
    ("is_early", "office"),
    ("is_early", "kin"),
    ("has_early", "tally"),
    ("tally", "contest"),
    ("tally", "sport"),
    ("tally", "work"),
    ("tally", "ever"),
    ("this_year", "event"),
    ("ask_when", "is"),
    ("ask_when", "was"),
    ("ask_many", "was"),
    ("ask_many", "has"),
    ("ask_many", "is"),
    ("ask_who", "is"),
    ("version", "release_text"),
    ("version", "bench"),
    ("deed", "was"),
    ("first", "was"),
)

DERIVED = (
    *("moving", "changing", "settled", "moving_alone", "settled_alone", "neutral"),
    *("this_year_or_later", "year_before", "since_a_year", "short", "long", "words"),
)

FEATURES = (*CUES, *("+".join(pair) for pair in _PAIRS), *DERIVED)
"""Names, in the order of the columns. The training script writes one coefficient for each and class."""


def cues(query: Query) -> dict[str, bool]:
    """Which cues the text has."""
    return {name: bool(pattern.search(query.text)) for name, pattern in CUES.items()}


def is_silent(found: Mapping[str, bool]) -> bool:
    """Whether words say nothing: no cue of time or topic, and no question is asked ("zebra crossing")."""
    return not any(found[name] for name in SPEAKING)


def features(query: Query, found: Mapping[str, bool]) -> list[float]:
    """One row of :data:`FEATURES`.

    Args:
        found: the cues of ``query``.
    """
    moving = any(found[name] for name in _MOVING)
    changing = any(found[name] for name in _CHANGING)
    settled = any(found[name] for name in _SETTLED)
    n = len(query.words)
    derived = (
        moving,
        changing,
        settled,
        moving and not (found["was_early"] or found["define"] or found["explain"]),
        settled and not changing and not moving,
        not (moving or changing or settled),
        query.latest is not None and query.latest >= 0,
        query.latest == -1,
        query.since,
        n <= 3,
        n > 12,
        min(n, 30) / 15,
    )
    pairs = (found[a] and found[b] for a, b in _PAIRS)
    return [float(value) for value in (*found.values(), *pairs, *derived)]
