"""What is where in the file, and what one transaction does to it. Nothing here retries or locks.

Five named databases:

========== ======================== ==========================================================
name       key                      value
========== ======================== ==========================================================
``rows``   space, key               CRC-32 of the value, the value
``ticks``  space, key               the row's tick: a counter of writes, higher is used later
``ages``   tick                     space, key: the rows from least to most recently used
``log``    space, sequence          1 for a deletion or 0, the key
``meta``   ``format``, ``tick``,    this layout's version, the counter, and each space's facts
           ``space/<name>``
========== ======================== ==========================================================

One ``rows`` for every space, rather than a database each: spaces then need no handle, which LMDB
would want opened anew in every process. A space is written as its name and a zero byte, those of the
core as one byte each: it stands in four places of a row, and with it five vectors fit on a page.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

FORMAT = b"webfetch-cache 2"
DATABASES = (b"rows", b"ticks", b"ages", b"log", b"meta")

_OF_THE_CORE = ("pages", "queries", "vectors", "negative", "findings", "stats", "asked")
_SHORT = {space: bytes([number]) for number, space in enumerate(_OF_THE_CORE, start=1)}
_LONG = {short: space for space, short in _SHORT.items()}  # no name of a space begins with such a byte

_U64 = struct.Struct(">Q")
_U32 = struct.Struct(">I")
_SPACE = struct.Struct(">QQQ")
_PAGE = 4096
_INLINE = 2030  # a longer value gets pages of its own
_EVICT_AT_MOST = 64


class Full(Exception):
    """Nothing is left that may make room."""


class SpaceFacts(NamedTuple):
    """Rows of a space, its last sequence number, and the bytes its rows are reckoned at."""

    rows: int = 0
    sequence: int = 0
    used: int = 0


def row_key(space: str, key: bytes) -> bytes:
    return (_SHORT.get(space) or space.encode() + b"\0") + key


def split_key(full: bytes) -> tuple[str, bytes]:
    space = _LONG.get(full[:1])
    if space is not None:
        return space, full[1:]
    name, _, key = full.partition(b"\0")
    return name.decode(), key


def reckon(key_bytes: int, value_bytes: int) -> int:
    """Return about how much of the file a row takes, its share of half-filled pages included."""
    around = 5 * key_bytes + 160
    if key_bytes + value_bytes < _INLINE:
        return around + value_bytes * 3 // 2
    return around + -(-(value_bytes + 20) // _PAGE) * _PAGE


class Layout:
    """The operations on an open file, each within a transaction that the caller made.

    Args:
        handles: the databases in the order of ``DATABASES``.
        log_length: changes kept for each space.
        high: reckoned bytes at which the least recently used rows go; may be changed.
        keep: spaces whose rows never go.
    """

    def __init__(self, handles: tuple[Any, ...], log_length: int, high: int, keep: Collection[str]) -> None:
        self.handles = dict(zip(DATABASES, handles, strict=True))
        self._rows, self._ticks, self._ages, self._log, self.meta = handles
        self._log_length = log_length
        self.high = high
        self._keep = frozenset(keep)

    def on(self, handles: tuple[Any, ...]) -> Layout:
        """Return the same layout for another file's databases."""
        return Layout(handles, self._log_length, self.high, self._keep)

    # ---- reading ----

    def get(self, txn: Any, full: bytes) -> bytes | None:
        """Return the value; None also for one whose checksum is wrong."""
        raw = txn.get(full, db=self._rows)
        return None if raw is None else _checked(raw)

    def raw_row(self, txn: Any, full: bytes) -> tuple[bytes, bytes] | None:
        """Return a row as it is stored and its tick, for :meth:`replace_row`."""
        raw, tick = txn.get(full, db=self._rows), txn.get(full, db=self._ticks)
        return None if raw is None or tick is None else (raw, tick)

    def scan(self, txn: Any, space: str) -> Iterator[tuple[bytes, bytes]]:
        prefix = row_key(space, b"")
        with txn.cursor(db=self._rows) as cursor:
            if not cursor.set_range(prefix):
                return
            for full, raw in cursor:
                if not full.startswith(prefix):
                    return
                value = _checked(raw)
                if value is not None:
                    yield full[len(prefix) :], value

    def changes(self, txn: Any, space: str, since: int) -> list[tuple[int, bytes, bool]]:
        """Return (sequence, key, deleted) after ``since``; a number never given yet counts as 0."""
        prefix = row_key(space, b"")
        start = since if 0 <= since <= self.facts(txn, space).sequence else 0
        found: list[tuple[int, bytes, bool]] = []
        with txn.cursor(db=self._log) as cursor:
            if cursor.set_range(prefix + _U64.pack(start + 1)):
                for name, entry in cursor:
                    if not name.startswith(prefix):
                        break
                    found.append((_U64.unpack(name[len(prefix) :])[0], entry[1:], entry[:1] == b"\1"))
        return found

    def facts(self, txn: Any, space: str) -> SpaceFacts:
        raw = txn.get(b"space/" + space.encode(), db=self.meta)
        return SpaceFacts(*_SPACE.unpack(raw)) if raw else SpaceFacts()

    def spaces(self, txn: Any) -> dict[str, SpaceFacts]:
        with txn.cursor(db=self.meta) as cursor:
            if not cursor.set_range(b"space/"):
                return {}
            return {
                name[6:].decode(): SpaceFacts(*_SPACE.unpack(raw))
                for name, raw in cursor
                if name.startswith(b"space/")
            }

    def used(self, txn: Any) -> int:
        """Return the bytes that all rows are reckoned at."""
        return sum(facts.used for facts in self.spaces(txn).values())

    # ---- writing ----

    def put(self, txn: Any, space: str, key: bytes, value: bytes) -> None:
        """Store a row, making room first. Raises Full."""
        full = row_key(space, key)
        old = txn.get(full, db=self._rows)
        size = reckon(len(full), len(value) + 4)
        before = reckon(len(full), len(old)) if old is not None else 0
        excess = self.used(txn) - before + size - self.high
        if excess > 0:
            self.evict(txn, excess, spare=full)
        txn.put(full, _U32.pack(zlib.crc32(value)) + value, db=self._rows)
        self._stamp(txn, full)
        self._record(txn, space, key, deleted=False, rows=int(old is None), used=size - before)

    def delete(self, txn: Any, full: bytes) -> bool:
        """Remove a row; say whether there was one."""
        old = txn.pop(full, db=self._rows)
        if old is None:
            return False
        tick = txn.pop(full, db=self._ticks)
        if tick is not None:
            txn.delete(tick, db=self._ages)
        space, key = split_key(full)
        self._record(txn, space, key, deleted=True, rows=-1, used=-reckon(len(full), len(old)))
        return True

    def clear(self, txn: Any, space: str, at_most: int) -> int:
        """Remove up to ``at_most`` rows of the space; return how many."""
        prefix = row_key(space, b"")
        doomed: list[bytes] = []
        with txn.cursor(db=self._rows) as cursor:
            if cursor.set_range(prefix):
                for full in cursor.iternext(values=False):
                    if not full.startswith(prefix) or len(doomed) == at_most:
                        break
                    doomed.append(full)
        for full in doomed:
            self.delete(txn, full)
        return len(doomed)

    def touch(self, txn: Any, full: bytes) -> None:
        """Count the row as used now, unless it was written or touched not long ago."""
        tick = txn.get(full, db=self._ticks)
        if tick is None:
            return
        now = self._tick(txn)
        if now - _U64.unpack(tick)[0] > self._total_rows(txn) // 8:
            self._stamp(txn, full)

    def evict(self, txn: Any, excess: int, spare: bytes = b"", at_most: int = _EVICT_AT_MOST) -> int:
        """Remove the least recently used rows until ``excess`` reckoned bytes are free.

        Rows of kept spaces go to the back of the queue instead. Returns the rows removed;
        raises Full when there were none to remove.
        """
        newest = self._tick(txn)
        freed = count = 0
        for _ in range(at_most):
            if freed >= excess:
                break
            with txn.cursor(db=self._ages) as cursor:
                if not cursor.first():
                    break
                tick, full = cursor.item()
            if _U64.unpack(tick)[0] > newest:
                break  # once round: all that is left was put back in this very loop
            if full == spare or split_key(full)[0] in self._keep:
                self._stamp(txn, full)
                continue
            freed += reckon(len(full), len(txn.get(full, db=self._rows) or b""))
            if not self.delete(txn, full):
                txn.delete(tick, db=self._ages)
            count += 1
        if not count:
            raise Full
        return count

    def replace_row(self, txn: Any, full: bytes, raw: tuple[bytes, bytes] | None) -> None:
        """Put a row of another file in place of this file's, or remove it; nothing is counted."""
        tick = txn.pop(full, db=self._ticks)
        if tick is not None:
            txn.delete(tick, db=self._ages)
        if raw is None:
            txn.delete(full, db=self._rows)
            return
        txn.put(full, raw[0], db=self._rows)
        self._place(txn, full, raw[1])

    def _stamp(self, txn: Any, full: bytes) -> None:
        old = txn.get(full, db=self._ticks)
        if old is not None:
            txn.delete(old, db=self._ages)
        tick = _U64.pack(self._tick(txn) + 1)
        txn.put(b"tick", tick, db=self.meta)
        self._place(txn, full, tick)

    def _place(self, txn: Any, full: bytes, tick: bytes) -> None:
        txn.put(full, tick, db=self._ticks)
        # LMDB splits a page in halves unless it is told that the key comes last, as it mostly does.
        if not txn.put(tick, full, db=self._ages, append=True):
            txn.put(tick, full, db=self._ages)

    def _tick(self, txn: Any) -> int:
        raw = txn.get(b"tick", db=self.meta)
        return int(_U64.unpack(raw)[0]) if raw else 0

    def _total_rows(self, txn: Any) -> int:
        return sum(facts.rows for facts in self.spaces(txn).values())

    def _record(self, txn: Any, space: str, key: bytes, *, deleted: bool, rows: int, used: int) -> None:
        facts = self.facts(txn, space)
        sequence = facts.sequence + 1
        self.log(txn, space, sequence, key, deleted=deleted)
        kept = _SPACE.pack(max(facts.rows + rows, 0), sequence, max(facts.used + used, 0))
        txn.put(b"space/" + space.encode(), kept, db=self.meta)

    def log(self, txn: Any, space: str, sequence: int, key: bytes, *, deleted: bool) -> None:
        """Write a change down; the oldest goes when there are more than are kept."""
        prefix = row_key(space, b"")
        txn.put(prefix + _U64.pack(sequence), (b"\1" if deleted else b"\0") + key, db=self._log)
        self._prune(txn, prefix, sequence)

    def _prune(self, txn: Any, prefix: bytes, sequence: int) -> None:
        # Two at a time: a log that was longer under another setting shrinks as it is written.
        for _ in range(2):
            with txn.cursor(db=self._log) as cursor:
                if not cursor.set_range(prefix) or not cursor.key().startswith(prefix):
                    return
                name = cursor.key()
            if _U64.unpack(name[len(prefix) :])[0] > sequence - self._log_length:
                return
            txn.delete(name, db=self._log)


def whole(raw: bytes) -> bool:
    """Whether a stored row has the value that its checksum is of."""
    return _checked(raw) is not None


def _checked(raw: bytes) -> bytes | None:
    value = raw[4:]
    return value if len(raw) >= 4 and zlib.crc32(value) == _U32.unpack(raw[:4])[0] else None
