"""What a forked child must not take over from its parent."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """A value that a forked child makes anew: a lock that another thread of the parent held at that
    moment is never released in the child, and what that thread had begun is never done there.

    Args:
        make: makes the value; without side effects, since two threads of a child may both call it.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values: dict[int, T] = {os.getpid(): make()}

    def __call__(self) -> T:
        """The value of this process."""
        pid = os.getpid()
        try:
            return self._values[pid]
        except KeyError:
            # One step under the interpreter's lock: all threads of the child get the same one.
            return self._values.setdefault(pid, self._make())
