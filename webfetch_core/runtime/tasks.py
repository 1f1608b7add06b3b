"""Background work that may be left behind: daemon threads, so that none of it can hold up an exit."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..log import get_logger

_log = get_logger("tasks")


class Tasks:
    """Starts daemon threads and knows how many still run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0

    @property
    def running(self) -> int:
        with self._lock:
            return self._running

    def spawn(self, work: Callable[[], object], name: str) -> None:
        """Run ``work`` in a thread of its own. It handles its own errors; what escapes is logged."""

        def body() -> None:
            try:
                work()
            except BaseException as exc:
                _log.error("task.failed", task=name, exc_info=exc)
            finally:
                self._count(-1)

        self._count(1)
        try:
            threading.Thread(target=body, name=f"webfetch-{name}", daemon=True).start()
        except BaseException:
            self._count(-1)
            raise

    def _count(self, by: int) -> None:
        with self._lock:
            self._running += by
