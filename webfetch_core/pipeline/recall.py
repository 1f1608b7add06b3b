"""What earlier searches found, for a query that is asked again: in the same words, or in others.

The order of trust: the answer to this very query, the answer to one that asks the same, and only then what
a model said of either.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ..models import Freshness, ProvenanceKind, SearchResult
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.host import Host
from .cache_rows import QUERIES, query_key
from .caching import CachedResult, QueryCache, found_at
from .findings import SCOPE, FindingCache, may_serve
from .lifetimes import lifetime
from .query_index import Asked, QueryIndex
from .request import SearchOptions
from .semantic import Answers, SemanticLookup
from .tolerant_store import TolerantStore


@frozen
class Place:
    """Where the answer to a request is kept: under ``key``, among the other queries of ``scope``.
    ``key_of`` makes their keys."""

    key: bytes
    scope: str
    key_of: Callable[[str], bytes]


def place_of(options: SearchOptions, engines: tuple[str, ...], mode: str) -> Place:
    """Return the place of a request's answer; ``engines`` are those asked, and what else tells their
    answers apart from others'."""

    def key(query: str) -> bytes:
        return query_key(
            query,
            engines=engines,
            limit=options.limit,
            mode=mode,
            # What never changes is no filter to any engine: its answers are those without a hint.
            time_filter=None if options.hint is Freshness.STABLE else options.hint,
            include_domains=options.include_domains,
            exclude_domains=options.exclude_domains,
            language=options.language,
            country=options.country,
        )

    return Place(key(options.query), key("").hex(), key)


class Recall:
    """The answers that the cache has. Thread-safe."""

    def __init__(self, host: Host, store: TolerantStore) -> None:
        self._host = host
        self._answers = QueryCache(store, host.clock, host.settings.ttl)
        self._findings = FindingCache(store, host.clock, host.settings.ttl, enabled=host.settings.findings)
        self._index = QueryIndex(store)
        self._semantic = SemanticLookup(host, self._index)

    def find(
        self, place: Place, options: SearchOptions, freshness: Freshness, scope: Scope, deadline: Deadline
    ) -> CachedResult | None:
        """Return what may be served, its provenance set; a STALE one is to be refreshed behind.

        Args:
            freshness: the query's own class, which bounds the age of an answer to another wording.
            deadline: for the matcher; it has no say in looking up the very query.
        """

        def reworded(answers: Answers, among: str, key_of: Callable[[str], bytes]) -> CachedResult | None:
            return self._semantic.find(
                options.query, among, answers, key_of, bound=freshness, events=scope, deadline=deadline
            )

        found = self._exact(place, options, freshness) or reworded(self._answers, place.scope, place.key_of)
        if found is None and self._host.settings.findings and may_serve(options):
            key_of = self._findings.key
            # Whoever saved it may have said that it lasts: the question's own class bounds that.
            found = self._findings.lookup(
                key_of(options.query), query=options.query, hint=freshness
            ) or reworded(self._findings, SCOPE, key_of)
        if found is None:
            scope.emit("cache.missed", stage="cache", target=options.query)
            return None
        return _hit(found, options, scope)

    def find_young(self, place: Place, options: SearchOptions, scope: Scope) -> CachedResult | None:
        """Return the answer to this very query where it is so young that it serves whatever the query's class
        is: then nobody has to find that out."""
        strictest = min(Freshness, key=lambda kind: lifetime(kind, self._host.settings.ttl))
        found = self._answers.lookup(place.key, query=options.query, hint=strictest)
        return _hit(found, options, scope) if found else None

    def good(self, place: Place, options: SearchOptions, freshness: Freshness) -> SearchResult | None:
        """Return the answer to this very query if it is there by now, and not stale."""
        found = self._exact(place, options, freshness)
        return found.result if found is not None and found.kind is ProvenanceKind.EXACT else None

    def _exact(self, place: Place, options: SearchOptions, freshness: Freshness) -> CachedResult | None:
        return self._answers.lookup(place.key, query=options.query, hint=options.hint, freshness=freshness)

    def keep(self, place: Place, query: str, result: SearchResult) -> bool:
        """Keep a fresh result where :meth:`find` looks for it; say whether it was kept."""
        if not self._answers.store(place.key, query, result):
            return False
        self._index.note(
            Asked(
                space=QUERIES,
                key=place.key,
                query=query,
                scope=place.scope,
                at=found_at(result, self._host.clock.time()),
                freshness=result.freshness,
            )
        )
        return True


def _hit(found: CachedResult, options: SearchOptions, scope: Scope) -> CachedResult:
    """``found``, which was told."""
    origin = found.result.provenance
    told = {"kind": str(found.kind)}
    if origin.reason:
        told |= {"matched": origin.matched_query, "score": f"{origin.score:.2f}", "reason": origin.reason}
    scope.emit("cache.hit", stage="cache", target=options.query, data=told)
    return found
