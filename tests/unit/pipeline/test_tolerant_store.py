"""A store may raise, hang, lie or leave: the search goes on, in time, as if nothing were cached."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from time import monotonic, sleep
from typing import Any

import pytest

from webfetch_core.errors import CacheError
from webfetch_core.pipeline.counters import Counters
from webfetch_core.pipeline.patience import IDLE_THREADS, Overdue, Patience
from webfetch_core.pipeline.tolerant_store import TolerantStore
from webfetch_core.testing import MemoryCache

URL = "https://one.example/page"
KEY = b"k" * 32
HANG_S = 60.0  # how long what hangs would hang: nobody waits for it
SOON_S = 20.0  # far below it, and far above what a busy machine takes


class Evil(MemoryCache):
    """Does what it is told in every method of the hot path."""

    def __init__(self, act: Any) -> None:
        super().__init__()
        self.act = act

    def get(self, space: str, key: bytes) -> Any:
        return self.act()

    def put(self, space: str, key: bytes, value: bytes) -> None:
        self.act()

    def delete(self, space: str, key: bytes) -> Any:
        return self.act()


class Leaving(BaseException):
    pass


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit(1)


def raising(error: BaseException) -> Any:
    def act() -> Any:
        raise error

    return act


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("wait_s", [None, 0.5])
@pytest.mark.parametrize(
    "error", [CacheError("full"), SystemExit(1), GeneratorExit(), Leaving("x"), Mute(), MemoryError()],
    ids=lambda e: type(e).__name__,
)  # fmt: skip
def test_whatever_it_raises_is_a_miss(error: BaseException, wait_s: float | None) -> None:
    told: list[str] = []
    store = TolerantStore(Evil(raising(error)), told.append, wait_s=wait_s)
    for _ in range(2):
        assert store.get("pages", KEY) is None
        assert not store.put("pages", KEY, b"v") and not store.delete("pages", KEY)
    assert len(told) == 2 and all(text.startswith("the cache could not ") for text in told)


@pytest.mark.parametrize("wait_s", [None, 0.5])
@pytest.mark.parametrize("value", [5, "text", [b"x"], bytearray(b"x"), object()], ids=repr)
def test_whatever_else_than_bytes_it_returns_is_a_miss(value: Any, wait_s: float | None) -> None:
    told: list[str] = []
    store = TolerantStore(Evil(lambda: value), told.append, wait_s=wait_s)
    assert store.get("pages", KEY) is None
    assert type(value).__name__ in told[0]


def test_a_keyboard_interrupt_of_the_store_is_its_own_doing() -> None:
    store = TolerantStore(Evil(raising(KeyboardInterrupt())), wait_s=0.5)
    assert store.get("pages", KEY) is None


def test_one_that_hangs_costs_one_wait_until_it_is_back(gate: threading.Event) -> None:
    told: list[str] = []
    store = TolerantStore(Evil(lambda: gate.wait(HANG_S) and b"v"), told.append, wait_s=0.5)
    started = monotonic()
    for _ in range(20):
        assert store.get("pages", KEY) is None
        assert not store.put("pages", KEY, b"v")
    assert monotonic() - started < 10  # forty waits would be 20 s
    assert store.trouble and told == ["the cache could not read: it does not answer"]
    store.settle()  # does not wait for what hangs
    assert monotonic() - started < SOON_S
    gate.set()
    end = monotonic() + HANG_S
    while store.trouble:
        assert monotonic() < end
        sleep(0.005)
    assert store.get("pages", KEY) == b"v"


def test_a_slow_write_goes_on_and_the_store_still_serves(gate: threading.Event) -> None:
    inner = MemoryCache()

    class Slow(MemoryCache):
        def put(self, space: str, key: bytes, value: bytes) -> None:
            gate.wait(HANG_S)
            inner.put(space, key, value)

        def get(self, space: str, key: bytes) -> bytes | None:
            return inner.get(space, key)

    store = TolerantStore(Slow(), wait_s=0.5)
    assert not store.put("pages", KEY, b"v")
    assert not store.trouble and store.get("pages", KEY) is None
    gate.set()
    store.settle()
    assert store.get("pages", KEY) == b"v"


def test_counters_written_behind_end_with_the_last_sum() -> None:
    inner = MemoryCache()
    store = TolerantStore(inner, wait_s=1.0)
    counters = Counters(store)
    threads = [threading.Thread(target=lambda: [counters.bump("n") for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.settle()
    assert Counters(TolerantStore(inner)).lifetime() == {"n": 200}


# ---- in a search ----


def test_a_search_keeps_its_deadline_and_names_the_cache_that_hangs(
    world: Any, gate: threading.Event
) -> None:
    one = world(
        pages={URL: "lighthouse keeper " * 9},
        engines={"alpha": [[URL]]},
        cache=Evil(lambda: gate.wait(HANG_S)),
    )
    started = monotonic()
    result = one.search(deadline_s=3.0)
    assert monotonic() - started < SOON_S
    assert result.chunks and not result.partial
    (attempt,) = [a for a in result.attempts if a.stage == "cache"]
    assert attempt.outcome == "timeout" and "does not answer" in attempt.reason


def test_a_fetch_goes_on_without_a_cache_that_hangs(world: Any, gate: threading.Event) -> None:
    one = world(pages={URL: "lighthouse keeper " * 9}, cache=Evil(lambda: gate.wait(HANG_S)))
    started = monotonic()
    assert one.wf.fetch(URL).text
    assert monotonic() - started < SOON_S


# ---- patience ----


def test_threads_are_used_again_few_are_kept_and_none_for_long() -> None:
    patience = Patience(idle_s=0.2)
    seen = {patience.do(threading.current_thread, HANG_S, due_s=HANG_S) for _ in range(50)}
    assert len(seen) <= IDLE_THREADS + 1
    barrier = threading.Barrier(9)

    def meet() -> None:
        barrier.wait(HANG_S)
        seen.add(threading.current_thread())

    callers = [
        threading.Thread(target=patience.do, args=(meet, HANG_S), kwargs={"due_s": HANG_S}) for _ in range(8)
    ]
    for thread in callers:
        thread.start()
    barrier.wait(HANG_S)
    for thread in callers:
        thread.join()
    end = monotonic() + HANG_S
    while any(thread.is_alive() for thread in seen):
        assert monotonic() < end
        sleep(0.005)
    assert patience.do(int, HANG_S, due_s=HANG_S) == 0


def test_it_raises_what_the_work_raises_and_tells_what_is_overdue(gate: threading.Event) -> None:
    patience = Patience()
    with pytest.raises(ZeroDivisionError):
        patience.do(lambda: 1 / 0, HANG_S, due_s=HANG_S)
    with pytest.raises(Overdue):
        patience.do(lambda: gate.wait(HANG_S), 0.05, due_s=0.05)
    assert patience.overdue == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_starts_afresh() -> None:
    patience = Patience()
    patience.do(int, HANG_S, due_s=HANG_S)
    child = os.fork()
    if child == 0:
        try:
            good = patience.do(lambda: 7, 2.0, due_s=2.0) == 7 and not patience.overdue
        except BaseException:
            good = False
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
