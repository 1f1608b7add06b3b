"""Counters that many processes add to and that survive all of them.

A store of bytes has no atomic add, so every process keeps a row of its own, which nobody else
writes, and reading adds the rows up. Rows that nobody has written for days are folded into one,
which says what it holds of each until that row is gone: whatever moment a reader or a crash comes
at, every row is counted once.
"""

from __future__ import annotations

import json
import math
import threading
import uuid
from collections import Counter
from collections.abc import Mapping
from typing import Any

from attrs import Factory, evolve, frozen

from ..forks import PerProcess
from ..providers import Clock
from ..runtime.deadline import SystemClock
from ..stages import Cache
from .cache_rows import STATS
from .tolerant_store import OnError, TolerantStore

PREFIX = b"counter/"
TOTAL = PREFIX + b"total"
"""Key of the row that others are folded into."""

FOLD_FROM = 64
"""So many rows of processes that are gone are worth folding; and no more are deleted at a time."""
NEW_ROW_S = 86_400.0
"""Who has not written for so long begins another row: the one it had may be folded soon."""
FOLDED_S = 2 * NEW_ROW_S
"""A row that was not written for so long is nobody's any more."""
DELETED_S = 3_600.0
"""A folded row is deleted so much later: nobody is still about to write a total that does not have it."""
STALLED_S = 60.0
"""Who took so long from reading to writing the total may be behind the others, and leaves it."""
_MOST_COUNTED = 1 << 53  # a larger one was never counted, and no sum of such could be reckoned with


@frozen
class _Row:
    """A stored row. ``folded`` is the total's: what it holds of each row, and since when."""

    at: float = 0.0
    counts: Counter[str] = Factory(Counter)
    folded: Mapping[bytes, _Row] = Factory(dict)


class _Own:
    """The row of one process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.earlier: Counter[str] = Counter()  # in rows that this process has left
        self.unwritten: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.written: float | None = None
        self.key = _new_key()

    def leave(self) -> None:
        """Go on in a new row, with what the old one was never told."""
        self.earlier += self.counts - self.unwritten
        self.counts = Counter(self.unwritten)
        self.key = _new_key()


def _new_key() -> bytes:
    return PREFIX + uuid.uuid4().hex.encode()


class Counters:
    """Sums over processes. Thread-safe, and right in a forked child, which counts for itself.

    Nothing waits for a write: it is done behind, one at a time, with what is counted by then. Who is
    killed loses what it counted since.
    """

    def __init__(
        self,
        cache: Cache | TolerantStore | None,
        on_error: OnError | None = None,
        *,
        clock: Clock | None = None,
    ) -> None:
        self._store = TolerantStore.over(cache, on_error)
        self._clock = clock or SystemClock()
        self._own = PerProcess(_Own)

    def bump(self, name: str, n: int = 1) -> None:
        """Add to one counter."""
        self.bump_many({name: n})

    def bump_many(self, counts: Mapping[str, int]) -> None:
        """Add to several counters in one write."""
        self.note(counts)
        self.write()

    def note(self, counts: Mapping[str, int]) -> None:
        """Add to several counters, to be written with the next ones that are."""
        own = self._own()
        with own.lock:
            own.counts.update(counts)
            own.unwritten.update(counts)

    def write(self, *, again: bool = False) -> None:
        """Store what was counted since the last time, behind; with ``again`` also what was stored before,
        since a store that hung meanwhile dropped it."""
        own = self._own()
        now = self._clock.time()
        with own.lock:
            if not own.unwritten and not (again and own.counts):
                return
            if own.written is not None and abs(now - own.written) >= NEW_ROW_S:
                if not own.unwritten:
                    return
                own.leave()
            own.unwritten.clear()
            own.written = now
            key, counts = own.key, own.counts
        self._store.put_behind(STATS, key, lambda: _encoded(_Row(now, counts)))

    def session(self) -> dict[str, int]:
        """Return what this object counted in this process."""
        own = self._own()
        with own.lock:
            return dict(own.earlier + own.counts)

    def lifetime(self) -> dict[str, int]:
        """Return the sums over every process there has been; fold old rows on the way."""
        own = self._own()
        started = self._clock.time()
        rows = {
            key: row
            for key, value in self._store.scan(STATS)
            if key.startswith(PREFIX) and (row := _decoded(value))
        }
        total = rows.pop(TOTAL, _Row())
        self._fold(total, rows, own.key, started)
        with own.lock:
            if own.counts:  # its last write may be under way
                rows[own.key] = _Row(started, Counter(own.counts))
        return dict(sum((_beyond(total, key, row) for key, row in rows.items()), total.counts))

    def _fold(self, total: _Row, rows: Mapping[bytes, _Row], own: bytes, now: float) -> None:
        idle = {key: row for key, row in rows.items() if key != own and now - row.at >= FOLDED_S}
        left = {key: row for key, row in idle.items() if key not in total.folded}
        held = {key: total.folded[key] for key in rows if key in total.folded}
        gone = [
            key
            for key, row in held.items()
            if key in idle and now - row.at >= DELETED_S and row.counts == rows[key].counts
        ]
        if len(left) + len(gone) < FOLD_FROM:
            return
        if left or len(held) < len(total.folded):
            counts = sum((row.counts for row in left.values()), total.counts)
            held |= {key: _Row(now, row.counts) for key, row in left.items()}
            if not 0 <= self._clock.time() - now < STALLED_S:
                return
            self._store.put(STATS, TOTAL, _encoded(_Row(now, counts, held)))
        for key in gone[:FOLD_FROM]:
            self._store.delete(STATS, key)


def _beyond(total: _Row, key: bytes, row: _Row) -> Counter[str]:
    """What a row has that the total does not."""
    held = total.folded.get(key)
    return row.counts if held is None else row.counts - held.counts


def _encoded(row: _Row) -> bytes:
    plain: dict[str, Any] = {"at": row.at, **dict(row.counts)}  # one step, whoever counts meanwhile
    if row.folded:
        plain["folded"] = {
            key.decode("latin-1"): {"at": held.at, **held.counts} for key, held in row.folded.items()
        }
    return json.dumps(plain).encode()


def _decoded(value: bytes) -> _Row | None:
    try:
        plain = json.loads(value)
        folded = {key.encode("latin-1"): _row(held) for key, held in plain.get("folded", {}).items()}
        return evolve(_row(plain), folded=folded)
    except Exception:  # whatever the damage looks like, nothing was counted
        return None


def _row(plain: Mapping[str, Any]) -> _Row:
    at = plain.get("at", 0.0)
    return _Row(
        at=at if type(at) in (int, float) and math.isfinite(at) else 0.0,
        counts=Counter(
            {k: v for k, v in plain.items() if type(v) is int and 0 < v <= _MOST_COUNTED and k != "at"}
        ),
    )
