"""Giving disk space back while other processes read and write.

A copy without gaps is made beside the file and takes its place. Three things keep every row:

- The copy is brought up to date, and renamed over the file, within a write transaction of the old
  file: nobody commits to it meanwhile.
- A writer that gets its turn looks first whether the path still names the file it has open
  (``Environment``), and opens the new one where it does not. So the rename alone decides which
  file counts, and a process that dies before or after it leaves one whole cache.
- The old file's lock file goes under the guard (``guard.py``): the new file never meets it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import lmdb

from webfetch_core.api import CacheError

from .guard import Guard, inode, lock, lock_path, make_lock, unlock
from .layout import DATABASES, Layout, row_key

_WAIT_S = 1.0  # an opener that looks for leftovers holds the copy for an instant


class Moved(Exception):
    """The path names another file than the one that is open."""


def copy_path(path: Path) -> Path:
    return path.with_name(path.name + "-compact")


def sweep(path: Path) -> None:
    """Remove the copy that a process left when it died; one that is being written stays."""
    copy = copy_path(path)
    if copy.exists() or lock_path(copy).exists():
        descriptor = lock(copy)
        if descriptor is not None:
            _remove(copy, descriptor)


def _remove(copy: Path, descriptor: int) -> None:
    if inode(copy) == os.fstat(descriptor).st_ino:
        lock_path(copy).unlink(missing_ok=True)
        copy.unlink(missing_ok=True)
    unlock(descriptor)


class Compaction:
    """One compaction of the file at ``path``: :meth:`copy`, then :meth:`replace`, then :meth:`close`.

    Args:
        at: called before each step with its name; for tests that stop there.

    Raises:
        CacheError: another process is at it, or this system cannot replace an open file.
        OSError: the copy cannot be made.
    """

    def __init__(self, path: Path, at: Callable[[str], object] = str) -> None:
        if os.name == "nt":
            raise CacheError(
                "a file that is open cannot be replaced on Windows",
                fix="webfetch cache export, end what uses the cache, delete its file, webfetch cache import",
            )
        self._path = path
        self._copy = copy_path(path)
        self._at = at
        descriptor = lock(self._copy, _WAIT_S)
        if descriptor is None:
            raise CacheError(f"another process is compacting the cache {path}", fix="wait for it to end")
        self._descriptor = descriptor
        self._copied: Layout | None = None

    def copy(self, handle: Any, layout: Layout) -> None:
        """Write the copy, as of the last commit; others may go on writing."""
        self._at("copy")
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        handle.copyfd(self._descriptor, compact=True)
        self._copied = layout
        self._at("copied")

    def replace(self, handle: Any, txn: Any, layout: Layout, guard: Guard, *, again: bool) -> bool:
        """Bring the copy up to date and put it in the file's place.

        Returns False when the log does not tell all that happened since: copy again. With ``again``
        that is done here, while everybody waits.

        Args:
            txn: a write transaction of the file: until it ends nobody else commits.
            guard: held, and taken before the transaction was begun, as an opener does.
        """
        self._at("catch up")
        if layout is not self._copied or not self._catch_up(handle, txn, layout):
            if not again:
                return False
            self.copy(handle, layout)
        os.fsync(self._descriptor)
        make_lock(lock_path(self._copy))  # not later, when there may be no room for it
        self._at("rename")
        self._copy.replace(self._path)
        self._at("renamed")
        if lock_path(self._copy).exists():
            lock_path(self._copy).replace(lock_path(self._path))
        else:
            lock_path(self._path).unlink(missing_ok=True)
        self._at("unlocked")
        guard.note()
        _sync_folder(self._path.parent)
        return True

    def close(self) -> None:
        """Remove the copy unless it has become the file."""
        _remove(self._copy, self._descriptor)

    def _catch_up(self, handle: Any, txn: Any, layout: Layout) -> bool:
        """Repeat in the copy what was committed since it was made; False when the log lacks some of it."""
        copy = lmdb.open(
            str(self._copy),
            subdir=False,
            lock=False,
            map_size=handle.info()["map_size"],
            max_dbs=len(DATABASES),
            lib_version=0,
        )
        try:
            layout_of_copy = layout.on(tuple(copy.open_db(name, create=False) for name in DATABASES))
            with copy.begin(write=True) as target:
                done = all(repeat(space, txn, layout, target, layout_of_copy) for space in layout.spaces(txn))
                if done:
                    _copy_meta(txn, layout, target, layout_of_copy)
                else:
                    target.abort()
            return done
        except lmdb.MapFullError:
            return False
        finally:
            copy.close()


def repeat(space: str, source: Any, old: Layout, target: Any, new: Layout) -> bool:
    """Bring one space of ``new`` to where ``old`` is; False when the log does not reach back so far."""
    since, until = new.facts(target, space).sequence, old.facts(source, space).sequence
    if since == until:
        return True
    changes = old.changes(source, space, since)
    if not changes or changes[0][0] != since + 1 or changes[-1][0] != until:
        return False
    for key in {key for _, key, _ in changes}:
        new.replace_row(target, row_key(space, key), old.raw_row(source, row_key(space, key)))
    for sequence, key, deleted in changes:
        new.log(target, space, sequence, key, deleted=deleted)
    return True


def _copy_meta(source: Any, old: Layout, target: Any, new: Layout) -> None:
    with source.cursor(db=old.meta) as cursor:
        for name, value in cursor:
            target.put(name, value, db=new.meta)


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
