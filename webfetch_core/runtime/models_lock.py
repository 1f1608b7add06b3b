"""One pull of a model at a time, across threads and processes; the system lets go when a process dies."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

except ImportError:  # Windows
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]


AGAIN_S = 0.1
"""How often a lock that another has is tried."""


@contextmanager
def only_one(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file ``path`` for the length of the block; waits for whoever has it.

    Args:
        waiting: called once, before it is waited for.

    Raises:
        OSError: the file cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = _taken(path)
    if descriptor is None:
        waiting()
    while descriptor is None:
        time.sleep(AGAIN_S)
        descriptor = _taken(path)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes nothing that is open; there it stays
            path.unlink()
        os.close(descriptor)


def _taken(path: Path) -> int | None:
    """The descriptor of the locked file; None while another has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _try_lock(descriptor)
        # Who had it before may have removed it since it was opened here: that lock is nobody's.
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
    except (BlockingIOError, PermissionError, FileNotFoundError):
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None
