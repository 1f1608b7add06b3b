"""Spacing the calls to a service that takes so many a second.

An agent fires several searches at once; a plan of one request a second answers the first and
refuses the rest. Each call takes the next free turn and waits for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..errors import Busy
from ..providers import Clock
from .cancelling import pause

MARGIN_S = 0.05
"""Turns of a plan of one call a second are this much further apart than it allows, those of faster
plans in proportion: arrivals jitter on the way."""


class Pace:
    """Turns for the calls of one provider. Thread-safe."""

    def __init__(self, clock: Clock, sleep: Callable[[float], None] = pause) -> None:
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._interval_s = 0.0
        self._last = float("-inf")

    def set(self, calls_per_s: float | None) -> None:
        """Allow so many calls a second from now on; None or 0 ends the spacing."""
        with self._lock:
            self._interval_s = (1.0 + MARGIN_S) / calls_per_s if calls_per_s else 0.0

    def wait(self, deadline: float) -> None:
        """Wait for the next turn.

        Raises:
            Busy: it comes after ``deadline``; the turn is left to others.
        """
        with self._lock:
            now = self._clock.monotonic()
            turn = max(now, self._last + self._interval_s) if self._interval_s else now
            if turn > now and turn >= deadline:
                raise Busy(f"the calls before this one take all turns of the next {turn - now:.1f} s")
            self._last = turn
        if turn > now:
            self._sleep(turn - now)
