"""Which queries the cache has answers for, by scope; each process keeps its own copy current.

The space ``asked`` has a small row for each answer that may serve a reworded query: its text and what else
its key depends on. A process reads it once and follows the store's change log from there, so what another
process has found is known at the next look. A row without its answer (which was evicted, or purged) costs a
look and is dropped then.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from ..models import CacheChange, Freshness
from ..stages import Cache
from .cache_rows import ASKED, decode_row, encode_row, freshness_of
from .tolerant_store import TolerantStore

LOOK_S = 1.0
"""How long a look waits for the store; reading on goes on behind it, for the next one."""
RESCAN_FROM = 2_000
"""So many changes are not followed one by one: reading the whole space anew is quicker."""


@frozen(kw_only=True)
class Asked:
    """A query that the cache has an answer for.

    Attributes:
        space, key: where the answer is.
        query: as it was asked.
        scope: a digest of everything that the answer depends on beside the query.
        at: when it was stored, in seconds since the epoch.
        freshness: the answer's class.
    """

    space: str
    key: bytes
    query: str
    scope: str
    at: float
    freshness: Freshness


@frozen
class View:
    """The queries of some scopes, oldest first; the same object, and the same ``texts``, while nothing
    changes."""

    asked: tuple[Asked, ...] = ()
    texts: tuple[str, ...] = ()


class QueryIndex:
    """The queries that have answers. Thread-safe."""

    def __init__(self, store: TolerantStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._rows: dict[bytes, Asked] = {}
        self._since = 0
        self._views: dict[tuple[str, ...], View] = {}

    def note(self, asked: Asked) -> bool:
        """Remember a query whose answer was stored; say whether the store took it."""
        facts = {
            "space": asked.space,
            "query": asked.query,
            "scope": asked.scope,
            "freshness": asked.freshness.value,
        }
        return self._store.put(ASKED, asked.key, encode_row(asked.at, facts))

    def forget(self, asked: Asked) -> None:
        """Drop a query that has no answer any more."""
        self._store.delete(ASKED, asked.key)
        with self._lock:
            if self._rows.get(asked.key) == asked:
                del self._rows[asked.key]
                self._views.clear()

    def view(self, *scopes: str) -> View:
        """Return the queries of these scopes, as far as the store tells in ``LOOK_S``."""
        self._store.within(self._follow, None, LOOK_S)
        with self._lock:
            if scopes not in self._views:
                asked = tuple(sorted(self._of(scopes), key=lambda row: (row.at, row.key)))
                self._views[scopes] = View(asked, tuple(row.query for row in asked))
            return self._views[scopes]

    def _of(self, scopes: Sequence[str]) -> Iterator[Asked]:
        return (row for row in self._rows.values() if row.scope in scopes)

    def _follow(self, cache: Cache) -> None:
        """Bring the copy up to date with the store."""
        with self._lock:
            since = self._since
        changes = list(cache.changes(ASKED, since))
        if not changes:
            return
        # A log that was cut, or that of another file: what came before it has to be read as well.
        anew = changes[0].sequence != since + 1 or len(changes) > RESCAN_FROM
        rows = _all(cache) if anew else _changed(cache, changes)
        with self._lock:
            if self._since != since:
                return  # another thread was quicker; it read the same
            if anew:
                self._rows = {}
            for key, row in rows.items():
                if row is None:
                    self._rows.pop(key, None)
                else:
                    self._rows[key] = row
            self._since = changes[-1].sequence
            self._views.clear()


def _all(cache: Cache) -> Mapping[bytes, Asked | None]:
    return {key: _decoded(key, value) for key, value in cache.scan(ASKED)}


def _changed(cache: Cache, changes: Sequence[CacheChange]) -> Mapping[bytes, Asked | None]:
    keys = list(dict.fromkeys(change.key for change in changes))
    many = getattr(cache, "get_many", None)
    found = many(ASKED, keys) if many else {key: cache.get(ASKED, key) for key in keys}
    return {key: _decoded(key, found.get(key)) for key in keys}


def _decoded(key: bytes, value: bytes | None) -> Asked | None:
    row = decode_row(value) if value is not None else None
    if row is None:
        return None
    space, query, scope = (row.facts.get(name) for name in ("space", "query", "scope"))
    if not (isinstance(space, str) and isinstance(query, str) and isinstance(scope, str)):
        return None
    return Asked(space=space, key=key, query=query, scope=scope, at=row.at, freshness=freshness_of(row))
