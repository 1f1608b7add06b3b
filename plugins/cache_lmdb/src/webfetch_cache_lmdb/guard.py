"""Who may open, replace or set aside the cache file: one process at a time.

LMDB finds the lock file of a data file by its name. A data file that takes another's place must
therefore not meet a lock file that other processes still hold for the one before: its counters
would be wrong for it. The guard file, ``<path>-guard``, is locked while a file is opened or
replaced, and says which data file and lock file were last seen together; whatever a process that
died in between left behind is put right by the next one to come.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from webfetch_core.api import CacheError

try:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _give_back(descriptor: int) -> None:
        # Not left to closing: a process forked in between would still have it open.
        fcntl.flock(descriptor, fcntl.LOCK_UN)

except ImportError:  # Windows, where a locked byte cannot be read: one far behind the text
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]

    def _give_back(descriptor: int) -> None:
        pass  # closing does it


MAX_READERS = 512
_LOCK_BYTES = (MAX_READERS + 4) * 64  # a cache line for each reader, and LMDB's own facts
_WAIT_S = 20.0
"""Opening takes milliseconds; a holder that takes this long was stopped by somebody."""
_MODE = 0o666
_held: set[int] = set()


def guard_path(path: Path) -> Path:
    return path.with_name(path.name + "-guard")


def lock_path(path: Path) -> Path:
    return path.with_name(path.name + "-lock")


def make_lock(lock_file: Path) -> None:
    """Make LMDB's lock file with all its blocks, unless it is there.

    LMDB maps one with holes, and writing to a hole when the disk is full ends the process (SIGBUS).
    """
    if lock_file.exists() or not hasattr(os, "posix_fallocate"):
        return
    descriptor = os.open(lock_file, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), _MODE)
    try:
        os.posix_fallocate(descriptor, 0, _LOCK_BYTES)
    except OSError as exc:
        lock_file.unlink(missing_ok=True)
        if exc.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
    finally:
        os.close(descriptor)


def inode(path: Path) -> int:
    """Return the number of the file that the path names; 0 when there is none."""
    try:
        return path.stat().st_ino
    except (FileNotFoundError, NotADirectoryError):
        return 0


def lock(path: Path, wait_s: float = 0.0) -> int | None:
    """Make and lock a file; return its descriptor, or None when another holds it after ``wait_s``.

    Closing the descriptor gives the lock back, as does the end of the process. A child of a fork
    lets go of what it inherited.
    """
    until = time.monotonic() + wait_s
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), _MODE)
        _held.add(descriptor)
        try:
            _try_lock(descriptor)
            if os.fstat(descriptor).st_ino == inode(path):  # else somebody removed or renamed it meanwhile
                return descriptor
        except OSError:
            if time.monotonic() >= until:
                unlock(descriptor)
                return None
            unlock(descriptor)
            time.sleep(0.005)
        except BaseException:
            unlock(descriptor)
            raise
        else:
            unlock(descriptor)


def unlock(descriptor: int) -> None:
    """Give the lock back and close the file."""
    _give_back(descriptor)
    _held.discard(descriptor)
    os.close(descriptor)


class Guard:
    """The guard while it is held."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def settle(self) -> None:
        """Remove a lock file that belongs to another data file than the one that is there now."""
        data, lock_file = inode(self._path), inode(lock_path(self._path))
        if lock_file and (not data or self._owner(lock_file) not in (0, data)):
            with suppress(FileNotFoundError):
                lock_path(self._path).unlink()

    def note(self) -> None:
        """Note that the data file and the lock file that are there now belong together."""
        pair = b"%d %d\n" % (inode(self._path), inode(lock_path(self._path)))
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        if os.read(self._descriptor, 100) != pair:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, pair)
            os.ftruncate(self._descriptor, len(pair))

    def _owner(self, lock_file: int) -> int:
        """Return the data file that a lock file was last seen with; 0 when that is not known."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        line, newline, _ = os.read(self._descriptor, 100).partition(b"\n")
        numbers = line.split()
        if not newline or len(numbers) != 2 or not all(number.isdigit() for number in numbers):
            return 0
        return int(numbers[0]) if int(numbers[1]) == lock_file else 0


@contextmanager
def guarded(path: Path) -> Iterator[Guard]:
    """Hold the guard of the cache file ``path``.

    Raises:
        CacheError: another process has held it for 20 s.
        OSError: the guard file cannot be made.
    """
    descriptor = lock(guard_path(path), _WAIT_S)
    if descriptor is None:
        raise CacheError(
            f"another process has been opening the cache {path} for {_WAIT_S:.0f} s",
            fix="end the process that was stopped while it did so",
        )
    try:
        yield Guard(path, descriptor)
    finally:
        unlock(descriptor)


def _after_in_child() -> None:
    # The lock is of the open file, which the child shares: without this it would outlive its holder.
    for descriptor in list(_held):
        with suppress(OSError):
            os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_in_child)
