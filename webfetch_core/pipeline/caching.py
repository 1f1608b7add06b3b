"""What may be answered from the cache, and for how long. The store keeps bytes; this is the policy.

Ages count from when a row was written and are judged when it is read; reading never lengthens a
life. A store that fails is a store without rows: the search goes on and ``on_error`` hears of it,
once for each kind of fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from ..models import Document, FailedUrl, Freshness, Provenance, ProvenanceKind, SearchResult
from ..providers import Clock
from ..settings import TtlSettings
from ..stages import Cache
from .cache_rows import (
    NEGATIVE,
    PAGES,
    QUERIES,
    Row,
    decode_body,
    decode_row,
    encode_row,
    freshness_of,
    normalise_query,
    query_key,
    url_key,
)
from .single_flight import SingleFlight
from .tolerant_store import OnError, TolerantStore

# ---- searches ------------------------------------------------------------------------------------


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

    def lookup(self, key: bytes, *, hint: Freshness | None = None) -> CachedResult | None:
        """Return the row where it still serves, else None.

        A row is EXACT while younger than the least of its class's lifetime, the caller's hint's
        and the ceiling; STALE up to ``stale_factor`` times its own lifetime; then it is deleted.
        ``hint`` bounds the age whatever the class: beyond it the answer is None, the row stays.
        """
        value = self._store.get(QUERIES, key)
        if value is None:
            return None
        row = decode_row(value)
        age = self._clock.time() - row.at if row else 0.0
        if row is None or age < -_CLOCK_SLACK_S:
            self._store.delete(QUERIES, key)
            return None
        age = max(age, 0.0)
        kind = judge(age, freshness_of(row), hint, self._ttl)
        if kind is None:
            if age >= self._ttl.stale_factor * lifetime(freshness_of(row), self._ttl):
                self._store.delete(QUERIES, key)
            return None
        result = cached_result(row, age, kind)
        if result is None:
            self._store.delete(QUERIES, key)
        return result

    def store(self, key: bytes, query: str, result: SearchResult) -> bool:
        """Keep a complete, freshly found result under its freshness class; say whether it was kept.

        Empty and partial results, and those that came from a cache themselves, are not kept: an
        outage must not outlive itself and an old answer must not become young.
        """
        if not result.chunks or result.partial or result.provenance.kind is not ProvenanceKind.FRESH:
            return False
        # What was done to get it belongs to the run that did it, not to those that read it.
        kept = evolve(result, attempts=(), trace=(), elapsed_s=0.0)
        facts = {"query": query, "freshness": result.freshness.value, "chunks": len(result.chunks)}
        return self._store.put(QUERIES, key, encode_row(self._clock.time(), facts, kept))

    def forget(self, key: bytes) -> bool:
        """Drop one row, for a caller that was told the answer is wrong."""
        return self._store.delete(QUERIES, key)


_CLOCK_SLACK_S = 300.0  # rows from further in the future come from a clock that was wrong


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


# ---- pages ---------------------------------------------------------------------------------------


@frozen(kw_only=True)
class CachedDocument:
    """A document from the page cache, with what a conditional request needs."""

    document: Document
    fetched_at: float
    age_s: float
    final_url: str = ""
    etag: str = ""
    last_modified: str = ""
    permission: str = ""


class PageCache:
    """Documents by canonical URL, for the flat ceiling of ``ttl``. The caller gives only content:
    failures go to :class:`NegativeCache`, walls nowhere."""

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

    def get(self, url: str) -> CachedDocument | None:
        """Return the document; whether its ``age_s`` will do for the query is the caller's judgement."""
        key = url_key(url)
        value = self._store.get(PAGES, key)
        if value is None:
            return None
        row = decode_row(value)
        age = self._clock.time() - row.at if row else 0.0
        document = (
            decode_body(row, Document) if row and -_CLOCK_SLACK_S <= age < self._ttl.ceiling_s else None
        )
        if row is None or document is None:
            self._store.delete(PAGES, key)
            return None
        return CachedDocument(
            document=document,
            fetched_at=row.at,
            age_s=max(age, 0.0),
            final_url=str(row.facts.get("final_url", "")),
            etag=str(row.facts.get("etag", "")),
            last_modified=str(row.facts.get("last_modified", "")),
            permission=str(row.facts.get("permission", "")),
        )

    def put(
        self,
        url: str,
        document: Document,
        *,
        final_url: str = "",
        validators: Mapping[str, str] | None = None,
        permission: str = "",
    ) -> bool:
        """Keep a document as fetched now. ``validators`` are the reply's headers, names in lower case.

        ``permission`` is a mark of what allowed the fetch, for pages that not everybody may read; the
        reader compares it with what is allowed then.

        A document without text is not kept. Returns whether it was.
        """
        if not document.text.strip():
            return False
        headers = validators or {}
        facts = {
            "url": url,
            "final_url": final_url,
            "etag": headers.get("etag", ""),
            "last_modified": headers.get("last-modified", ""),
            "permission": permission,
        }
        return self._store.put(PAGES, url_key(url), encode_row(self._clock.time(), facts, document))

    def renew(self, url: str, cached: CachedDocument, *, validators: Mapping[str, str] | None = None) -> bool:
        """Count the age from now: the server said that the page has not changed (304)."""
        headers = {"etag": cached.etag, "last-modified": cached.last_modified, **(validators or {})}
        return self.put(
            url,
            cached.document,
            final_url=cached.final_url,
            validators=headers,
            permission=cached.permission,
        )


# ---- failures ------------------------------------------------------------------------------------

_MEMORY = {
    **dict.fromkeys(("not_found", "too_large", "unsupported_type", "encrypted", "no_text_layer"), 1.0),
    **dict.fromkeys(("redirect_loop", "bad_encoding"), 1.0),
    **dict.fromkeys(("blocked", "rate_limited", "login", "consent", "paywall", "empty", "auth"), 0.6),
    **dict.fromkeys(("timeout", "unavailable", "bad_response"), 0.2),
}
"""Share of ``ttl.negative_s`` for which a failure is remembered. Kinds that are not here say
something of this host or its settings, not of the page, and are forgotten at once."""


class NegativeCache:
    """A short memory of pages that gave nothing, by canonical URL."""

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

    def remember(self, url: str, kind: str, reason: str = "", *, at_most_s: float | None = None) -> bool:
        """Note a failure of an error ``kind``; say whether it is one to remember.

        ``at_most_s`` is when the other side said to come back, in seconds: no longer than that.
        """
        if kind not in _MEMORY or self._ttl.negative_s <= 0:
            return False
        facts: dict[str, Any] = {"url": url, "kind": kind, "reason": reason}
        if at_most_s is not None:
            facts["at_most_s"] = at_most_s
        return self._store.put(NEGATIVE, url_key(url), encode_row(self._clock.time(), facts))

    def recall(self, url: str, *, force_fresh: bool = False) -> FailedUrl | None:
        """Return the failure while it is remembered; ``force_fresh`` asks for another try."""
        if force_fresh:
            return None
        key = url_key(url)
        value = self._store.get(NEGATIVE, key)
        if value is None:
            return None
        row = decode_row(value)
        kind = str(row.facts.get("kind", "")) if row else ""
        age: float = self._clock.time() - row.at if row else 0.0
        memory_s = _MEMORY.get(kind, 0.0) * self._ttl.negative_s
        if row is not None and isinstance(told := row.facts.get("at_most_s"), (int, float)):
            memory_s = min(memory_s, told)
        if row is None or not -_CLOCK_SLACK_S <= age < memory_s:
            self._store.delete(NEGATIVE, key)
            return None
        return FailedUrl(url=url, kind=kind, reason=str(row.facts.get("reason", "")))

    def forget(self, url: str) -> bool:
        """Drop the memory of a page that was fetched after all."""
        return self._store.delete(NEGATIVE, url_key(url))


__all__ = [
    "CachedDocument",
    "CachedResult",
    "NegativeCache",
    "OnError",
    "PageCache",
    "QueryCache",
    "SingleFlight",
    "TolerantStore",
    "cached_result",
    "judge",
    "lifetime",
    "normalise_query",
    "query_key",
    "url_key",
]
