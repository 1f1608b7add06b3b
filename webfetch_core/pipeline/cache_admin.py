"""Looking after the cache: listing, showing and purging rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from attrs import frozen

from ..models import Freshness, ProvenanceKind
from ..stages import Cache
from .cache_rows import (
    ASKED,
    FINDINGS,
    NEGATIVE,
    PAGES,
    QUERIES,
    VECTORS,
    Row,
    decode_row,
    freshness_of,
    normalise_query,
)
from .caching import CachedResult, cached_result
from .findings import SCHEME, cached_finding

DISPOSABLE = (QUERIES, PAGES, NEGATIVE, VECTORS)
"""Spaces that a purge without a name empties: all can be had again. Counters and findings cannot."""


@frozen(kw_only=True)
class QueryRow:
    """One line of ``webfetch cache list``. ``key`` is in hexadecimal; ``space`` is ``queries`` for what a
    search found, ``findings`` for what a model saved."""

    key: str
    space: str
    query: str
    age_s: float
    freshness: Freshness
    chunks: int


def list_queries(cache: Cache, now: float) -> Iterator[QueryRow]:
    """Yield the cached searches and findings, youngest first. ``now`` is in seconds since the epoch."""
    rows = [
        (row, space, key)
        for space in (QUERIES, FINDINGS)
        for key, value in cache.scan(space)
        if (row := decode_row(value))
    ]
    for row, space, key in sorted(rows, key=lambda found: -found[0].at):
        chunks = row.facts.get("chunks")
        yield QueryRow(
            key=key.hex(),
            space=space,
            query=str(row.facts.get("query", "")),
            age_s=max(now - row.at, 0.0),
            freshness=freshness_of(row),
            chunks=chunks if isinstance(chunks, int) else 0,
        )


def show(cache: Cache, which: str, now: float) -> list[CachedResult]:
    """Return the cached results of a query, or of a key's first 8 or more hexadecimal digits.

    One query may have several: other engines, limits or filters, and what a model saved.
    """
    found = [
        cached_result(row, max(now - row.at, 0.0), ProvenanceKind.EXACT)
        if space == QUERIES
        else cached_finding(row, now - row.at)
        for space in (QUERIES, FINDINGS)
        for key, value in cache.scan(space)
        if (row := decode_row(value)) and (_asks(row, which) or _is_key(key, which))
    ]
    return sorted((r for r in found if r), key=lambda r: r.age_s)


def purge(
    cache: Cache,
    *,
    now: float,
    space: str | None = None,
    older_than_s: float | None = None,
    query: str | None = None,
) -> int:
    """Delete rows and return how many; conditions narrow each other.

    Args:
        space: only this one; by default every space that can be filled again (``DISPOSABLE``).
        older_than_s: only rows of at least this age; rows that carry no time are kept.
        query: only searches for this query, or for a key as in :func:`show`; with ``space`` findings.
    """
    if query is not None:
        spaces: tuple[str, ...] = tuple({space or QUERIES} & {QUERIES, FINDINGS})
    else:
        spaces = DISPOSABLE if space is None else (space,)
    if older_than_s is None and query is None:
        if set(spaces) & {QUERIES, FINDINGS}:
            _clear_asked(cache, spaces)
        return sum(cache.clear(name) for name in spaces)
    count = 0
    for name in spaces:
        for key, value in cache.scan(name):
            row = decode_row(value)
            if row is None:
                continue
            old = older_than_s is None or now - row.at >= older_than_s
            if old and (query is None or _asks(row, query) or _is_key(key, query)):
                count += cache.delete(name, key)
                if name in (QUERIES, FINDINGS):
                    cache.delete(ASKED, key)
    return count


def _clear_asked(cache: Cache, spaces: Collection[str]) -> None:
    """Drop the index's rows of answers that go: they would only be looked for in vain."""
    for key, value in cache.scan(ASKED):
        row = decode_row(value)
        if row is None or row.facts.get("space") in spaces:
            cache.delete(ASKED, key)


def _asks(row: Row, query: str) -> bool:
    return normalise_query(str(row.facts.get("query", ""))) == normalise_query(query)


def _is_key(key: bytes, which: str) -> bool:
    digits = which.lower().removeprefix(f"{SCHEME}://")
    return len(digits) >= 8 and key.hex().startswith(digits)
