"""What a simulated engine does next: a script, a rate, a quota. No sockets; time comes from a clock."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Sequence

from attrs import frozen

from ...providers import Clock
from ..site import Reply
from .messages import SimulatedHit

OK = "ok"
"""The step of a script that answers from the corpus."""

Step = str | Reply | Sequence[SimulatedHit | str]
"""A fault's name, OK, a whole reply, or the hits to give (a text is a hit's URL)."""


class Script:
    """Steps, one a request; after them every request is answered from the corpus. Not thread-safe."""

    def __init__(self, faults: Iterable[str]) -> None:
        self._known = frozenset((OK, *faults))
        self._steps: deque[Step] = deque()

    def extend(self, steps: Iterable[Step]) -> None:
        """Add steps.

        Raises:
            ValueError: a fault that this engine does not have.
        """
        steps = list(steps)
        for step in steps:
            if isinstance(step, str):
                self.check(step)
        self._steps.extend(steps)

    def check(self, name: str) -> str:
        """``name`` if it is a fault of this engine or OK.

        Raises:
            ValueError: it is neither.
        """
        if name not in self._known:
            raise ValueError(f"no fault {name!r} here; there are: {', '.join(sorted(self._known))}")
        return name

    def next(self) -> Step | None:
        """The next step, or None when there is none left."""
        return self._steps.popleft() if self._steps else None


class Chance:
    """Draws a fault for a share of the requests, the same ones for the same seed. Not thread-safe."""

    def __init__(self, rate: float, faults: Sequence[str], seed: int) -> None:
        if not 0.0 <= rate <= 1.0:
            raise ValueError(f"a failure rate is between 0 and 1, not {rate!r}")
        self._rate = rate
        self._faults = tuple(faults)
        self._random = random.Random(seed)

    def draw(self) -> str | None:
        """A fault for this request, or None."""
        hit = self._random.random() < self._rate
        return self._random.choice(self._faults) if hit else None


@frozen(kw_only=True)
class RateState:
    """What an engine tells of its limits. ``None`` stands for a limit that is not set.

    Attributes:
        limit: requests that a window of ``window_s`` seconds takes.
        remaining: how many of them are left.
        reset_s: seconds until there is room again, or until the oldest request leaves the window.
        quota: requests of the plan's period.
        quota_remaining: how many of them are left.
        quota_reset_s: seconds until the period ends.
        refused: which of the two this request ran into: ``rate_limited``, ``quota``, or empty.
        measured: whether a limit refused it, and not a script; then ``reset_s`` is a wait to be told.
    """

    limit: int | None = None
    remaining: int = 0
    window_s: float = 1.0
    reset_s: float = 0.0
    quota: int | None = None
    quota_remaining: int = 0
    quota_reset_s: float = 0.0
    refused: str = ""
    measured: bool = False


class Limits:
    """A rate over a sliding window and a quota. Refused requests count against neither. Not thread-safe.

    Args:
        rate: requests a second; below 1 one request in ``1 / rate`` seconds. None is no limit.
        quota: requests until the plan is used up. None is no limit.
        quota_reset_s: how long the plan's period still lasts, from now.
    """

    def __init__(
        self, clock: Clock, *, rate: float | None, quota: int | None, quota_reset_s: float = 1_209_600.0
    ) -> None:
        if rate is not None and rate <= 0:
            raise ValueError(f"a rate is above 0, not {rate!r}")
        self._clock = clock
        self._window_s = 1.0 if rate is None or rate >= 1 else 1.0 / rate
        self._limit = None if rate is None else max(1, int(rate))
        self._recent: deque[float] = deque()
        self._quota = quota
        self._used = 0
        self._quota_ends = clock.monotonic() + quota_reset_s

    def take(self) -> str | None:
        """Count a request, or say which fault refuses it: ``quota`` or ``rate_limited``."""
        now = self._forget()
        if self._quota is not None and self._used >= self._quota:
            return "quota"
        if self._limit is not None and len(self._recent) >= self._limit:
            return "rate_limited"
        self._used += 1
        if self._limit is not None:
            self._recent.append(now)
        return None

    def state(self, fault: str | None = None) -> RateState:
        """The limits as they stand; ``fault`` (of ``take`` or of a script) shows as its own exhaustion."""
        now = self._forget()
        limit, quota = self._limit, self._quota
        measured = fault == "rate_limited" and limit is not None and len(self._recent) >= limit
        remaining = max(0, limit - len(self._recent)) if limit is not None else 0
        reset_s = self._recent[0] + self._window_s - now if self._recent else 0.0
        left = max(0, quota - self._used) if quota is not None else 0
        if fault == "rate_limited":
            limit, remaining, reset_s = limit or 1, 0, reset_s or self._window_s
        if fault == "quota":
            quota, left = quota or 2_000, 0
        return RateState(
            limit=limit,
            remaining=remaining,
            window_s=self._window_s,
            reset_s=reset_s,
            quota=quota,
            quota_remaining=left,
            quota_reset_s=max(0.0, self._quota_ends - now),
            refused=fault if fault in ("rate_limited", "quota") else "",
            measured=measured or (fault == "quota" and self._quota is not None and self._used >= self._quota),
        )

    def _forget(self) -> float:
        now = self._clock.monotonic()
        while self._recent and self._recent[0] + self._window_s <= now:
            self._recent.popleft()
        return now
