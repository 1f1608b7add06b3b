"""What a forked process makes anew: a lock that was held while it was forked off stays held in it."""

from __future__ import annotations

import os
import threading
from weakref import WeakSet


class ForkSafe:
    """Has a ``_lock`` that is a new one in every forked process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _all.add(self)


_all: WeakSet[ForkSafe] = WeakSet()


def _after_fork() -> None:
    for one in list(_all):
        one._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
