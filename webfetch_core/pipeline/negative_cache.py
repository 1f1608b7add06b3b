"""A short memory of pages that gave nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..models import FailedUrl
from ..providers import Clock
from ..settings import TtlSettings
from ..stages import Cache
from .cache_rows import NEGATIVE, decode_row, encode_row, url_key
from .lifetimes import CLOCK_SLACK_S
from .tolerant_store import OnError, TolerantStore

_MEMORY = {
    **dict.fromkeys(("not_found", "too_large", "unsupported_type", "encrypted", "no_text_layer"), 1.0),
    **dict.fromkeys(("redirect_loop", "bad_encoding"), 1.0),
    **dict.fromkeys(("blocked", "rate_limited", "login", "consent", "paywall", "empty", "auth"), 0.6),
    **dict.fromkeys(("timeout", "unavailable", "bad_response"), 0.2),
}
"""Share of ``ttl.negative_s`` for which a failure is remembered. Kinds that are not here say
something of this host or its settings, not of the page, and are forgotten at once."""


class NegativeCache:
    """A short memory of pages that gave nothing, by canonical URL.

    Args:
        means: names what pages are had by, at the time of each use. Where one process has a browser or reads
            PDF, the failures of another that does not are none of its own.
    """

    def __init__(
        self,
        cache: Cache | TolerantStore | None,
        clock: Clock,
        ttl: TtlSettings,
        on_error: OnError | None = None,
        *,
        means: Callable[[], str] = str,
    ) -> None:
        self._store = TolerantStore.over(cache, on_error)
        self._clock = clock
        self._ttl = ttl
        self._means = means

    def remember(self, url: str, kind: str, reason: str = "", *, at_most_s: float | None = None) -> bool:
        """Note a failure of an error ``kind``; say whether it is one to remember.

        ``at_most_s`` is when the other side said to come back, in seconds: no longer than that.
        """
        if kind not in _MEMORY or self._ttl.negative_s <= 0:
            return False
        facts: dict[str, Any] = {"url": url, "kind": kind, "reason": reason}
        if at_most_s is not None:
            facts["at_most_s"] = at_most_s
        return self._store.put(NEGATIVE, self._key(url), encode_row(self._clock.time(), facts))

    def recall(self, url: str, *, force_fresh: bool = False) -> FailedUrl | None:
        """Return the failure while it is remembered; ``force_fresh`` asks for another try."""
        if force_fresh:
            return None
        key = self._key(url)
        value = self._store.get(NEGATIVE, key)
        if value is None:
            return None
        row = decode_row(value)
        kind = str(row.facts.get("kind", "")) if row else ""
        age: float = self._clock.time() - row.at if row else 0.0
        memory_s = _MEMORY.get(kind, 0.0) * self._ttl.negative_s
        if row is not None and isinstance(told := row.facts.get("at_most_s"), (int, float)):
            memory_s = min(memory_s, told)
        if row is None or not -CLOCK_SLACK_S <= age < memory_s:
            self._store.delete(NEGATIVE, key)
            return None
        return FailedUrl(url=url, kind=kind, reason=str(row.facts.get("reason", "")))

    def forget(self, url: str) -> bool:
        """Drop the memory of a page that was fetched after all."""
        return self._store.delete(NEGATIVE, self._key(url))

    def _key(self, url: str) -> bytes:
        means = self._means()
        return url_key(f"{means} {url}" if means else url)
