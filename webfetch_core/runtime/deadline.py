"""The real clock, and the deadline arithmetic that everything else does with a clock."""

from __future__ import annotations

import time

from attrs import evolve, frozen

from ..providers import Clock
from .cancelling import CancelToken


class SystemClock:
    """The process's monotonic and wall clocks."""

    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time()


@frozen
class Deadline:
    """An instant of a monotonic clock that nothing may pass; being cancelled brings it forward to now."""

    at: float
    clock: Clock
    token: CancelToken | None = None

    @classmethod
    def after(cls, seconds: float, clock: Clock, token: CancelToken | None = None) -> Deadline:
        return cls(clock.monotonic() + seconds, clock, token)

    @property
    def cancelled(self) -> bool:
        """Whether the caller has cancelled."""
        return self.token is not None and self.token.cancelled

    def raise_if_cancelled(self) -> None:
        """Raises Cancelled when the caller has cancelled."""
        if self.token is not None:
            self.token.raise_if_cancelled()

    def remaining(self) -> float:
        """Seconds left, never below 0."""
        return 0.0 if self.cancelled else max(0.0, self.at - self.clock.monotonic())

    def expired(self) -> bool:
        return self.remaining() <= 0.0

    def within(self, seconds: float) -> Deadline:
        """The nearer of this deadline and ``seconds`` from now."""
        return evolve(self, at=min(self.at, self.clock.monotonic() + seconds))

    def anew(self, seconds: float) -> Deadline:
        """``seconds`` from now, for work that may outlive this deadline but not its cancelling."""
        return evolve(self, at=self.clock.monotonic() + seconds)
