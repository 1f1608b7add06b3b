"""Answers from the cache for a query that was asked before in other words.

Which cached query asks the same is the matcher's to say; which may serve at all, and for how long, is the
core's. Precision first: whatever is in doubt is a miss, which costs a search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from attrs import evolve

from ..errors import WebfetchError
from ..models import Freshness, Match, ProvenanceKind
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.host import Host
from ..runtime.replies import check_match, check_places
from .caching import CachedResult
from .lifetimes import judge, lifetime
from .query_index import Asked, QueryIndex, View

SHORTLIST = 8
"""How many of the nearest cached queries are looked at closely."""
TRIES = 3
"""How many answers that turn out to be gone are put up with."""
YOUNGEST = 100
"""How many are, by a matcher that has no shortlist of its own."""


class Answers(Protocol):
    """Where answers are kept."""

    def lookup(
        self, key: bytes, *, query: str | None = None, hint: Freshness | None = None
    ) -> CachedResult | None: ...


class SemanticLookup:
    """Looks a query up by its meaning. Thread-safe."""

    def __init__(self, host: Host, index: QueryIndex) -> None:
        self._host = host
        self._index = index

    def find(
        self,
        query: str,
        scope: str,
        answers: Answers,
        key_of: Callable[[str], bytes],
        *,
        bound: Freshness,
        events: Scope,
        deadline: Deadline,
    ) -> CachedResult | None:
        """Return the answer to a cached query of ``scope`` that asks the same, or None.

        Args:
            key_of: makes the key of a query's answer. A row of the index with another one would lead to
                the answer of another question, or to one under other conditions.
            bound: the class of ``query``: an older answer than that allows does not serve, whatever
                class it was stored under. A stale one never does.
        """
        handle = next(iter(self._host.handles("match")), None)
        if handle is None or handle.off_reason:
            return None
        for _ in range(TRIES):
            view = self._index.view(scope)
            if not view.asked:
                return None
            try:
                found: tuple[Asked, Match] | None = self._host.caller.call(
                    handle,
                    partial(self._match, query=query, view=view, bound=bound),
                    scope=events,
                    deadline=deadline,
                    target=query,
                    count=lambda value: int(value is not None),
                )
            except WebfetchError:
                return None  # an attempt tells of it
            if found is None:
                return None
            asked, match = found
            right = key_of(asked.query) == asked.key
            cached = answers.lookup(asked.key, query=asked.query, hint=bound) if right else None
            if cached is not None:
                return None if cached.kind is ProvenanceKind.STALE else _told(cached, query, asked, match)
            self._index.forget(asked)  # its answer was evicted, or purged, or is not its own: another may do
        return None

    def _match(self, matcher: Any, query: str, view: View, bound: Freshness) -> tuple[Asked, Match] | None:
        near = [asked for asked in _near(matcher, query, view) if self._serves(asked, bound)]
        if not near:
            return None
        match = check_match(matcher.match(query, tuple(asked.query for asked in near)), len(near))
        return (near[match.index], match) if match else None

    def _serves(self, asked: Asked, bound: Freshness) -> bool:
        ttl = self._host.settings.ttl
        age = self._host.clock.time() - asked.at
        if age >= ttl.stale_factor * lifetime(asked.freshness, ttl):
            self._index.forget(asked)
        return judge(max(age, 0.0), asked.freshness, bound, ttl) is ProvenanceKind.EXACT


def matched(host: Host, query: str, candidates: Sequence[str]) -> Match | None:
    """The candidate that asks the same as ``query``; see ``Webfetch.match``."""
    for handle in host.handles("match")[:1]:
        found: Match | None = host.caller.call(
            handle,
            lambda matcher: matcher.match(query, candidates),
            scope=host.scope("match"),
            deadline=host.deadline(host.settings.deadline_s),
            check=lambda value: check_match(value, len(candidates)),
            count=lambda value: int(value is not None),
        )
        return evolve(found, query=candidates[found.index]) if found is not None else None
    return None


def _told(cached: CachedResult, query: str, asked: Asked, match: Match) -> CachedResult:
    """The answer with what it was matched to, and how surely."""
    kind = ProvenanceKind.SEMANTIC if cached.kind is ProvenanceKind.EXACT else cached.kind
    provenance = evolve(
        cached.result.provenance,
        kind=kind,
        matched_query=asked.query,
        score=match.score,
        reason=match.reason,
    )
    return evolve(cached, kind=kind, result=evolve(cached.result, query=query, provenance=provenance))


def _near(matcher: Any, query: str, view: View) -> Sequence[Asked]:
    shortlist = getattr(matcher, "shortlist", None)
    if shortlist is None:
        return view.asked[: -YOUNGEST - 1 : -1]
    places = check_places(shortlist(query, view.texts, SHORTLIST), len(view.texts), SHORTLIST)
    return [view.asked[place] for place in places]
