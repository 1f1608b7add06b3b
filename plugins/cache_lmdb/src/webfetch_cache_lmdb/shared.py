"""The environments of this process: one for each file, whoever opens it and however often.

LMDB forbids two environments on one file in a process, and any use of one after a fork.
"""

from __future__ import annotations

import os
import threading
import weakref
from pathlib import Path
from typing import Any

from .environment import Environment
from .settings import LmdbSettings

_open: weakref.WeakValueDictionary[Path, Environment] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def acquire(path: Path, settings: LmdbSettings, log: Any) -> Environment:
    """Return the process's environment for the file, open; each call needs one :func:`release`.

    The settings of the first to open it hold for all.
    """
    real = Path(os.path.realpath(path))
    with _lock:
        found = _open.get(real)
        if found is None:
            found = _open[real] = Environment(real, settings, log)
        found.users += 1
    try:
        found.open()
    except BaseException:
        release(found)
        raise
    return found


def release(environment: Environment) -> None:
    """Give an environment back; the last one to do so closes the file."""
    with _lock:
        environment.users -= 1
        if environment.users == 0:
            _open.pop(environment.path, None)
            environment.close()


def _before_fork() -> None:
    _lock.acquire()
    for environment in list(_open.values()):
        environment.before_fork()


def _after_in_parent() -> None:
    for environment in list(_open.values()):
        environment.after_fork_in_parent()
    _lock.release()


def _after_in_child() -> None:
    global _lock
    _lock = threading.Lock()
    for environment in list(_open.values()):
        environment.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
