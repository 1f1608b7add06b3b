"""An open LMDB file: transactions that see to the map's growth (ours and other processes'), to the
size cap, and to damage. Get one by :func:`webfetch_cache_lmdb.shared.acquire`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import lmdb

from webfetch_core.api import CacheError

from .compacting import Compaction, Moved
from .files import advice, bytes_on_disk, disk_is_full, kept_aside, room
from .gate import Gate
from .guard import guarded
from .layout import Full, Layout
from .opening import DAMAGE, FIRST_MAP, high, limit, open_file, quarantine
from .settings import LmdbSettings
from .verifying import MOST, bytes_in_use, page_problems, row_problems

T = TypeVar("T")

_LARGEST_STEP = 256 << 20
_LEAST_HIGH = 128 << 10
_LOOK_AGAIN = 1_000
_ROUNDS = 24
_PAUSE_S = 0.01
"""Readers of an older state, a compaction that copies among them, keep its pages from being used again: the
rounds wait about 3 s for them."""
_FORK_WAIT_S = 5.0


class Room(Enum):
    """What became of the wish for room: there is some, no row may go, or what went is still being read."""

    MADE = "made"
    NONE = "none"
    PINNED = "pinned"


class Environment:
    """The file at ``path``, opened when first used in this process, while it has ``users``."""

    def __init__(self, path: Path, settings: LmdbSettings, log: Any) -> None:
        self.path = path
        self._name = str(path)
        self.settings = settings
        self._log = log
        self._gate = Gate()
        self._opening = threading.Lock()
        self._handle: Any = None
        self._layout: Layout | None = None
        self._inode = 0
        self._size = 0
        self._writes = 0
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
                    self._look_at_file()
                    with handle.begin(write=write) as txn:
                        if write:
                            self._look_at_file()  # while it had its turn another process may have compacted
                        done = work(txn, layout)
                    if write:
                        self._note_size()
                        self._writes += 1
                        if self._writes % _LOOK_AGAIN == 0:  # the disk may have room again
                            layout.high = high(self.settings)
                    return done
            except Moved:
                self._drop(handle)
            except lmdb.MapResizedError:
                self._resize(handle, 0)
            except (lmdb.MapFullError, Full):
                room_made = self._make_room(handle, attempt)
                if room_made is Room.NONE:
                    break
                if room_made is Room.PINNED:
                    time.sleep(_PAUSE_S * (1 << min(attempt, 4)))
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
            except lmdb.DiskError as exc:
                if not write or not disk_is_full(self.path, exc):
                    raise
                if self._evict(handle, attempt, by_disk=True) is not Room.MADE:
                    raise
            except lmdb.PanicError:
                self._drop(handle)  # LMDB wants the environment closed; the file itself is whole
                raise
        free = room(self.path)
        by_disk = free - free // 8 < limit(self.settings)
        raise CacheError(
            f"the cache {self.path} is full and no row could make room",
            fix="free some disk space, or lower plugins.cache_lmdb.max_bytes"
            if by_disk
            else "raise plugins.cache_lmdb.max_bytes, or close a process that has been reading for long",
        )

    def _error(self, exc: BaseException, fix: str = "") -> CacheError:
        return CacheError(f"the cache {self.path} cannot be used: {exc}", fix=fix or advice(self.path, exc))

    def _look_at_file(self) -> None:
        """See that the path still names the open file, whole.

        Raises:
            Moved: it was compacted, set aside or removed: what is written here nobody would find.
            lmdb.CorruptedError: the file has become shorter; LMDB itself only ever lets it grow.
                Reading pages of the map that somebody cut off would end the process (SIGBUS).
        """
        known = self._size  # read before the file is looked at: it may grow in between
        try:
            found = os.stat(self._name)  # noqa: PTH116  (every read passes here; pathlib takes twice as long)
        except FileNotFoundError:
            if not self.path.parent.exists():
                return  # all of it was removed: making it anew would only be in somebody's way
            raise Moved from None
        if found.st_ino != self._inode:
            raise Moved
        if found.st_size < known:
            raise lmdb.CorruptedError("it was cut short while it was open")
        self._size = found.st_size

    def _note_size(self) -> None:
        with suppress(OSError):
            found = self.path.stat()
            if found.st_ino == self._inode:
                self._size = max(self._size, found.st_size)

    # ---- size ----

    def _make_room(self, handle: Any, attempt: int) -> Room:
        """Grow the map where it may grow, else evict. The next round shows whether it was enough."""
        free = room(self.path)
        most = min(limit(self.settings), free - free // 8)
        with self._gate.shared():
            if handle is None or handle is not self._handle:
                return Room.MADE
            size = handle.info()["map_size"]
        if size >= most:
            made = self._evict(handle, attempt, by_disk=most < limit(self.settings))
            most = min(size + (1 << 19), self.settings.max_bytes, free)
            if made is not Room.PINNED or size >= most:
                return made
        self._resize(handle, min(max(size + min(size, _LARGEST_STEP), FIRST_MAP), most))
        return Room.MADE

    def _evict(self, handle: Any, attempt: int, *, by_disk: bool) -> Room:
        """Let rows make room; where it is the disk that is small, at once when they come to as much again."""
        with self._gate.shared():
            layout = self._layout
            if handle is None or handle is not self._handle or layout is None:
                return Room.MADE
            handle.reader_check()  # a reader that died keeps its pages from being used again
            most = 32 << min(attempt, 6)
            while most:
                try:
                    with handle.begin(write=True) as txn:
                        self._look_at_file()
                        layout.evict(txn, self.settings.max_bytes // 64, at_most=most)
                        if by_disk:
                            layout.high = min(layout.high, max(layout.used(txn), _LEAST_HIGH))
                    return Room.MADE
                except (lmdb.DiskError, lmdb.MapFullError):
                    most //= 4  # taking a row out takes pages, too, before it gives some back
                except Full:
                    return Room.NONE
                except (lmdb.MapResizedError, Moved):
                    return Room.MADE  # the next round sees to it
        return Room.PINNED

    def _resize(self, handle: Any, size: int) -> None:
        with self._gate.alone():
            if handle is self._handle and (not size or handle.info()["map_size"] < size):
                handle.set_mapsize(size)
                if self._layout is not None:
                    self._layout.high = high(self.settings)

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
                    opened = open_file(self.path, self.settings, self._log)
                except (lmdb.Error, OSError) as exc:
                    raise self._error(exc) from exc
                self._inode, self._size = opened.inode, opened.size
                self._layout, self._handle = opened.layout, opened.handle

    def _recover(self, handle: Any, reason: str) -> None:
        """Close a damaged file and set it aside; the next use starts a new one."""
        with self._opening:
            if handle is None or handle is not self._handle:
                return
            with self._gate.alone():
                self._handle.close()
                self._handle = self._layout = None
            quarantine(self.path, self._inode, reason, self._log)

    def _drop(self, handle: Any) -> None:
        with self._opening, self._gate.alone():
            if handle is self._handle and handle is not None:
                self._handle = self._layout = None
                handle.close()

    def close(self) -> None:
        """Wait for what is under way, then close."""
        self._drop(self._handle)

    # ---- looking after the file ----

    def stats(self) -> dict[str, Any]:
        """Return path, sizes in bytes, rows and last sequence by space, and damaged files kept."""

        def work(txn: Any, layout: Layout) -> tuple[Any, int, int]:
            return layout.spaces(txn), layout.used(txn), bytes_in_use(txn, layout)

        spaces, used, in_use = self.read(work)
        return {
            "path": str(self.path),
            "bytes": bytes_on_disk(self.path),
            "max_bytes": self.settings.max_bytes,
            "used": used,
            "reclaimable": max(self._size - in_use, 0),
            "entries": {name: facts.rows for name, facts in spaces.items() if facts.rows},
            "sequences": {name: facts.sequence for name, facts in spaces.items()},
            "set_aside": [str(file) for file in kept_aside(self.path)],
        }

    def verify(self) -> list[str]:
        """Return what is wrong with the file, at most 50 of it; nothing is changed.

        Writers wait while its pages are looked through. Raises CacheError.
        """
        found = self.write(lambda txn, layout: page_problems(self.path))
        # LMDB believes its pages: following damaged ones could end the process.
        return found or self.read(lambda txn, layout: list(islice(row_problems(txn, layout), MOST)))

    def compact(self) -> dict[str, Any]:
        """Replace the file by a copy without gaps; return ``before`` and ``after`` in bytes.

        Other processes may go on meanwhile; each gives the old file's space back at its next use of
        the cache. Raises CacheError.
        """
        self.open()
        before = self.path.stat().st_size
        try:
            compaction = Compaction(self.path)
            try:
                for last in (False, False, True):
                    self.read(lambda txn, layout: compaction.copy(self._handle, layout))
                    if self._replace(compaction, again=last):
                        return {"before": before, "after": self.path.stat().st_size}
            finally:
                compaction.close()
        except (lmdb.Error, OSError) as exc:
            raise self._error(exc) from exc
        raise CacheError(f"the cache {self.path} was replaced or grew meanwhile", fix="compact it again")

    def _replace(self, compaction: Compaction, *, again: bool) -> bool:
        handle = self._handle
        try:
            # In the order in which an opener takes them.
            with self._opening, guarded(self.path) as guard, self._gate.shared():
                handle, layout = self._handle, self._layout
                if handle is None or layout is None:
                    return False
                with handle.begin(write=True) as txn:
                    self._look_at_file()
                    return compaction.replace(handle, txn, layout, guard, again=again)
        except Moved:
            self._drop(handle)
        except lmdb.MapResizedError:
            self._resize(handle, 0)
        return False

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
