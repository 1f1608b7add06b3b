"""Which queries the cache has answers for, by scope; each process keeps its own copy current.

The space ``asked`` has a small row for each answer that may serve a reworded query: its text and what else
its key depends on. A process reads it once and follows the store's change log from there, so what another
process has found is known at the next look. A row without its answer (which was evicted, or purged) costs a
look and is dropped then.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from ..forks import PerProcess
from ..models import CacheChange, Freshness
from ..stages import Cache
from .cache_rows import ASKED, decode_row, encode_row, freshness_of
from .request import MAX_QUERY_CHARS
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


_NONE = View()


class _Copy:
    """What one process has read, up to the change ``since``."""

    def __init__(self) -> None:
        self.following = threading.Lock()
        self.lock = threading.Lock()
        self.rows: dict[bytes, Asked] = {}
        self.since = 0
        self.views: dict[tuple[str, ...], View] = {}


class QueryIndex:
    """The queries that have answers. Thread-safe; a forked child reads them anew."""

    def __init__(self, store: TolerantStore) -> None:
        self._store = store
        self._copy = PerProcess(_Copy)

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
        copy = self._copy()
        with copy.lock:
            if copy.rows.get(asked.key) == asked:
                del copy.rows[asked.key]
                copy.views.clear()

    def view(self, *scopes: str) -> View:
        """Return the queries of these scopes, as far as the store tells in ``LOOK_S``."""
        self._store.within(self._follow, None, LOOK_S)
        copy = self._copy()
        with copy.lock:
            view = copy.views.get(scopes)
            if view is None:
                view = _view(row for row in copy.rows.values() if row.scope in scopes)
                if view.asked:  # of scopes without a query there is no end
                    copy.views[scopes] = view
            return view

    def _follow(self, cache: Cache) -> None:
        """Bring the copy up to date with the store."""
        copy = self._copy()
        with copy.following:  # one thread reads for all: what it has read, the next ones find
            changes = list(cache.changes(ASKED, copy.since))
            if not changes:
                return
            # A log that was cut, or that of another file: what came before it has to be read as well.
            anew = changes[0].sequence != copy.since + 1 or len(changes) > RESCAN_FROM
            rows = _all(cache) if anew else _changed(cache, changes)
            with copy.lock:
                if anew:
                    copy.rows = {}
                for key, row in rows.items():
                    if row is None:
                        copy.rows.pop(key, None)
                    else:
                        copy.rows[key] = row
                copy.since = changes[-1].sequence
                copy.views.clear()


def _view(rows: Iterable[Asked]) -> View:
    asked = tuple(sorted(rows, key=lambda row: (row.at, row.key)))
    return View(asked, tuple(row.query for row in asked)) if asked else _NONE


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
    if len(query) > MAX_QUERY_CHARS:
        return None
    return Asked(space=space, key=key, query=query, scope=scope, at=row.at, freshness=freshness_of(row))
