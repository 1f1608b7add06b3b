"""What a child that was forked in the midst of things is not bound by."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

from webfetch_core.forks import PerProcess
from webfetch_core.models import Freshness
from webfetch_core.pipeline.query_index import Asked, QueryIndex
from webfetch_core.pipeline.single_flight import SingleFlight
from webfetch_core.pipeline.tolerant_store import TolerantStore
from webfetch_core.testing import MemoryCache

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def in_child(check: Callable[[], bool]) -> bool:
    """Whether ``check`` holds in a forked child; False as well when it does not end."""
    child = os.fork()
    if child == 0:
        good = False
        try:
            worker: list[bool] = []
            thread = threading.Thread(target=lambda: worker.append(check()), daemon=True)
            thread.start()
            thread.join(20)
            good = worker == [True]
        finally:
            os._exit(0 if good else 1)
    return os.waitpid(child, 0)[1] == 0


class Slow(MemoryCache):
    """A store whose writes wait, those of its own process alone."""

    def __init__(self) -> None:
        super().__init__()
        self.pid = os.getpid()
        self.entered = threading.Event()
        self.gate = threading.Event()

    def put(self, space: str, key: bytes, value: bytes) -> None:
        if os.getpid() == self.pid:
            self.entered.set()
            self.gate.wait(30)
        super().put(space, key, value)


def test_a_write_that_is_under_way_does_not_stop_those_of_a_child() -> None:
    cache = Slow()
    store = TolerantStore(cache, wait_s=5.0)
    store.put_behind("stats", b"k", lambda: b"parent")
    assert cache.entered.wait(20)
    store.put_behind("stats", b"k", lambda: b"parent, later")  # it waits for its turn

    def check() -> bool:
        store.put_behind("stats", b"k", lambda: b"child")
        store.settle()
        return cache.get("stats", b"k") == b"child" and not store.trouble

    try:
        assert in_child(check)
    finally:
        cache.gate.set()
    store.settle()


def test_a_child_does_not_wait_for_a_flight_of_its_parent() -> None:
    flight, gate, started = SingleFlight(), threading.Event(), threading.Event()

    def run() -> str:
        started.set()
        gate.wait(30)
        return "parent"

    leader = threading.Thread(target=lambda: flight.do(b"k", run))
    leader.start()
    assert started.wait(20)
    try:
        assert in_child(
            lambda: not flight.running(b"k") and flight.do(b"k", lambda: "child") == ("child", False)
        )
        assert flight.running(b"k")
    finally:
        gate.set()
        leader.join(20)


def test_all_threads_of_a_child_get_the_same_new_value() -> None:
    made = PerProcess(threading.Lock)
    parents = made()

    def check() -> bool:
        got: list[Any] = []
        threads = [threading.Thread(target=lambda: got.append(made())) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(set(map(id, got))) == 1 and got[0] is not parents

    assert in_child(check)
    assert made() is parents


def test_a_child_reads_the_index_of_queries_whoever_held_it() -> None:
    index = QueryIndex(TolerantStore(MemoryCache()))
    index.note(Asked(space="queries", key=b"k", query="tide", scope="s", at=1.0, freshness=Freshness.STABLE))
    gate, held = threading.Event(), threading.Event()

    class Slow(str):
        """A scope that takes its time to be looked for, as a sort of many queries does."""

        def __hash__(self) -> int:
            if threading.current_thread() is holder:
                held.set()
                gate.wait(30)
            return str.__hash__(self)

    holder = threading.Thread(target=lambda: index.view(Slow("s")))
    holder.start()
    assert held.wait(20)
    try:
        assert in_child(lambda: index.view("s").texts == ("tide",))
    finally:
        gate.set()
        holder.join(20)
    assert index.view("s").texts == ("tide",)
