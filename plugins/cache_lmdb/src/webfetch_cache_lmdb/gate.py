"""A gate that many pass at once, or one alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _Shared:
    """Not a generator: every read passes here, and one costs as much as the read."""

    __slots__ = ("_enter", "_leave")

    def __init__(self, enter: Callable[[], None], leave: Callable[[], None]) -> None:
        self._enter, self._leave = enter, leave

    def __enter__(self) -> None:
        self._enter()

    def __exit__(self, *exc: object) -> None:
        self._leave()


class Gate:
    """Work in transactions is ``shared``; resizing, closing and forking are ``alone``."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._inside = 0
        self._barred = False
        self._shared = _Shared(self._enter, self._leave)

    def shared(self) -> _Shared:
        """Be inside with others for the length of the block."""
        return self._shared

    def _enter(self) -> None:
        with self._free:
            while self._barred:
                self._free.wait()
            self._inside += 1

    def _leave(self) -> None:
        with self._free:
            self._inside -= 1
            if not self._inside:
                self._free.notify_all()

    def bar(self, timeout_s: float | None = None) -> bool:
        """Keep others out and wait until those inside have left; False if they did not in time."""
        with self._free:
            if not self._free.wait_for(lambda: not self._barred, timeout_s):
                return False
            self._barred = True
            if self._free.wait_for(lambda: not self._inside, timeout_s):
                return True
            self._barred = False
            self._free.notify_all()
            return False

    def unbar(self) -> None:
        """Let others in again."""
        with self._free:
            self._barred = False
            self._free.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        self.bar()
        try:
            yield
        finally:
            self.unbar()
