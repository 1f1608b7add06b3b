"""One writer at a time, across processes and threads; the system lets go when a process dies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

except ImportError:  # Windows
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]


class LockHeld(Exception):
    """Someone else has it."""


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file ``path`` for the length of the block; the file itself stays.

    Raises:
        LockHeld: at once, when another process or thread has it.
        OSError: the file cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            _try_lock(descriptor)
        except OSError as exc:
            raise LockHeld(str(path)) from exc
        yield
    finally:
        os.close(descriptor)
