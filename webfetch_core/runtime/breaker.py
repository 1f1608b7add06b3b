"""A circuit breaker with its clock injected: three strikes, five minutes off, one probe."""

from __future__ import annotations

import threading
from enum import StrEnum

from ..providers import Clock

FAILURES_TO_OPEN = 3
OPEN_FOR_S = 300.0


class BreakerState(StrEnum):
    """``closed`` serves, ``open`` does not, ``half_open`` has one probe under way."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Breaker:
    """The health of one provider, as seen by its calls. Thread-safe."""

    def __init__(
        self, clock: Clock, *, failures_to_open: int = FAILURES_TO_OPEN, open_for_s: float = OPEN_FOR_S
    ) -> None:
        self._clock = clock
        self._failures_to_open = failures_to_open
        self._open_for_s = open_for_s
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until: float | None = None
        self._probing = False
        self._reason = ""

    @property
    def state(self) -> BreakerState:
        with self._lock:
            if self._open_until is None:
                return BreakerState.CLOSED
            return BreakerState.HALF_OPEN if self._probing else BreakerState.OPEN

    @property
    def reason(self) -> str:
        """Why it opened, and how long it stays so; empty while closed."""
        with self._lock:
            if self._open_until is None:
                return ""
            left = max(0.0, self._open_until - self._clock.monotonic())
            return (
                f"{self._reason}; benched for {left:.0f} s more"
                if left
                else f"{self._reason}; next call is a probe"
            )

    def admit(self) -> bool:
        """Whether a call may be made now. An admitted call must be followed by one ``record_*``."""
        with self._lock:
            if self._open_until is None:
                return True
            if self._probing or self._clock.monotonic() < self._open_until:
                return False
            self._probing = True
            return True

    def record_success(self) -> bool:
        """A call succeeded; returns True when this closed the breaker."""
        with self._lock:
            was_open = self._open_until is not None
            self._failures, self._open_until, self._probing, self._reason = 0, None, False, ""
            return was_open

    def record_neutral(self) -> None:
        """A call ended in a way that says nothing of the provider's health."""
        with self._lock:
            self._probing = False

    def record_failure(self, reason: str, *, retry_after_s: float | None = None) -> bool:
        """A call failed; returns True when this opened the breaker.

        ``retry_after_s`` (the other side said when to come back) opens it at once for that long.
        """
        with self._lock:
            probe_failed = self._probing
            self._probing = False
            self._failures += 1
            if retry_after_s is None and not probe_failed and self._failures < self._failures_to_open:
                return False
            wait = self._open_for_s if retry_after_s is None else max(0.0, retry_after_s)
            until = self._clock.monotonic() + wait
            newly = self._open_until is None or self._clock.monotonic() >= self._open_until
            # Failures of calls that were under way when it opened are the same outage: never shorten it.
            self._open_until = until if newly else max(until, self._open_until or until)
            self._reason = reason
            return newly
