"""The real clock, and the deadline arithmetic that everything else does with a clock."""

from __future__ import annotations

import time

from attrs import frozen

from ..providers import Clock


class SystemClock:
    """The process's monotonic and wall clocks."""

    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time()


@frozen
class Deadline:
    """An instant of a monotonic clock that nothing may pass."""

    at: float
    clock: Clock

    @classmethod
    def after(cls, seconds: float, clock: Clock) -> Deadline:
        return cls(clock.monotonic() + seconds, clock)

    def remaining(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self.at - self.clock.monotonic())

    def expired(self) -> bool:
        return self.remaining() <= 0.0

    def within(self, seconds: float) -> Deadline:
        """The nearer of this deadline and ``seconds`` from now."""
        return Deadline(min(self.at, self.clock.monotonic() + seconds), self.clock)
