"""For how long what is cached serves. Pure: ages go in, judgements come out.

Ages count from when a row was written and are judged when it is read; reading never lengthens a
life.
"""

from __future__ import annotations

from ..models import Freshness, ProvenanceKind
from ..settings import TtlSettings

CLOCK_SLACK_S = 300.0  # rows from further in the future come from a clock that was wrong


def lifetime(freshness: Freshness, ttl: TtlSettings) -> float:
    """Return the seconds for which an answer of this class is good."""
    own = {
        Freshness.REALTIME: ttl.realtime_s,
        Freshness.RECENT: ttl.recent_s,
        Freshness.STABLE: ttl.stable_s,
    }[freshness]
    return min(own, ttl.ceiling_s)


def judge(
    age_s: float, freshness: Freshness, hint: Freshness | None, ttl: TtlSettings
) -> ProvenanceKind | None:
    """Return EXACT, STALE or None (do not serve) for a row of this age and class."""
    if hint is not None and age_s >= lifetime(hint, ttl):
        return None
    own = lifetime(freshness, ttl)
    if age_s < own:
        return ProvenanceKind.EXACT
    return ProvenanceKind.STALE if age_s < ttl.stale_factor * own else None
