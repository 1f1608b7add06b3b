"""Events: emitted once, seen by the host's listeners and the plugins' observers, kept per request.

A request's attempts and trace are read off its events, so nothing can be told twice in two ways.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..events import Event
from ..log import get_logger
from ..models import Attempt, Span
from ..providers import Clock

_log = get_logger("events")

Listener = Callable[[Event], None]
CALLS = ("call.finished", "call.left_behind")
OBSERVER_QUEUE = 10_000
"""Events that may wait for a slow observer; beyond that they are dropped and counted."""


class Emitter:
    """Hands events on. Listeners (the host's own code) are called in the emitting thread, plugins'
    observers in one thread of their own: neither can fail or delay a request."""

    def __init__(self, observers: Iterable[tuple[str, Listener]] = ()) -> None:
        self._observers = tuple(observers)
        self._listeners: tuple[Listener, ...] = ()
        self._lock = threading.Lock()
        self._queue: queue.Queue[Event | None] = queue.Queue(OBSERVER_QUEUE)
        self._thread: threading.Thread | None = None
        self.dropped = 0

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every event from now on; returns what ends that."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            with self._lock:
                self._listeners = tuple(x for x in self._listeners if x is not listener)

        return unsubscribe

    def emit(self, event: Event) -> None:
        """Hand on one event."""
        for listener in self._listeners:
            try:
                listener(event)
            except Exception as exc:
                _log.warning("listener.failed", event_name=event.name, error=repr(exc))
        if self._observers:
            self._start()
            try:
                self._queue.put_nowait(event)
            except queue.Full:
                self.dropped += 1

    def close(self, timeout_s: float = 0.5) -> None:
        """Let the observers see what is queued, for at most ``timeout_s``."""
        if self._thread is not None:
            try:
                self._queue.put_nowait(None)
            except queue.Full:
                return
            self._thread.join(timeout_s)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._pump, name="webfetch-observers", daemon=True)
                self._thread.start()

    def _pump(self) -> None:
        while (event := self._queue.get()) is not None:
            for plugin, observer in self._observers:
                try:
                    observer(event)
                except BaseException as exc:  # SystemExit of one must not silence the others
                    _log.warning("observer.failed", plugin=plugin, event_name=event.name, error=repr(exc))


def _work(event: Event) -> tuple[str, str]:
    """What is left behind as one: an engine, or a page with all that is done to it."""
    return ("search", event.provider) if event.stage == "search" else ("page", event.target)


class Scope:
    """The events of one request."""

    def __init__(self, emitter: Emitter, clock: Clock, request_id: str = "") -> None:
        self._emitter = emitter
        self._clock = clock
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self.request_id = request_id
        self.started = clock.monotonic()

    def emit(self, name: str, **fields: Any) -> None:
        """Record and hand on an event of this request."""
        event = Event(name=name, at=self._clock.monotonic(), request_id=self.request_id, **fields)
        with self._lock:
            self._events.append(event)
        self._emitter.emit(event)

    def events(self) -> tuple[Event, ...]:
        """What has happened so far."""
        with self._lock:
            return tuple(self._events)

    def attempts(self) -> tuple[Attempt, ...]:
        """Every call that finished or was left behind, in that order.

        What a call did after it was left behind is not part of the request; an engine that ended in
        the very moment in which it was left behind did end.
        """
        return tuple(
            Attempt(
                stage=e.stage,
                provider=e.provider,
                outcome=e.outcome,
                reason=e.reason,
                elapsed_s=round(e.elapsed_s, 4),
                count=e.count,
                cost_usd=e.cost_usd,
                target=e.target,
            )
            for e in self._calls()
        )

    def _calls(self) -> Iterator[Event]:
        behind: set[tuple[str, str]] = set()
        answered: set[tuple[str, str]] = set()
        for event in self.events():
            work = _work(event)
            if event.name == "call.left_behind" and work not in answered:
                behind.add(work)
                yield event
            elif event.name == "call.finished" and work not in behind:
                if event.stage == "search":  # a page is more than one call
                    answered.add(work)
                yield event

    def trace(self) -> tuple[Span, ...]:
        """The waterfall: one bar per call and per stage, by start."""
        calls = set(map(id, self._calls()))
        spans = [
            Span(
                stage=e.stage,
                name=e.provider if e.name in CALLS else "",
                start_s=round(max(0.0, e.at - e.elapsed_s - self.started), 4),
                end_s=round(e.at - self.started, 4),
                note=" ".join(x for x in (e.outcome if e.outcome != "ok" else "", e.reason, e.target) if x),
            )
            for e in self.events()
            if id(e) in calls or e.name == "stage.finished"
        ]
        return tuple(sorted(spans, key=lambda s: (s.start_s, s.end_s)))
