"""What Brave's rate headers say. Pure.

Each header lists one value a tier, the shortest window first: ``X-RateLimit-Limit: 1, 15000``,
``-Policy: 1;w=1, 15000;w=2592000`` (windows in seconds), ``-Remaining: 1, 1000``,
``-Reset: 1, 1419704`` (seconds from now). A limit of 0 is no limit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attrs import frozen

_WINDOWS_S = (1.0, 2_592_000.0)  # a second and thirty days, where no policy says otherwise
_LONG_S = 3_600.0
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,6})?\Z")
_POLICY_WINDOW = re.compile(r";\s*w\s*=\s*(\d{1,12})")


@frozen(kw_only=True)
class Tier:
    """One limit of a plan; what a header does not tell is None."""

    limit: float
    window_s: float
    remaining: float | None = None
    reset_s: float | None = None

    @property
    def long(self) -> bool:
        """Whether it is a quota (a day, a month) rather than a rate."""
        return self.window_s > _LONG_S


def tiers(headers: Mapping[str, str]) -> tuple[Tier, ...]:
    """The limits that apply; ``headers`` have lower-case names. Values that are no numbers are skipped."""
    policy = _items(headers, "policy")
    limits = [_number(item.partition(";")[0]) for item in policy] or _numbers(headers, "limit")
    windows = [float(m[1]) if (m := _POLICY_WINDOW.search(item)) else None for item in policy]
    remaining, reset = _numbers(headers, "remaining"), _numbers(headers, "reset")
    found = []
    for at, limit in enumerate(limits):
        window = _at(windows, at) or _at(_WINDOWS_S, at)
        if limit and window:
            found.append(
                Tier(limit=limit, window_s=window, remaining=_at(remaining, at), reset_s=_at(reset, at))
            )
    return tuple(found)


def calls_per_s(known: Sequence[Tier]) -> float | None:
    """The pace that keeps to every short tier, or None when none is known."""
    return min((t.limit / t.window_s for t in known if not t.long), default=None)


def used_up(known: Sequence[Tier]) -> Tier | None:
    """The quota that nothing is left of, if there is one."""
    return next((t for t in known if t.long and t.remaining == 0), None)


def pause_s(known: Sequence[Tier]) -> float | None:
    """How long the short tier that is used up wants to be left alone, where it says so."""
    waits = [t.reset_s for t in known if not t.long and t.remaining == 0 and t.reset_s is not None]
    return max(1.0, *waits) if waits else None


def _items(headers: Mapping[str, str], name: str) -> list[str]:
    value = headers.get(f"x-ratelimit-{name}", "")
    return [item.strip() for item in value.split(",")] if value.strip() else []


def _numbers(headers: Mapping[str, str], name: str) -> list[float | None]:
    return [_number(item) for item in _items(headers, name)]


def _number(text: str) -> float | None:
    text = text.strip()
    return float(text) if text.isascii() and _NUMBER.match(text) else None


def _at(values: Sequence[float | None], index: int) -> float | None:
    return values[index] if index < len(values) else None
