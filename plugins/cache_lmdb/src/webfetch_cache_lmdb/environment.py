"""An open LMDB file: transactions that see to the map's growth (ours and other processes'), to the
size cap, and to damage. Get one by :func:`webfetch_cache_lmdb.shared.acquire`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import lmdb

from webfetch_core.api import CacheError

from .files import NotOurs, advice, fill_up, lock_path, missing_bytes, room, set_aside
from .gate import Gate
from .layout import DATABASES, FORMAT, Full, Layout
from .settings import LmdbSettings

T = TypeVar("T")

_FIRST_MAP = 4 << 20
_LARGEST_STEP = 256 << 20
_ROUNDS = 24
_FORK_WAIT_S = 5.0
DAMAGE = (
    lmdb.CorruptedError,
    lmdb.PageNotFoundError,
    lmdb.InvalidError,
    lmdb.IncompatibleError,
    lmdb.NotFoundError,
)


class Environment:
    """The file at ``path``, opened when first used in this process, while it has ``users``."""

    def __init__(self, path: Path, settings: LmdbSettings, log: Any) -> None:
        self.path = path
        self.settings = settings
        self._log = log
        self._gate = Gate()
        self._opening = threading.Lock()
        self._handle: Any = None
        self._layout: Layout | None = None
        self._inode = 0
        self._size = 0
        self._lost = False
        self._unusable: Any = None
        self.users = 0

    # ---- transactions ----

    def read(self, work: Callable[[Any, Layout], T]) -> T:
        """Run ``work(txn, layout)`` on a snapshot. Raises CacheError."""
        return self._run(work, write=False)

    def write(self, work: Callable[[Any, Layout], T]) -> T:
        """Run ``work(txn, layout)`` and commit; it may run more than once. Raises CacheError."""
        return self._run(work, write=True)

    def _run(self, work: Callable[[Any, Layout], T], *, write: bool) -> T:
        try:
            return self._try(work, write)
        except (lmdb.Error, OSError) as exc:
            raise self._error(exc) from exc

    def _try(self, work: Callable[[Any, Layout], T], write: bool) -> T:
        recovered = dropped = False
        for attempt in range(_ROUNDS):
            handle = None
            try:
                self.open()
                with self._gate.shared():
                    handle, layout = self._handle, self._layout
                    if handle is None or layout is None:
                        if not self.users:
                            raise CacheError(f"the cache {self.path} is closed")
                        continue
                    self._look_at_size()
                    with handle.begin(write=write) as txn:
                        done = work(txn, layout)
                    if write:
                        self._note_size()
                    return done
            except lmdb.MapResizedError:
                self._resize(handle, 0)
            except (lmdb.MapFullError, Full):
                self._make_room(handle, attempt)
            except lmdb.ReadersFullError as exc:
                if handle is None or not handle.reader_check():
                    raise self._error(exc, "close some of the processes that use it") from exc
            except lmdb.BadTxnError:
                # A transaction that met damage is kept for the next reader: is it that, or the file?
                if dropped:
                    raise
                dropped = True
                self._drop(handle)
            except DAMAGE as exc:
                if recovered:
                    raise
                recovered = True
                self._recover(handle, str(exc))
            except lmdb.PanicError:
                self._drop(handle)  # LMDB wants the environment closed; the file itself is whole
                raise
        raise CacheError(
            f"the cache {self.path} is full and no row could make room",
            fix="raise plugins.cache_lmdb.max_bytes, or close a process that has been reading for long",
        )

    def _error(self, exc: BaseException, fix: str = "") -> CacheError:
        return CacheError(f"the cache {self.path} cannot be used: {exc}", fix=fix or advice(self.path, exc))

    def _look_at_size(self) -> None:
        """Reading pages of the map that somebody cut off the file would end the process (SIGBUS).

        Raises:
            lmdb.CorruptedError: the file has become shorter; LMDB itself only ever lets it grow.
        """
        known = self._size  # read before the file is looked at: it may grow in between
        with suppress(FileNotFoundError):
            found = self.path.stat()
            if found.st_ino != self._inode:
                return  # another file is in its place; the open one lives on
            if found.st_size < known:
                raise lmdb.CorruptedError("it was cut short while it was open")
            self._size = found.st_size

    def _note_size(self) -> None:
        with suppress(OSError):
            found = self.path.stat()
            if found.st_ino == self._inode:
                self._size = max(self._size, found.st_size)

    # ---- size ----

    @property
    def _limit(self) -> int:
        # The last eighth is for the pages that deleting rows itself needs.
        return self.settings.max_bytes - self.settings.max_bytes // 8

    def _make_room(self, handle: Any, attempt: int) -> None:
        """Grow the map where it may grow, else evict. The next round shows whether it was enough."""
        limit = min(self._limit, room(self.path))
        with self._gate.shared():
            layout = self._layout
            if handle is None or handle is not self._handle or layout is None:
                return
            size = handle.info()["map_size"]
            if size >= limit:
                handle.reader_check()  # a reader that died keeps its pages from being used again
                try:
                    with handle.begin(write=True) as txn:
                        layout.evict(txn, self.settings.max_bytes // 64, at_most=32 << min(attempt, 6))
                    return
                except lmdb.MapFullError:
                    limit = min(size + (1 << 19), self.settings.max_bytes)
                except (lmdb.MapResizedError, Full):
                    return
        if size < limit:
            self._resize(handle, min(max(size + min(size, _LARGEST_STEP), _FIRST_MAP), limit))

    def _resize(self, handle: Any, size: int) -> None:
        with self._gate.alone():
            if handle is self._handle and (not size or handle.info()["map_size"] < size):
                handle.set_mapsize(size)

    # ---- opening and closing ----

    def open(self) -> None:
        """Open the file unless it is open. Raises CacheError."""
        if self._handle is not None:
            return
        if self._lost:
            raise CacheError(
                f"the cache {self.path} was in use when this process forked",
                fix="fork before searching, or start processes anew",
            )
        with self._opening:
            if self._handle is None and self.users:
                try:
                    self._open()
                except (lmdb.Error, OSError) as exc:
                    raise self._error(exc) from exc

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as exc:
            raise CacheError(
                f"the cache {self.path} has no folder: a file is in its place",
                fix="set plugins.cache_lmdb.path to a file in a folder",
            ) from exc
        if self.path.is_dir():
            raise CacheError(
                f"the cache {self.path} is a folder", fix="set plugins.cache_lmdb.path to a file in it"
            )
        for last in (False, True):
            inode = self.path.stat().st_ino if self.path.exists() else 0
            try:
                missing = missing_bytes(self.path) if inode else 0
                if missing:
                    fill_up(self.path, missing)
                handle = lmdb.open(
                    str(self.path),
                    subdir=False,
                    map_size=min(_FIRST_MAP, self._limit, max(room(self.path), 1 << 16)),
                    max_dbs=len(DATABASES),
                    max_readers=512,
                    metasync=self.settings.durable,
                )
                try:
                    layout = self._prepare(handle, walk=missing > 0)
                except BaseException:
                    handle.close()
                    raise
                break
            except (NotOurs, *DAMAGE) as exc:
                if last:
                    raise CacheError(f"the cache {self.path} cannot be used: {exc}") from exc
                self._quarantine(inode, str(exc))
        found = self.path.stat()
        self._inode, self._size = found.st_ino, found.st_size
        self._layout, self._handle = layout, handle

    def _prepare(self, handle: Any, *, walk: bool) -> Layout:
        handle.reader_check()
        while True:
            try:
                handles = self._databases(handle)
                break
            except lmdb.MapResizedError:
                handle.set_mapsize(0)
        high = self.settings.max_bytes * 65 // 100
        layout = Layout(handles, self.settings.log_length, high, self.settings.keep_spaces)
        if walk:
            with handle.begin() as txn:
                for database in handles:
                    for _ in txn.cursor(db=database):
                        pass
        return layout

    def _databases(self, handle: Any) -> tuple[Any, ...]:
        with handle.begin() as txn:
            names = list(txn.cursor().iternext(values=False))
        if names and b"meta" not in names:
            raise CacheError(
                f"{self.path} is the LMDB file of another program",
                fix="set plugins.cache_lmdb.path to another file",
            )
        if not names:
            with handle.begin(write=True) as txn:
                # Another process may have been first: then these are there already.
                made = [handle.open_db(name, txn=txn) for name in DATABASES]
                if txn.get(b"format", db=made[-1]) is None:
                    txn.put(b"format", FORMAT, db=made[-1])
        # Each in a transaction of its own: py-lmdb keeps read transactions for the next reader
        # instead of ending them, and a handle made in one would never be valid elsewhere.
        meta = handle.open_db(b"meta", create=False)
        with handle.begin() as txn:
            found = txn.get(b"format", db=meta)
        if found != FORMAT:
            raise CacheError(
                f"the cache {self.path} has the format {(found or b'unknown')[:40]!r}, not {FORMAT!r}",
                fix="it was written by another version: move it away, or set plugins.cache_lmdb.path",
            )
        return tuple(handle.open_db(name, create=False) for name in DATABASES)

    def _recover(self, handle: Any, reason: str) -> None:
        """Close a damaged file and set it aside; the next use starts a new one."""
        with self._opening:
            if handle is None or handle is not self._handle:
                return
            with self._gate.alone():
                self._handle.close()
                self._handle = self._layout = None
            self._quarantine(self._inode, reason)

    def _quarantine(self, inode: int, reason: str) -> None:
        aside = set_aside(self.path, inode)
        if aside is not None:
            self._log.warning("cache.quarantined", path=str(self.path), kept_as=str(aside), reason=reason)

    def _drop(self, handle: Any) -> None:
        with self._opening, self._gate.alone():
            if handle is self._handle and handle is not None:
                self._handle = self._layout = None
                handle.close()

    def close(self) -> None:
        """Wait for what is under way, then close."""
        self._drop(self._handle)

    def stats(self) -> dict[str, Any]:
        """Return path, sizes in bytes, and rows and last sequence by space."""
        spaces, used = self.read(lambda txn, layout: (layout.spaces(txn), layout.used(txn)))
        on_disk = [p.stat() for p in (self.path, lock_path(self.path)) if p.exists()]
        return {
            "path": str(self.path),
            "bytes": sum(s.st_size for s in on_disk),
            "max_bytes": self.settings.max_bytes,
            "used": used,
            "entries": {name: facts.rows for name, facts in spaces.items() if facts.rows},
            "sequences": {name: facts.sequence for name, facts in spaces.items()},
        }

    # ---- forks ----

    def before_fork(self) -> None:
        self._lost = not self._gate.bar(_FORK_WAIT_S)

    def after_fork_in_parent(self) -> None:
        if not self._lost:
            self._gate.unbar()
        self._lost = False

    def after_fork_in_child(self) -> None:
        self._gate, self._opening = Gate(), threading.Lock()
        handle, self._handle, self._layout = self._handle, None, None
        if self._lost:
            # A transaction of a thread that is not here holds it: closing would wait forever.
            self._unusable = handle
        elif handle is not None:
            handle.close()
