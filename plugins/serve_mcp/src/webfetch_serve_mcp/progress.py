"""Progress of a call: webfetch's events, as one line that says what is going on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from webfetch_core.api import Event

_STAGES = {"rank": "ranking", "compress": "compressing"}
MAX_CHARS = 300


class Watcher:
    """Takes the events of one call, and tells each new line. Events come from many threads."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._engines: dict[str, str] = {}
        self._pages: dict[str, bool] = {}
        self._now = ""
        self._line = ""

    def take(self, event: Event) -> None:
        """Take in one event."""
        with self._lock:
            self._note(event)
            line = self._told()[:MAX_CHARS]
            if line == self._line:
                return
            self._line = line
            self._tell(line)

    def _note(self, event: Event) -> None:
        if event.name == "search.started":
            self._now = "looking into the cache"
        elif event.name == "call.started" and event.stage == "search":
            self._now = ""
            self._engines.setdefault(event.provider, "asked")
        elif event.name == "call.started" and event.stage == "fetch":
            self._now = ""
            self._pages.setdefault(event.target, False)
        elif event.name == "call.started" and event.stage in _STAGES:
            self._now = _STAGES[event.stage]
        elif event.name == "call.finished" and event.stage == "search":
            found = event.outcome in ("ok", "empty")
            self._engines[event.provider] = f"{event.count} hits" if found else event.outcome
        elif event.name == "call.finished" and event.stage == "fetch":
            self._pages[event.target] = True
        elif event.name == "cache.hit":
            self._now = "found in the cache"

    def _told(self) -> str:
        parts = []
        if self._engines:
            parts.append("engines: " + ", ".join(f"{name} {told}" for name, told in self._engines.items()))
        if self._pages:
            parts.append(f"pages: {sum(self._pages.values())} of {len(self._pages)} read")
        if self._now:
            parts.append(self._now)
        return "; ".join(parts)


class Watchers:
    """Finds the call that an event belongs to: by its request, or by the thread that it happened in."""

    def __init__(self) -> None:
        self._threads: dict[int, Watcher] = {}
        self._requests: dict[str, Watcher] = {}

    @contextmanager
    def watching(self, watcher: Watcher | None) -> Iterator[None]:
        """Give ``watcher`` the events of what the calling thread does meanwhile."""
        if watcher is None:
            yield
            return
        thread = threading.get_ident()
        self._threads[thread] = watcher
        try:
            yield
        finally:
            del self._threads[thread]
            for request in [key for key, value in list(self._requests.items()) if value is watcher]:
                self._requests.pop(request, None)

    def take(self, event: Event) -> None:
        """Hand on one event; called in the thread where it happens."""
        if not self._threads or not event.request_id:  # what prepares a search is no part of it
            return
        watcher = self._threads.get(threading.get_ident())
        if watcher is not None and event.name == "search.started":
            self._requests[event.request_id] = watcher
        watcher = watcher or self._requests.get(event.request_id)
        if watcher is not None:
            watcher.take(event)
