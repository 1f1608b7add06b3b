"""Events reach listeners and observers, and neither can hurt a request."""

from __future__ import annotations

import threading
from typing import Any

from webfetch_core.events import Event
from webfetch_core.runtime import emitter as module
from webfetch_core.runtime.emitter import Emitter, Scope
from webfetch_core.testing import FakeClock


def event(name: str = "search.started", **fields: Any) -> Event:
    return Event(name=name, at=0.0, **fields)


def test_listeners_hear_until_they_unsubscribe() -> None:
    emitter = Emitter()
    heard: list[str] = []
    end = emitter.subscribe(lambda e: heard.append(e.name))
    emitter.emit(event("search.started"))
    end()
    emitter.emit(event("search.finished"))
    assert heard == ["search.started"]


def test_a_listener_that_raises_does_not_stop_the_next() -> None:
    emitter = Emitter()
    heard: list[str] = []

    def raising(_: Event) -> None:
        raise RuntimeError("boom")

    emitter.subscribe(raising)
    emitter.subscribe(lambda e: heard.append(e.name))
    emitter.emit(event())
    assert heard == ["search.started"]


def test_observers_hear_in_order_and_one_that_raises_does_not_stop_the_next() -> None:
    heard: list[str] = []

    def raising(_: Event) -> None:
        raise RuntimeError("boom")

    emitter = Emitter([("bad", raising), ("good", lambda e: heard.append(e.name))])
    for n in range(20):
        emitter.emit(event(f"e{n}"))
    emitter.close(5)
    assert heard == [f"e{n}" for n in range(20)]


def test_an_observer_that_exits_does_not_end_the_observing() -> None:
    heard: list[str] = []

    def exiting(_: Event) -> None:
        raise SystemExit(3)

    emitter = Emitter([("bad", exiting), ("good", lambda e: heard.append(e.name))])
    emitter.emit(event("first"))
    emitter.emit(event("second"))
    emitter.close(5)
    assert heard == ["first", "second"]


def test_a_hanging_observer_neither_delays_nor_fills_the_memory(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "OBSERVER_QUEUE", 5)
    release = threading.Event()
    emitter = Emitter([("slow", lambda e: release.wait(10))])
    for _ in range(20):
        emitter.emit(event())
    assert emitter.dropped >= 14
    emitter.close(0.05)
    release.set()


def test_no_observers_no_thread() -> None:
    before = threading.active_count()
    emitter = Emitter()
    emitter.emit(event())
    emitter.close()
    assert threading.active_count() == before


def scope(clock: FakeClock) -> Scope:
    return Scope(Emitter(), clock, "r1")


def test_attempts_are_read_off_the_events() -> None:
    clock = FakeClock()
    one = scope(clock)
    one.emit("call.started", stage="search", provider="ddg")
    clock.advance(0.25)
    one.emit(
        "call.finished", stage="search", provider="ddg", outcome="blocked", reason="wall", elapsed_s=0.25
    )
    (attempt,) = one.attempts()
    assert (attempt.stage, attempt.provider, attempt.outcome, attempt.reason) == (
        "search",
        "ddg",
        "blocked",
        "wall",
    )
    assert attempt.elapsed_s == 0.25
    assert all(e.request_id == "r1" for e in one.events())


def test_the_trace_is_ordered_by_start() -> None:
    clock = FakeClock()
    one = scope(clock)
    clock.advance(1.0)
    one.emit("call.finished", stage="fetch", provider="http", outcome="ok", elapsed_s=0.2, target="u")
    one.emit("stage.finished", stage="search", elapsed_s=1.0, count=3)
    one.emit("breaker.opened", stage="search", provider="x")
    spans = one.trace()
    assert [(s.stage, s.name, s.start_s, s.end_s) for s in spans] == [
        ("search", "", 0.0, 1.0),
        ("fetch", "http", 0.8, 1.0),
    ]


def test_scopes_of_two_requests_are_apart() -> None:
    emitter, clock = Emitter(), FakeClock()
    first, second = Scope(emitter, clock, "1"), Scope(emitter, clock, "2")
    first.emit("search.started")
    assert second.events() == () and len(first.events()) == 1


def test_an_engine_that_ends_in_the_moment_it_is_left_has_one_attempt() -> None:
    scope = Scope(Emitter(), FakeClock())
    scope.emit("call.finished", stage="search", provider="alpha", outcome="timeout")
    scope.emit("call.left_behind", stage="search", provider="alpha", outcome="timeout")
    scope.emit("call.finished", stage="fetch", provider="http", target="u", outcome="ok")
    scope.emit("call.left_behind", stage="fetch", target="u", outcome="timeout")
    scope.emit("call.finished", stage="extract", provider="html", target="u", outcome="ok")
    assert [(a.stage, a.outcome) for a in scope.attempts()] == [
        ("search", "timeout"),
        ("fetch", "ok"),
        ("fetch", "timeout"),
    ]
