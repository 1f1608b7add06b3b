"""How many pages are fetched from one host at the same time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import TimedOut
from .cancelling import Slots, current, require_wanted


class HostSlots:
    """Slots by host; a host that nobody waits for takes no memory. Thread-safe."""

    def __init__(self, per_host: int) -> None:
        self._per_host = per_host
        self._slots: dict[str, tuple[Slots, list[int]]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def hold(self, host: str, wait_s: float) -> Iterator[None]:
        """Hold a slot of ``host``.

        Raises:
            TimedOut: none became free within ``wait_s`` seconds; of kind ``cancelled``, the caller did.
        """
        with self._lock:
            slots, users = self._slots.setdefault(host, (Slots(self._per_host), [0]))
            users[0] += 1
        try:
            if not slots.acquire(max(wait_s, 0.0), current()):
                require_wanted()
                raise TimedOut(f"{host} was busy with {self._per_host} other pages until the deadline")
            try:
                yield
            finally:
                slots.release()
        finally:
            with self._lock:
                users[0] -= 1
                if not users[0]:
                    del self._slots[host]
