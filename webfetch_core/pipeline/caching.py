"""Which searches may be answered from the cache. The store keeps bytes; this is the policy.

A store that fails is a store without rows: the search goes on and ``on_error`` hears of it, once
for each kind of fault.
"""

from __future__ import annotations

from attrs import evolve, frozen

from ..models import Freshness, Provenance, ProvenanceKind, SearchResult
from ..providers import Clock
from ..settings import TtlSettings
from ..stages import Cache
from .cache_rows import (
    QUERIES,
    Row,
    decode_body,
    decode_row,
    encode_row,
    freshness_of,
    normalise_query,
)
from .lifetimes import CLOCK_SLACK_S, judge, lifetime
from .tolerant_store import OnError, TolerantStore


@frozen(kw_only=True)
class CachedResult:
    """A result from the cache, its provenance already set. ``kind`` is EXACT or STALE; a STALE one
    may be shown, and the caller refreshes it behind."""

    result: SearchResult
    age_s: float
    kind: ProvenanceKind
    freshness: Freshness


class QueryCache:
    """Whole results by the key of :func:`query_key`."""

    def __init__(
        self,
        cache: Cache | TolerantStore | None,
        clock: Clock,
        ttl: TtlSettings,
        on_error: OnError | None = None,
    ) -> None:
        self._store = TolerantStore.over(cache, on_error)
        self._clock = clock
        self._ttl = ttl

    def lookup(
        self,
        key: bytes,
        *,
        query: str | None = None,
        hint: Freshness | None = None,
        freshness: Freshness | None = None,
    ) -> CachedResult | None:
        """Return the row where it still serves, else None.

        A row is EXACT while younger than the least of its class's lifetime, the caller's hint's
        and the ceiling; STALE up to ``stale_factor`` times its own lifetime; then it is deleted.
        ``hint`` bounds the age whatever the class: beyond it the answer is None, the row stays.

        ``freshness`` is the query's class as it is judged now. Where that is stricter than the row's
        own (its classifier was not there, or timed out, when it was stored) the row ages by it.

        ``query`` is what ``key`` was made of: a row of another query came under it by mistake.
        """
        value = self._store.get(QUERIES, key)
        if value is None:
            return None
        row = decode_row(value)
        age = self._clock.time() - row.at if row else 0.0
        if row is None or age < -CLOCK_SLACK_S or not is_of(row, query):
            self._store.delete(QUERIES, key)
            return None
        age = max(age, 0.0)
        own = freshness_of(row)
        stricter = min(own, freshness or own, key=lambda kind: lifetime(kind, self._ttl))
        kind = judge(age, stricter, hint, self._ttl)
        if kind is None:
            if age >= self._ttl.stale_factor * lifetime(own, self._ttl):
                self._store.delete(QUERIES, key)
            return None
        found = cached_result(row, age, kind)
        if found is None:
            self._store.delete(QUERIES, key)
            return None
        return evolve(found, freshness=stricter, result=evolve(found.result, freshness=stricter))

    def store(self, key: bytes, query: str, result: SearchResult) -> bool:
        """Keep a complete, freshly found result under its freshness class; say whether it was kept.

        Its age counts from when the oldest of the pages that it quotes was fetched, which may have
        been for an earlier search: two lifetimes must not add up.

        Empty and partial results, and those that came from a cache themselves, are not kept: an
        outage must not outlive itself and an old answer must not become young.
        """
        if not result.chunks or result.partial or result.provenance.kind is not ProvenanceKind.FRESH:
            return False
        # What was done to get it belongs to the run that did it, not to those that read it.
        kept = evolve(result, attempts=(), trace=(), elapsed_s=0.0)
        facts = {"query": query, "freshness": result.freshness.value, "chunks": len(result.chunks)}
        return self._store.put(QUERIES, key, encode_row(found_at(result, self._clock.time()), facts, kept))


def is_of(row: Row, query: str | None) -> bool:
    """Whether a row says that it answers ``query``, however that is spelt; None asks for nothing."""
    return query is None or normalise_query(str(row.facts.get("query", ""))) == normalise_query(query)


def found_at(result: SearchResult, now: float) -> float:
    """When what a fresh result quotes was fetched, in seconds since the epoch."""
    return now - max(result.provenance.age_s, 0.0)


def cached_result(row: Row, age_s: float, kind: ProvenanceKind) -> CachedResult | None:
    """Return what a row of the space ``queries`` holds, or None when it is damaged."""
    result = decode_body(row, SearchResult)
    if result is None or not result.chunks:
        return None
    freshness = freshness_of(row)
    provenance = Provenance(kind=kind, matched_query=str(row.facts.get("query", "")), age_s=age_s)
    return CachedResult(
        result=evolve(result, provenance=provenance, freshness=freshness),
        age_s=age_s,
        kind=kind,
        freshness=freshness,
    )
