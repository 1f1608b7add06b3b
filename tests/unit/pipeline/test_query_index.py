"""The index of cached queries follows its store, whoever writes there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.errors import CacheError
from webfetch_core.models import CacheChange, Freshness
from webfetch_core.pipeline import query_index
from webfetch_core.pipeline.cache_rows import ASKED, encode_row
from webfetch_core.pipeline.query_index import Asked, QueryIndex
from webfetch_core.pipeline.tolerant_store import TolerantStore
from webfetch_core.testing import MemoryCache


def asked(query: str, scope: str = "s", at: float = 1.0) -> Asked:
    key = f"{scope} {query}".encode()
    return Asked(space="queries", key=key, query=query, scope=scope, at=at, freshness=Freshness.STABLE)


def index_over(cache: Any) -> QueryIndex:
    return QueryIndex(TolerantStore(cache))


def test_what_one_process_notes_another_finds() -> None:
    cache = MemoryCache()
    one, other = index_over(cache), index_over(cache)
    assert other.view("s").asked == ()
    assert one.note(asked("tide", at=2.0)) and one.note(asked("moon", at=1.0))
    one.note(asked("tide", scope="t"))
    assert other.view("s").asked == (asked("moon", at=1.0), asked("tide", at=2.0))
    assert other.view("s").texts == ("moon", "tide")
    other.forget(asked("tide", at=2.0))
    assert other.view("s").texts == one.view("s").texts == ("moon",)
    assert set(one.view("s", "t").texts) == {"moon", "tide"}


def test_a_view_is_the_same_object_while_nothing_changed() -> None:
    index = index_over(MemoryCache())
    index.note(asked("tide"))
    view = index.view("s")
    assert index.view("s") is view
    index.note(asked("moon"))
    assert index.view("s") is not view


def test_a_query_that_is_stored_again_is_there_once() -> None:
    index = index_over(MemoryCache())
    index.note(asked("tide", at=1.0))
    index.view("s")
    index.note(asked("tide", at=9.0))
    assert [row.at for row in index.view("s").asked] == [9.0]


class CutLog(MemoryCache):
    """Remembers the last three changes only."""

    def changes(self, space: str, since: int) -> Iterator[CacheChange]:
        last = list(super().changes(space, 0))[-3:]
        return (change for change in last if change.sequence > since)


def test_a_log_that_was_cut_has_the_space_read_anew() -> None:
    cache = CutLog()
    index = index_over(cache)
    index.note(asked("gone"))
    assert index.view("s").texts == ("gone",)
    cache.delete(ASKED, asked("gone").key)
    for n in range(9):
        index.note(asked(f"q{n}", at=float(n)))
    assert index.view("s").texts == tuple(f"q{n}" for n in range(9))


def test_many_changes_at_once_are_read_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_index, "RESCAN_FROM", 5)
    cache = MemoryCache()
    index = index_over(cache)
    for n in range(20):
        index.note(asked(f"q{n}", at=float(n)))
    assert len(index.view("s").texts) == 20
    cache.delete(ASKED, asked("q3").key)
    assert len(index.view("s").texts) == 19


def test_a_store_without_batches_serves_as_well() -> None:
    class Plain:
        def __init__(self) -> None:
            self._memory = MemoryCache()

        def __getattr__(self, name: str) -> Any:
            if name.endswith("_many"):
                raise AttributeError(name)
            return getattr(self._memory, name)

    index = index_over(Plain())
    index.note(asked("tide"))
    assert index.view("s").texts == ("tide",)


@pytest.mark.parametrize(
    "row",
    [
        b"",
        b"no row",
        encode_row(1.0, {"query": 5, "scope": "s", "space": "queries"}),
        encode_row(1.0, {}),
        encode_row(1.0, {"query": "q" * 2_001, "scope": "s", "space": "queries"}),
    ],
)
def test_a_row_that_makes_no_sense_is_no_query(row: bytes) -> None:
    cache = MemoryCache()
    index = index_over(cache)
    index.note(asked("tide"))
    cache.put(ASKED, b"other", row)
    assert index.view("s").texts == ("tide",)


def test_a_store_that_fails_leaves_what_is_known() -> None:
    class Failing(MemoryCache):
        broken = False

        def changes(self, space: str, since: int) -> Iterator[CacheChange]:
            if self.broken:
                raise CacheError("the disk is gone")
            return super().changes(space, since)

    cache = Failing()
    index = index_over(cache)
    index.note(asked("tide"))
    assert index.view("s").texts == ("tide",)
    cache.broken = True
    assert index.view("s").texts == ("tide",)


def test_a_store_that_takes_long_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_index, "LOOK_S", 0.05)

    class Slow(MemoryCache):
        def scan(self, space: str) -> Iterator[tuple[bytes, bytes]]:
            time.sleep(0.4)
            return super().scan(space)

    monkeypatch.setattr(query_index, "RESCAN_FROM", 0)
    cache = Slow()
    index = QueryIndex(TolerantStore(cache, wait_s=0.05))
    index.note(asked("tide"))
    assert index.view("s").texts == ()  # not yet: reading goes on behind
    for _ in range(3_000):
        if index.view("s").texts:
            break
        time.sleep(0.02)
    assert index.view("s").texts == ("tide",)


STEPS = st.lists(st.tuples(st.sampled_from("pdlr"), st.integers(0, 5), st.booleans()), max_size=40)


@given(steps=STEPS, make=st.sampled_from([MemoryCache, CutLog]))
def test_every_look_sees_exactly_what_is_stored(
    steps: list[tuple[str, int, bool]], make: Callable[[], MemoryCache]
) -> None:
    cache, clock = make(), count(1)
    indexes = {True: index_over(cache), False: index_over(cache)}
    stored: dict[int, Asked] = {}
    for what, number, mine in steps:
        if what == "p":
            stored[number] = asked(f"q{number}", at=float(next(clock)))
            indexes[mine].note(stored[number])
        elif what == "d" and number in stored:
            cache.delete(ASKED, stored.pop(number).key)
        elif what == "r":
            cache.clear(ASKED)
            stored.clear()
        else:
            expected = sorted(stored.values(), key=lambda row: (row.at, row.key))
            assert indexes[mine].view("s").asked == tuple(expected)
