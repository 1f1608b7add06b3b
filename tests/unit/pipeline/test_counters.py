"""Counters over processes: exact whatever is folded, forked or cut off, and never unbounded."""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.errors import CacheError
from webfetch_core.pipeline.counters import (
    DELETED_S,
    FOLD_FROM,
    FOLDED_S,
    NEW_ROW_S,
    PREFIX,
    TOTAL,
    Counters,
)
from webfetch_core.testing import FakeClock, MemoryCache

LONG_AGO = FOLDED_S + 1


def rows(cache: Any) -> dict[bytes, Any]:
    return {key: json.loads(value) for key, value in cache.scan("stats")}


def many(cache: Any, clock: FakeClock, number: int = FOLD_FROM) -> None:
    """So many processes that each counted one search."""
    for _ in range(number):
        Counters(cache, clock=clock).bump("searches")


def test_every_object_counts_for_itself_and_all_add_up() -> None:
    cache, clock = MemoryCache(), FakeClock()
    one, other = Counters(cache, clock=clock), Counters(cache, clock=clock)
    one.bump("searches")
    one.bump("searches", 2)
    other.bump_many({"searches": 4, "pages": 1})
    assert one.session() == {"searches": 3}
    assert one.lifetime() == other.lifetime() == {"searches": 7, "pages": 1}
    assert len(rows(cache)) == 2


def test_without_a_store_there_is_the_session() -> None:
    counters = Counters(None)
    counters.bump("searches")
    assert counters.session() == counters.lifetime() == {"searches": 1}


DAMAGED = [
    b"[1",
    b"",
    b"[]",
    b"7",
    b'{"searches": "x"}',
    b'{"searches": -5, "at": []}',
    b'{"folded": {"\xc4\x80": 1}}',
]


@pytest.mark.parametrize("value", DAMAGED)
def test_a_damaged_row_counts_nothing(value: bytes) -> None:
    cache = MemoryCache()
    Counters(cache).bump("searches")
    for key in (b"counter/damaged", TOTAL):
        cache.put("stats", key, value)
        assert Counters(cache).lifetime() == {"searches": 1}


def test_what_is_noted_is_written_with_the_next_that_is() -> None:
    cache = MemoryCache()
    counters = Counters(cache)
    counters.note({"chars": 5})
    assert not rows(cache)
    assert counters.session() == counters.lifetime() == {"chars": 5}
    counters.bump("searches")
    assert Counters(cache).lifetime() == {"chars": 5, "searches": 1}
    before = cache.stats()
    counters.write()  # nothing new
    assert cache.stats() == before


def test_threads_lose_nothing() -> None:
    cache = MemoryCache()
    counters = Counters(cache)

    def work() -> None:
        for _ in range(200):
            counters.bump("searches")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counters.session() == Counters(cache).lifetime() == {"searches": 800}


class Failing(MemoryCache):
    """A store that is out of order for a while."""

    broken = True

    def put(self, space: str, key: bytes, value: bytes) -> None:
        if self.broken:
            raise CacheError("out of order")
        super().put(space, key, value)


def test_what_a_store_did_not_take_is_written_at_the_end(world: Any) -> None:
    cache = Failing()
    counters = Counters(cache)
    counters.bump("searches", 3)
    cache.broken = False
    counters.write()
    assert not rows(cache)
    counters.write(again=True)
    assert Counters(cache).lifetime() == {"searches": 3}
    one = world(pages={}, cache=cache)
    cache.broken = True
    one.search("a question", cache_only=True)
    cache.broken = False
    one.wf.close()
    assert Counters(cache).lifetime() == {"searches": 4, "served_none": 1, "searches_empty": 1}


# ---- forks ----

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


@forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_counts_for_itself() -> None:
    cache = MemoryCache()
    counters = Counters(cache)
    counters.bump("searches", 2)
    context = multiprocessing.get_context("fork")
    told = context.SimpleQueue()

    def child() -> None:
        before = counters.session()
        counters.bump("searches")
        told.put((before, counters.session(), counters.lifetime(), len(rows(cache))))

    process = context.Process(target=child)
    process.start()
    process.join(30)
    assert process.exitcode == 0
    assert told.get() == ({}, {"searches": 1}, {"searches": 3}, 2)
    assert counters.session() == {"searches": 2}


@forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_forked_while_somebody_counts_does_not_hang() -> None:
    counters = Counters(MemoryCache())
    own = counters._own()
    context = multiprocessing.get_context("fork")
    with own.lock:  # as another thread of the parent holds it at that moment
        process = context.Process(target=lambda: counters.bump("searches"))
        process.start()
    process.join(30)
    assert process.exitcode == 0


# ---- folding ----


def test_rows_of_processes_that_are_gone_become_one() -> None:
    cache, clock = MemoryCache(), FakeClock()
    many(cache, clock)
    reader = Counters(cache, clock=clock)
    reader.lifetime()
    assert TOTAL not in rows(cache)  # they may be written yet
    clock.advance(LONG_AGO)
    expected = {"searches": FOLD_FROM}
    for _ in range(3):
        assert reader.lifetime() == expected
    assert len(rows(cache)) == FOLD_FROM + 1
    clock.advance(DELETED_S)
    assert reader.lifetime() == expected
    assert list(rows(cache)) == [TOTAL]
    assert reader.lifetime() == expected
    many(cache, clock)
    clock.advance(LONG_AGO)
    for _ in range(4):
        assert Counters(cache, clock=clock).lifetime() == {"searches": 2 * FOLD_FROM}
        clock.advance(DELETED_S)
    assert list(rows(cache)) == [TOTAL]
    many(cache, clock)
    clock.advance(LONG_AGO)
    reader.lifetime()
    assert len(rows(cache)[TOTAL]["folded"]) == FOLD_FROM  # those that were deleted are not listed for ever


def test_one_that_was_idle_for_long_goes_on_in_a_new_row() -> None:
    cache, clock = MemoryCache(), FakeClock()
    idle = Counters(cache, clock=clock)
    idle.bump("searches", 5)
    many(cache, clock, FOLD_FROM)
    clock.advance(LONG_AGO)
    reader = Counters(cache, clock=clock)
    assert reader.lifetime() == {"searches": 5 + FOLD_FROM}
    idle.note({"chars": 9})
    assert idle.session() == {"searches": 5, "chars": 9}
    assert idle.lifetime() == {"searches": 5 + FOLD_FROM, "chars": 9}
    idle.bump("searches")
    expected = {"searches": 6 + FOLD_FROM, "chars": 9}
    assert idle.session() == {"searches": 6, "chars": 9}
    assert idle.lifetime() == reader.lifetime() == expected
    clock.advance(DELETED_S)
    assert idle.lifetime() == reader.lifetime() == expected


def test_a_row_that_was_folded_and_is_written_after_all_counts_once() -> None:
    """As after a clock that ran days ahead for a while."""
    cache, ahead = MemoryCache(), FakeClock(epoch=FakeClock().time() + LONG_AGO)
    clock = FakeClock()
    alive = Counters(cache, clock=clock)
    alive.bump("searches", 5)
    many(cache, clock)
    assert Counters(cache, clock=ahead).lifetime() == {"searches": 5 + FOLD_FROM}
    alive.bump("searches", 2)
    expected = {"searches": 7 + FOLD_FROM}
    assert alive.lifetime() == Counters(cache, clock=clock).lifetime() == expected
    ahead.advance(DELETED_S)
    assert Counters(cache, clock=ahead).lifetime() == expected
    assert alive.lifetime() == Counters(cache, clock=clock).lifetime() == expected


class Stopping(MemoryCache):
    """A store whose writer is killed after so many more writes."""

    left = 10**9

    def put(self, space: str, key: bytes, value: bytes) -> None:
        self._spend()
        super().put(space, key, value)

    def delete(self, space: str, key: bytes) -> bool:
        self._spend()
        return super().delete(space, key)

    def _spend(self) -> None:
        if self.left <= 0:
            raise KeyboardInterrupt
        self.left -= 1


@given(st.lists(st.integers(0, 80), max_size=8), st.data())
def test_whenever_folding_is_cut_off_every_row_counts_once(cuts: list[int], data: st.DataObject) -> None:
    cache, clock = Stopping(), FakeClock()
    many(cache, clock, FOLD_FROM + 3)
    expected = Counter(searches=FOLD_FROM + 3)
    for cut in cuts:
        clock.advance(data.draw(st.sampled_from([1.0, DELETED_S, NEW_ROW_S, LONG_AGO])))
        cache.left = cut
        with suppress(KeyboardInterrupt):
            Counters(cache, clock=clock).lifetime()
        cache.left = 10**9
        if data.draw(st.booleans()):
            Counters(cache, clock=clock).bump("searches")
            expected["searches"] += 1
        assert Counters(cache, clock=clock).lifetime() == expected


class Between(MemoryCache):
    """A store in which something happens after a reader has read and before it writes."""

    then: Any = None

    def put(self, space: str, key: bytes, value: bytes) -> None:
        if key == TOTAL and self.then is not None:
            then, self.then = self.then, None
            then()
        super().put(space, key, value)


def test_two_that_fold_at_once_lose_nothing() -> None:
    cache, clock = Between(), FakeClock()
    many(cache, clock)
    clock.advance(LONG_AGO)
    slow, quick = Counters(cache, clock=clock), Counters(cache, clock=clock)
    expected = {"searches": FOLD_FROM + 1}

    def meanwhile() -> None:
        quick.bump("searches")
        assert quick.lifetime() == expected

    cache.then = meanwhile
    slow.lifetime()
    assert slow.lifetime() == quick.lifetime() == expected
    clock.advance(DELETED_S)
    assert slow.lifetime() == quick.lifetime() == expected


def test_who_was_stopped_while_folding_writes_nothing() -> None:
    cache, clock = MemoryCache(), FakeClock()
    many(cache, clock)
    clock.advance(LONG_AGO)

    class Suspended(FakeClock):
        def time(self) -> float:
            self.advance(100)
            return super().time()

    Counters(cache, clock=Suspended(epoch=clock.time())).lifetime()
    assert TOTAL not in rows(cache)
    assert all(key.startswith(PREFIX) for key in rows(cache))
