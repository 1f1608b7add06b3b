"""Calls take turns: none comes too early, and one whose turn is too late says so at once."""

from __future__ import annotations

import itertools
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.errors import Busy
from webfetch_core.runtime.pacing import Pace
from webfetch_core.testing import FakeClock


class Timed:
    """A pace whose waiting moves a fake clock."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.started = self.clock.monotonic()
        self.pace = Pace(self.clock, sleep=self.clock.advance)

    def call(self, within_s: float = 100.0) -> float:
        self.pace.wait(self.clock.monotonic() + within_s)
        return self.clock.monotonic() - self.started


def test_without_a_limit_nobody_waits() -> None:
    timed = Timed()
    assert [timed.call() for _ in range(5)] == [0.0] * 5


@given(st.floats(0.5, 50), st.lists(st.floats(0, 3), min_size=2, max_size=12))
def test_calls_are_never_closer_than_the_plan_allows(per_s: float, pauses: list[float]) -> None:
    timed = Timed()
    timed.pace.set(per_s)
    seen = []
    for pause in pauses:
        timed.clock.advance(pause)
        seen.append(timed.call())
    assert all(b - a >= 1 / per_s - 1e-9 for a, b in itertools.pairwise(seen))


def test_a_turn_after_the_deadline_is_refused_and_left_to_others() -> None:
    timed = Timed()
    timed.pace.set(1.0)
    timed.call()
    with pytest.raises(Busy):
        timed.call(within_s=0.5)
    assert timed.call(within_s=2.0) == pytest.approx(1.05)


def test_a_higher_limit_holds_from_the_next_call_on() -> None:
    timed = Timed()
    timed.pace.set(1.0)
    timed.call()
    timed.pace.set(20.0)
    first = timed.call()
    assert first == pytest.approx(1.05 / 20)
    assert timed.call() - first == pytest.approx(1.05 / 20)
    timed.pace.set(None)
    assert timed.call() == timed.call()


def test_threads_take_turns() -> None:
    from webfetch_core.runtime.deadline import SystemClock

    clock, times, lock = SystemClock(), [], threading.Lock()
    pace = Pace(clock)
    pace.set(50.0)

    def one() -> None:
        pace.wait(clock.monotonic() + 5)
        with lock:
            times.append(clock.monotonic())

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times.sort()
    assert times[-1] - times[0] >= 7 / 50
