"""A store of bytes in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..models import CacheChange


class MemoryCache:
    """A store of bytes in memory that keeps the whole contract but outliving the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[str, dict[bytes, bytes]] = {}
        self._log: dict[str, list[CacheChange]] = {}

    def get(self, space: str, key: bytes) -> bytes | None:
        with self._lock:
            return self._rows.get(space, {}).get(key)

    def put(self, space: str, key: bytes, value: bytes) -> None:
        with self._lock:
            self._rows.setdefault(space, {})[key] = bytes(value)
            self._note(space, key, deleted=False)

    def get_many(self, space: str, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        with self._lock:
            rows = self._rows.get(space, {})
            return {key: rows[key] for key in keys if key in rows}

    def put_many(self, space: str, rows: Mapping[bytes, bytes]) -> None:
        for key, value in rows.items():
            self.put(space, key, value)

    def delete(self, space: str, key: bytes) -> bool:
        with self._lock:
            there = self._rows.get(space, {}).pop(key, None) is not None
            if there:
                self._note(space, key, deleted=True)
            return there

    def scan(self, space: str) -> Iterator[tuple[bytes, bytes]]:
        with self._lock:
            rows = list(self._rows.get(space, {}).items())
        return iter(rows)

    def changes(self, space: str, since: int) -> Iterator[CacheChange]:
        with self._lock:
            rows = [row for row in self._log.get(space, ()) if row.sequence > since]
        return iter(rows)

    def clear(self, space: str) -> int:
        with self._lock:
            rows = self._rows.pop(space, {})
            for key in rows:
                self._note(space, key, deleted=True)
            return len(rows)

    def stats(self) -> Mapping[str, Any]:
        with self._lock:
            size = sum(len(k) + len(v) for rows in self._rows.values() for k, v in rows.items())
            entries = {space: len(rows) for space, rows in self._rows.items()}
        return {"path": "", "bytes": size, "entries": entries}

    def _note(self, space: str, key: bytes, *, deleted: bool) -> None:
        log = self._log.setdefault(space, [])
        log.append(CacheChange(sequence=len(log) + 1, key=key, deleted=deleted))
