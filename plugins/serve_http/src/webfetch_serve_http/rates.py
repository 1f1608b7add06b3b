"""How often one client may ask: a token bucket each. Pure but for what it remembers; time is a parameter."""

from __future__ import annotations

from collections import OrderedDict

MOST_CLIENTS = 10_000
"""Clients that are remembered; the one that was quiet for longest is forgotten first."""


class RateLimit:
    """``burst`` requests at once, then ``per_minute``."""

    def __init__(self, per_minute: float, burst: int) -> None:
        self._rate = per_minute / 60.0
        self._burst = float(burst)
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, now: float) -> float:
        """Count a request of ``client``. Returns 0 when it is let through, else the seconds to wait."""
        left, at = self._clients.pop(client, (self._burst, now))
        left = min(self._burst, left + max(now - at, 0.0) * self._rate)
        wait = 0.0 if left >= 1.0 else (1.0 - left) / self._rate
        self._clients[client] = (left - 1.0 if wait == 0.0 else left, max(now, at))
        if len(self._clients) > MOST_CLIENTS:
            self._clients.popitem(last=False)
        return wait
