"""Whether rows of the cache are what their space holds: for those who look after a store, not for searches,
to which a damaged row is a missing one."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ..models import Document, Freshness, SearchResult
from ..stages import Cache
from .cache_rows import (
    ASKED,
    FINDINGS,
    NEGATIVE,
    PAGES,
    QUERIES,
    STATS,
    Row,
    decode_body,
    decode_row,
)
from .findings import Finding
from .lifetimes import CLOCK_SLACK_S

MAX_BODY_BYTES = 64 << 20
"""A body that inflates to more is not read: no result or page comes near."""
MOST_TOLD = 50

_BODIES: Mapping[str, type[Any]] = {QUERIES: SearchResult, PAGES: Document, FINDINGS: Finding}
_FACTS: Mapping[str, tuple[str, ...]] = {NEGATIVE: ("url", "kind"), ASKED: ("space", "query", "scope")}
TIMED = frozenset({*_BODIES, *_FACTS})
"""Spaces whose rows say when they were written."""


@frozen(kw_only=True)
class BadRow:
    """A row that cannot be used. ``key`` is in hexadecimal."""

    space: str
    key: str
    reason: str


@frozen(kw_only=True)
class RowCheck:
    """What became of looking at every row.

    Attributes:
        rows: how many were looked at, by space.
        damaged: how many of those cannot be used, by space.
        told: the first 50 of them.
    """

    rows: Mapping[str, int]
    damaged: Mapping[str, int]
    told: tuple[BadRow, ...] = ()


def check_row(space: str, value: bytes, now: float) -> str:
    """Return why a row of ``space`` cannot be used; empty when it can, and for spaces of plugins.

    ``now`` is in seconds since the epoch.
    """
    if space == STATS:
        return _check_counts(value)
    if space not in TIMED:
        return ""
    row = decode_row(value)
    if row is None:
        return "its header cannot be read"
    if row.at > now + CLOCK_SLACK_S:
        return "it is from the future"
    if space in _FACTS:
        missing = [name for name in _FACTS[space] if not isinstance(row.facts.get(name), str)]
        return f"its header lacks {', '.join(missing)}" if missing else ""
    if "freshness" in row.facts and row.facts["freshness"] not in {member.value for member in Freshness}:
        return "its freshness class is unknown"
    if not _inflates(row):
        return "its body cannot be inflated"
    body = decode_body(row, _BODIES[space])
    if body is None:
        return "its body cannot be read"
    if space == QUERIES and not body.chunks:
        return "its result is empty"
    return ""


def _inflates(row: Row) -> bool:
    if not row.facts.get("packed"):
        return True
    inflater = zlib.decompressobj()
    try:
        inflater.decompress(row.body, MAX_BODY_BYTES)
    except zlib.error:
        return False
    return inflater.eof


def _check_counts(value: bytes) -> str:
    try:
        return "" if isinstance(json.loads(value), dict) else "it holds no counters"
    except (ValueError, RecursionError):
        return "its counters cannot be read"


def check_rows(cache: Cache, now: float) -> RowCheck:
    """Look at every row of every space. Raises CacheError."""
    rows: Counter[str] = Counter()
    damaged: Counter[str] = Counter()
    told: list[BadRow] = []
    for space in spaces_of(cache):
        for key, value in cache.scan(space):
            rows[space] += 1
            reason = check_row(space, value, now)
            if reason:
                damaged[space] += 1
                if len(told) < MOST_TOLD:
                    told.append(BadRow(space=space, key=key.hex(), reason=reason))
    return RowCheck(rows=dict(rows), damaged=dict(damaged), told=tuple(told))


def spaces_of(cache: Cache) -> list[str]:
    """Return the names of the spaces that hold rows."""
    entries = cache.stats().get("entries")
    return sorted(str(name) for name, n in entries.items() if n) if isinstance(entries, Mapping) else []
