"""A store that never stops a search."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from ..stages import Cache

OnError = Callable[[str], None]


class TolerantStore:
    """A Cache that never raises: a failed read is a miss, a failed write is dropped.

    Args:
        cache: the store, or how to get it at the time of each use; None stands for one that is
            always empty.
        on_error: told the reason, once for each kind of fault.
    """

    def __init__(
        self, cache: Cache | Callable[[], Cache | None] | None, on_error: OnError | None = None
    ) -> None:
        self._find = cache if callable(cache) else lambda: cache
        self._on_error = on_error
        self._told: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    @classmethod
    def over(cls, cache: Cache | TolerantStore | None, on_error: OnError | None = None) -> TolerantStore:
        """Return ``cache`` if it is one already, so that several policies report a fault once."""
        return cache if isinstance(cache, cls) else cls(cache, on_error)  # type: ignore[arg-type]

    def get(self, space: str, key: bytes) -> bytes | None:
        cache = self._find()
        if cache is None:
            return None
        try:
            return cache.get(space, key)
        except Exception as exc:
            self._tell("read", exc)
            return None

    def put(self, space: str, key: bytes, value: bytes) -> bool:
        """Store; say whether it worked."""
        cache = self._find()
        if cache is None:
            return False
        try:
            cache.put(space, key, value)
        except Exception as exc:
            self._tell("write", exc)
            return False
        return True

    def delete(self, space: str, key: bytes) -> bool:
        cache = self._find()
        if cache is None:
            return False
        try:
            return cache.delete(space, key)
        except Exception as exc:
            self._tell("write", exc)
            return False

    def scan(self, space: str) -> Iterator[tuple[bytes, bytes]]:
        cache = self._find()
        if cache is None:
            return
        try:
            yield from cache.scan(space)
        except Exception as exc:
            self._tell("read", exc)

    def _tell(self, what: str, exc: Exception) -> None:
        kind = (what, type(exc).__name__)
        with self._lock:
            if kind in self._told:
                return
            self._told.add(kind)
        if self._on_error is not None:
            self._on_error(f"the cache could not {what}: {exc or type(exc).__name__}")
