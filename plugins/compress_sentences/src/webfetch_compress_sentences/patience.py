"""Work that may be slow, for as long as there is time: what was done by then is what there is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def in_time(steps: Iterable[Callable[[], T]], seconds: float) -> list[T]:
    """Run ``steps`` one after the other in a thread of their own; return what those in time gave.

    The first that raises is the last: what was there before it still counts. A step that hangs is left
    behind, and none is begun after it.

    Args:
        seconds: to wait at most, for all steps together.
    """
    done: SimpleQueue[T | None] = SimpleQueue()
    late = threading.Event()

    def run() -> None:
        try:
            for step in steps:
                if late.is_set():
                    return
                done.put(step())
        except Exception:  # whoever gave the work has recorded why; here it only means that there is no more
            pass
        finally:
            done.put(None)

    threading.Thread(target=run, name="compress-sentences", daemon=True).start()
    end = time.monotonic() + seconds
    results: list[T] = []
    while True:
        try:
            result = done.get(timeout=max(0.0, end - time.monotonic()))
        except Empty:
            late.set()
            return results
        if result is None:
            return results
        results.append(result)
