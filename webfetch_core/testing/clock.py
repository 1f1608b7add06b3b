"""A clock that moves when it is told to."""

from __future__ import annotations

import threading


class FakeClock:
    """Both clocks of a host in one: ``advance`` moves them together. Thread-safe.

    Args:
        start: what ``monotonic()`` says at first.
        epoch: what ``time()`` says at first; 2024-01-01T00:00:00Z unless given.
    """

    def __init__(self, start: float = 1_000.0, epoch: float = 1_704_067_200.0) -> None:
        self._lock = threading.Lock()
        self._monotonic = start
        self._offset = epoch - start

    def monotonic(self) -> float:
        with self._lock:
            return self._monotonic

    def time(self) -> float:
        with self._lock:
            return self._monotonic + self._offset

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass.

        Raises:
            ValueError: time does not go back.
        """
        if seconds < 0:
            raise ValueError(f"time does not go back: advance({seconds!r})")
        with self._lock:
            self._monotonic += seconds
