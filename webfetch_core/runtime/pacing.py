"""Spacing the calls to a service that takes so many a second.

An agent fires several searches at once; a plan of one request a second answers the first and
refuses the rest. Each call takes the next free turn and waits for it.
"""

from __future__ import annotations

import threading
from bisect import insort
from collections.abc import Callable

from ..errors import Busy
from ..providers import Clock
from .cancelling import is_cancelled, pause

MARGIN_S = 0.05
"""Turns of a plan of one call a second are this much further apart than it allows, those of faster
plans in proportion: arrivals jitter on the way."""
_ROUNDING_S = 1e-6
"""A gap between two turns is one although sums of floats have it shorter by a hair."""


class Pace:
    """Turns for the calls of one provider. Thread-safe."""

    def __init__(self, clock: Clock, sleep: Callable[[float], None] = pause) -> None:
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._interval_s = 0.0
        self._turns: list[float] = []  # in order: those to come, and the last that was

    def set(self, calls_per_s: float | None) -> None:
        """Allow so many calls a second from now on; None or 0 ends the spacing."""
        with self._lock:
            self._interval_s = (1.0 + MARGIN_S) / calls_per_s if calls_per_s else 0.0

    def wait(self, deadline: float) -> None:
        """Wait for the next turn. One who is cancelled meanwhile gives it back.

        Raises:
            Busy: it comes after ``deadline``; the turn is left to others.
        """
        with self._lock:
            now = self._clock.monotonic()
            while len(self._turns) > 1 and self._turns[1] <= now:
                self._turns.pop(0)
            turn = self._next(now) if self._interval_s else now
            if turn > now and turn >= deadline:
                raise Busy(f"the calls before this one take all turns of the next {turn - now:.1f} s")
            insort(self._turns, turn)
        if turn <= now:
            return
        self._sleep(turn - now)
        if is_cancelled():  # nothing is sent any more: whoever comes next may have it
            with self._lock:
                if turn in self._turns:
                    self._turns.remove(turn)

    def _next(self, now: float) -> float:
        """The first instant that is far enough from every turn."""
        turn = now
        for taken in self._turns:
            if taken - self._interval_s + _ROUNDING_S < turn < taken + self._interval_s:
                turn = taken + self._interval_s
        return turn
