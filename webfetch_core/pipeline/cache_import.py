"""Taking rows from a file into a cache. Over any store; in bounded memory."""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO

from attrs import Factory, frozen

from ..errors import CacheError
from ..stages import Cache
from .cache_check import TIMED, check_row, spaces_of
from .cache_export import get_many
from .cache_file import MAX_LINE_BYTES, BadLine, End, FileRow, check_header, opened, parse_line
from .cache_rows import STATS, decode_row

_BATCH = 100
_BATCH_BYTES = 8 << 20
_MOST_BAD_LINES = 10_000


@frozen(kw_only=True)
class ImportReport:
    """What became of the rows of a file.

    Attributes:
        stored: rows that are in the cache now, by space.
        kept: rows that the cache had already, as young or younger; they stayed.
        left_out: rows that could not be used, by reason.
        problem: why the file as a whole is not what was exported; empty when it is.
    """

    stored: Mapping[str, int] = Factory(dict)
    kept: int = 0
    left_out: Mapping[str, int] = Factory(dict)
    problem: str = ""


def import_rows(cache: Cache, path: Path, *, now: float, spaces: Collection[str] = ()) -> ImportReport:
    """Store the rows of a file, each with the time it has.

    A row that the cache has already stays unless it is older; rows of spaces that have no times stay
    always; counters are taken only by a cache that has none. What is damaged is left out and counted.

    Args:
        now: seconds since the epoch; rows from later are damaged.
        spaces: those to take; by default all of the file.

    Raises:
        CacheError: it is no export, or the cache failed; the message says how many rows it took before.
    """
    taker = _Taker(cache, now, spaces)
    problem = ""
    try:
        with opened(path) as file:
            header = file.readline(MAX_LINE_BYTES)
            check_header(header, str(path))
            try:
                problem = _take_all(file, header, taker)
            except (OSError, EOFError, zlib.error) as exc:
                problem = f"it is damaged behind row {taker.read}: {exc}"
            taker.flush()
    except (OSError, EOFError, zlib.error) as exc:
        reason = getattr(exc, "strerror", None) or str(exc)
        raise CacheError(
            f"{path} cannot be read: {reason}", fix="name a file of webfetch cache export"
        ) from exc
    return ImportReport(
        stored=dict(taker.stored), kept=taker.kept, left_out=dict(taker.left_out), problem=problem
    )


def _take_all(file: IO[bytes], header: bytes, taker: _Taker) -> str:
    """Take every row; return what is wrong with the file as a whole."""
    digest = hashlib.sha256(header)
    while line := file.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            return f"a line behind row {taker.read} is too long: the rest was not read"
        try:
            found = parse_line(line)
        except BadLine as exc:
            found = None
            taker.leave_out(str(exc))
        if isinstance(found, End):
            if (found.rows, found.sha256) != (taker.read, digest.hexdigest()):
                return "it was changed since it was written"
            return "there is more behind its end, which was not read" if file.read(1) else ""
        digest.update(line)
        taker.read += 1
        if found is not None:
            taker.take(found)
        elif taker.bad > _MOST_BAD_LINES:
            return f"more than {_MOST_BAD_LINES:,} lines are no rows: the rest was not read"
    return "it ends early"


class _Taker:
    """Stores rows in batches and counts what becomes of them."""

    def __init__(self, cache: Cache, now: float, spaces: Collection[str]) -> None:
        self._cache = cache
        self._now = now
        self._wanted = frozenset(spaces)
        self._has_counters = STATS in spaces_of(cache)
        self._space = ""
        self._rows: dict[bytes, bytes] = {}
        self._size = 0
        self.read = 0
        self.bad = 0
        self.kept = 0
        self.stored: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()

    def take(self, row: FileRow) -> None:
        if self._wanted and row.space not in self._wanted:
            return
        reason = check_row(row.space, row.value, self._now)
        if reason:
            self.leave_out(reason)
        elif row.space == STATS and self._has_counters:
            self.kept += 1
        else:
            if row.space != self._space or len(self._rows) >= _BATCH or self._size >= _BATCH_BYTES:
                self.flush()
                self._space = row.space
            self._rows[row.key] = row.value
            self._size += len(row.value)

    def leave_out(self, reason: str) -> None:
        self.left_out[reason] += 1
        self.bad += 1

    def flush(self) -> None:
        rows, self._rows, self._size = self._rows, {}, 0
        if not rows:
            return
        try:
            there = get_many(self._cache, self._space, list(rows))
            fresh = {k: v for k, v in rows.items() if k not in there or _younger(self._space, v, there[k])}
            put_many(self._cache, self._space, fresh)
        except CacheError as exc:
            raise CacheError(
                f"{exc.message} ({self.stored.total()} rows were imported before)", fix=exc.fix
            ) from exc
        self.kept += len(rows) - len(fresh)
        self.stored[self._space] += len(fresh)


def _younger(space: str, value: bytes, there: bytes) -> bool:
    if space not in TIMED:
        return False
    row, old = decode_row(value), decode_row(there)
    return row is not None and (old is None or row.at > old.at)


def put_many(cache: Cache, space: str, rows: Mapping[bytes, bytes]) -> None:
    """Store rows, in one transaction where the store can."""
    many = getattr(cache, "put_many", None)
    if callable(many):
        many(space, rows)
    else:
        for key, value in rows.items():
            cache.put(space, key, value)
