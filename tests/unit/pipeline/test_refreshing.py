"""A stale answer is refreshed once: over threads, over processes, and also by a command that ends."""

from __future__ import annotations

import multiprocessing
import os
import threading
from functools import partial
from typing import Any

import pytest

from webfetch_core.api import Unavailable
from webfetch_core.pipeline.cache_rows import NEGATIVE
from webfetch_core.pipeline.refreshing import GRACE_S, Refreshes
from webfetch_core.testing import FakeClock, MemoryCache

URL = "https://a.example/"
PAGES = {URL: "A page\n\nThe lighthouse keeper of this place says a word or two."}
DAY = 86_400.0


def asked(one: Any) -> int:
    return len(one.engines["alpha"].calls)


def ended(one: Any, calls: int) -> bool:
    return asked(one) == calls and one.wf.host.tasks.running == 0


class Gate:
    """An engine that answers when it is let."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()

    def __call__(self, request: Any) -> list[str]:
        self.open.wait(30)
        return [URL]


def leases(cache: MemoryCache) -> list[bytes]:
    return [value for _, value in cache.scan(NEGATIVE) if b'"refreshing"' in value]


def test_another_process_leaves_it_to_the_first(world: Any, until: Any) -> None:
    cache, clock, gate = MemoryCache(), FakeClock(), Gate()
    one = world(engines={"alpha": [gate]}, pages=PAGES, cache=cache, clock=clock)
    other = world(engines={"alpha": [[URL]]}, pages=PAGES, cache=cache, clock=clock)
    one.search()
    clock.advance(8 * DAY)
    gate.open.clear()
    assert one.search().provenance.kind == "stale"
    until(lambda: asked(one) == 2)
    for _ in range(3):
        assert other.search().provenance.kind == "stale"
        until(lambda: other.wf.host.tasks.running == 0)
    assert asked(other) == 0
    gate.open.set()
    until(lambda: one.wf.host.tasks.running == 0)
    assert other.search().provenance.kind == "exact"
    assert not leases(cache)


def test_the_lease_of_one_that_was_killed_runs_out(world: Any, until: Any) -> None:
    cache, clock, gate = MemoryCache(), FakeClock(), Gate()
    dead = world(engines={"alpha": [gate]}, pages=PAGES, cache=cache, clock=clock)
    dead.search(deadline_s=5)
    clock.advance(8 * DAY)
    gate.open.clear()
    dead.search(deadline_s=5)
    until(lambda: asked(dead) == 2)
    other = world(engines={"alpha": [[URL]]}, pages=PAGES, cache=cache, clock=clock)
    clock.advance(5 + GRACE_S - 1)
    other.search(deadline_s=5)
    until(lambda: other.wf.host.tasks.running == 0)
    assert asked(other) == 0
    clock.advance(1)
    other.search(deadline_s=5)
    until(lambda: asked(other) == 1 and other.wf.host.tasks.running == 0)
    assert other.search(deadline_s=5).provenance.kind == "exact"
    gate.open.set()


def test_who_misses_while_another_finds_it_searches_no_more(world: Any) -> None:
    """A thread that asked the cache before the other's run ended, and went on after it."""
    cache, clock = MemoryCache(), FakeClock()
    one = world(engines={"alpha": [[URL]]}, pages=PAGES, cache=cache, clock=clock)
    other = world(engines={"alpha": [[URL]]}, pages=PAGES, cache=cache, clock=clock)
    recall = one.wf._open(1.0).pipeline._recall
    find = recall.find

    def late(*args: Any, **options: Any) -> Any:
        missed = find(*args, **options)
        other.search()
        return missed

    recall.find = late
    assert one.search().provenance.kind == "exact"
    assert (asked(one), asked(other)) == (0, 1)
    assert one.search(force_fresh=True).provenance.kind == "fresh"


def test_one_that_failed_gives_the_lease_back(world: Any, until: Any) -> None:
    cache, clock = MemoryCache(), FakeClock()
    one = world(engines={"alpha": [[URL], Unavailable("down"), [URL]]}, pages=PAGES, cache=cache, clock=clock)
    one.search()
    clock.advance(8 * DAY)
    for calls in (2, 3):
        assert one.search().provenance.kind == "stale"
        until(partial(ended, one, calls))
        assert not leases(cache)
    assert one.search().provenance.kind == "exact"


def test_who_comes_after_it_is_done_starts_none(world: Any, until: Any) -> None:
    """A thread that was served the stale answer, and went on only when the new one was there."""
    one = world(pages=PAGES)
    refreshes = Refreshes(one.wf.host, one.wf._open(1.0).store)
    done: list[str] = []
    for is_done in (True, False):
        refreshes.start(b"k", lambda: done.append("work"), is_done=partial(bool, is_done), within_s=1.0)
        refreshes.settle(30)
        assert done == ([] if is_done else ["work"])


def test_work_that_raises_is_no_end_of_refreshing(world: Any) -> None:
    one = world(pages=PAGES)
    refreshes = Refreshes(one.wf.host, one.wf._open(1.0).store)
    done: list[str] = []

    def work() -> None:
        done.append("work")
        raise RuntimeError("a fault of ours")

    for number in (1, 2):
        refreshes.start(b"k", work, is_done=lambda: False, within_s=1.0)
        refreshes.settle(30)
        assert len(done) == number


def test_closing_lets_it_end(world: Any) -> None:
    cache, clock, gate = MemoryCache(), FakeClock(), Gate()
    one = world(engines={"alpha": [gate]}, pages=PAGES, cache=cache, clock=clock)
    one.search()
    clock.advance(8 * DAY)
    gate.open.clear()
    assert one.search().provenance.kind == "stale"
    closing = threading.Thread(target=one.wf.close)
    closing.start()
    gate.open.set()
    closing.join(30)
    later = world(engines={"alpha": [[URL]]}, pages=PAGES, cache=cache, clock=clock)
    assert later.search(cache_only=True).provenance.kind == "exact"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_refreshes_what_its_parent_does(world: Any, until: Any) -> None:
    """The parent's thread is not there in the child: what it had begun would never end."""
    one = world(pages=PAGES)
    refreshes = Refreshes(one.wf.host, one.wf._open(1.0).store)
    gate = threading.Event()
    refreshes.start(b"k", lambda: gate.wait(30), is_done=lambda: False, within_s=1.0)
    context = multiprocessing.get_context("fork")
    told = context.SimpleQueue()

    def child() -> None:
        refreshes.settle(30)  # nothing runs here
        refreshes.start(b"other", lambda: told.put("done"), is_done=lambda: False, within_s=1.0)
        refreshes.settle(30)

    process = context.Process(target=child)
    process.start()
    process.join(60)
    gate.set()
    assert process.exitcode == 0
    assert told.get() == "done"
    refreshes.settle(30)
