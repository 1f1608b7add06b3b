"""Manners by host: a distance between requests, and leaving alone who asked for it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from webfetch_core.api import Clock, RateLimited

MAX_HOSTS = 2_048
"""Hosts that are remembered; the one that was asked longest ago goes first."""


class Politeness:
    """Turns and rests of hosts. Thread-safe; nothing is held while a thread sleeps."""

    def __init__(self, clock: Clock, max_rest_s: float, sleep: Callable[[float], None] = time.sleep) -> None:
        """Take what it works with.

        Args:
            clock: of deadlines.
            max_rest_s: a host that asks for a longer rest is left alone this long.
            sleep: stands in for ``time.sleep``.
        """
        self._clock = clock
        self._max_rest_s = max_rest_s
        self._sleep = sleep
        self._turns: OrderedDict[str, float] = OrderedDict()
        self._rests: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, host: str, distance_s: float, deadline: float | None) -> None:
        """Return when ``host`` may be asked again, ``distance_s`` after the request before this one.

        Raises:
            RateLimited: of kind ``busy``: the turn would come after ``deadline``, and is left to others.
        """
        with self._lock:
            now = self._clock.monotonic()
            turn = max(now, self._turns.get(host, now - distance_s) + distance_s) if distance_s > 0 else now
            if deadline is not None and turn > now and turn >= deadline:
                raise RateLimited(
                    f"{host} wants {distance_s:g} s between requests, and others are before this one",
                    kind="busy",
                    retry_after_s=turn - now,
                )
            _put(self._turns, host, turn)
        if turn > now:
            self._sleep(turn - now)

    def rest(self, host: str, wait_s: float | None) -> None:
        """Note that ``host`` asked to be left alone for ``wait_s`` seconds; None and 0 ask for nothing."""
        if not wait_s:
            return
        with self._lock:
            _put(self._rests, host, self._clock.monotonic() + min(wait_s, self._max_rest_s))

    def require_rested(self, host: str) -> None:
        """Raises RateLimited, with what is left in ``retry_after_s``, while ``host`` wants its rest."""
        with self._lock:
            left = self._rests.get(host, float("-inf")) - self._clock.monotonic()
            if left <= 0:
                self._rests.pop(host, None)
                return
        raise RateLimited(
            f"{host} asked to be left alone for {left:.0f} s more",
            fix="name the page, with force_fresh, to ask all the same",
            retry_after_s=left,
        )


def _put(memory: OrderedDict[str, float], host: str, moment: float) -> None:
    memory[host] = moment
    memory.move_to_end(host)
    if len(memory) > MAX_HOSTS:
        memory.popitem(last=False)
