"""The store: bytes in, bytes out."""

from __future__ import annotations

import hashlib
import re
import struct
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from webfetch_core.api import CacheChange, CacheError

from .environment import Environment
from .layout import Layout, row_key, split_key
from .settings import LmdbSettings
from .shared import acquire, release

_SPACE = re.compile(r"[a-z][a-z0-9_.-]{0,63}\Z")
_LONGEST_KEY = 64
_CLEAR_BATCH = 500
_PUT_BATCH = 200
_TOUCH_BATCH = 64
_TOUCH_BACKLOG = 1024
_SCAN_IN_MEMORY = 32 << 20
_SIZES = struct.Struct(">HI")


class LmdbCache:
    """A ``Cache`` in one LMDB file, for any number of threads and processes.

    Keys longer than 64 bytes are kept under their SHA-256, and :meth:`scan` yields that. A value
    may take an eighth of ``max_bytes``. Reading is remembered in memory and written along with
    the next rows, so the order of eviction is nearly, not exactly, that of use.

    Args:
        path: the file; made with its folder where missing.
        log: a structlog logger.

    Raises:
        CacheError: the file cannot be used, and what to do about it.
    """

    def __init__(self, path: Path, settings: LmdbSettings, *, log: Any) -> None:
        self._environment: Environment | None = acquire(path, settings, log)
        self._path = path
        self._max_value = settings.max_bytes // 8
        self._touched: dict[bytes, None] = {}
        self._closing = threading.Lock()

    def get(self, space: str, key: bytes) -> bytes | None:
        environment, full = self._open(), _full(space, key)
        value = environment.read(lambda txn, layout: layout.get(txn, full))
        if value is not None:
            self._note([full])
        return value

    def put(self, space: str, key: bytes, value: bytes) -> None:
        self.put_many(space, {key: value})

    def get_many(self, space: str, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the rows of ``keys`` that are there, from one snapshot."""
        environment = self._open()
        wanted = {key: _full(space, key) for key in keys}

        def work(txn: Any, layout: Layout) -> dict[bytes, bytes]:
            rows = ((key, layout.get(txn, full)) for key, full in wanted.items())
            return {key: value for key, value in rows if value is not None}

        found = environment.read(work)
        self._note([wanted[key] for key in found])
        return found

    def put_many(self, space: str, rows: Mapping[bytes, bytes]) -> None:
        """Store rows, up to 200 in one transaction: one wait for the disk instead of one a row."""
        environment = self._open()
        kept = [(split_key(_full(space, key))[1], bytes(value)) for key, value in rows.items()]
        largest = max((len(value) for _, value in kept), default=0)
        if largest > self._max_value:
            raise CacheError(
                f"a value of {largest:,} bytes is more than an eighth of the cache",
                fix="raise plugins.cache_lmdb.max_bytes",
            )
        for some in _batches(kept, self._max_value):

            def work(txn: Any, layout: Layout, some: list[tuple[bytes, bytes]] = some) -> None:
                for key, value in some:
                    layout.put(txn, space, key, value)
                self._flush(txn, layout)

            environment.write(work)

    def delete(self, space: str, key: bytes) -> bool:
        environment, full = self._open(), _full(space, key)
        self._touched.pop(full, None)
        return environment.write(lambda txn, layout: layout.delete(txn, full))

    def scan(self, space: str) -> Iterator[tuple[bytes, bytes]]:
        """Yield every (key, value) as of the first step; the caller may write meanwhile."""
        environment = self._open()
        _full(space, b"")
        # Copied out first: a reader that lives as long as its caller likes would keep the map
        # from growing and deleted pages from being used again.
        with tempfile.SpooledTemporaryFile(max_size=_SCAN_IN_MEMORY) as copy:

            def work(txn: Any, layout: Layout) -> None:
                copy.seek(0)
                copy.truncate()
                for key, value in layout.scan(txn, space):
                    copy.write(_SIZES.pack(len(key), len(value)) + key + value)

            environment.read(work)
            copy.seek(0)
            while sizes := copy.read(_SIZES.size):
                key_bytes, value_bytes = _SIZES.unpack(sizes)
                yield copy.read(key_bytes), copy.read(value_bytes)

    def changes(self, space: str, since: int) -> Iterator[CacheChange]:
        """Yield the changes after ``since``, oldest first.

        The log is bounded. A first change that is not number ``since + 1`` says that some are
        gone, or that the cache was started anew: scan the space again.
        """
        environment = self._open()
        _full(space, b"")
        found = environment.read(lambda txn, layout: layout.changes(txn, space, since))
        for sequence, key, deleted in found:
            yield CacheChange(sequence=sequence, key=key, deleted=deleted)

    def clear(self, space: str) -> int:
        environment = self._open()
        _full(space, b"")
        count = 0
        while gone := environment.write(lambda txn, layout: layout.clear(txn, space, _CLEAR_BATCH)):
            count += gone
        return count

    def stats(self) -> Mapping[str, Any]:
        """Return ``path``, ``bytes`` (on disk), ``entries`` (rows by space), ``max_bytes``, ``used``
        (bytes that rows are reckoned at), ``reclaimable`` (bytes that :meth:`compact` would give back),
        ``sequences`` (last change by space) and ``set_aside`` (damaged files that were kept)."""
        return self._open().stats()

    def verify(self) -> Sequence[str]:
        """Look through every page and row; return what is wrong, at most 50 of it. Changes nothing."""
        return self._open().verify()

    def compact(self) -> Mapping[str, Any]:
        """Give the disk back what deleted rows left; return ``before`` and ``after`` in bytes.

        Other processes may read and write meanwhile, and lose nothing.
        """
        return self._open().compact()

    def close(self) -> None:
        """Wait for what is under way and close; every later call raises CacheError."""
        with self._closing:
            environment, self._environment = self._environment, None
        if environment is not None:
            if self._touched:
                with suppress(CacheError):
                    environment.write(self._flush)
            release(environment)

    def _open(self) -> Environment:
        environment = self._environment
        if environment is None:
            raise CacheError(f"the cache {self._path} is closed")
        return environment

    def _note(self, used: Iterable[bytes]) -> None:
        """Remember what was read. The oldest of it is forgotten where nothing is written for long: a
        reader must never wait for its turn to write."""
        self._touched.update(dict.fromkeys(used))
        while len(self._touched) > _TOUCH_BACKLOG:
            with suppress(KeyError, RuntimeError):  # other threads do the same
                del self._touched[next(iter(self._touched))]

    def _flush(self, txn: Any, layout: Layout) -> None:
        for _ in range(_TOUCH_BATCH):
            try:
                full, _none = self._touched.popitem()
            except KeyError:
                return
            layout.touch(txn, full)


def _batches(rows: Sequence[tuple[bytes, bytes]], most: int) -> Iterator[list[tuple[bytes, bytes]]]:
    """Yield the rows in order, few enough at a time for one transaction to find room for them."""
    some: list[tuple[bytes, bytes]] = []
    size = 0
    for key, value in rows:
        if some and (len(some) == _PUT_BATCH or size + len(value) > most):
            yield some
            some, size = [], 0
        some.append((key, value))
        size += len(value)
    if some:
        yield some


@lru_cache(maxsize=256)
def _checked(space: str) -> str:
    if not _SPACE.match(space):
        raise CacheError(
            f"{space!r} is no name of a cache space",
            fix="use up to 64 lower case letters, digits and _ . -, starting with a letter",
        )
    return space


def _full(space: str, key: bytes) -> bytes:
    return row_key(_checked(space), hashlib.sha256(key).digest() if len(key) > _LONGEST_KEY else bytes(key))
