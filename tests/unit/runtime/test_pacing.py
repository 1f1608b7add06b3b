"""Calls take turns: none comes too early, and one whose turn is too late says so at once."""

from __future__ import annotations

import itertools
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.errors import Busy
from webfetch_core.runtime.cancelling import CancelToken, applying, current, is_cancelled
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


@pytest.mark.parametrize("behind", [0, 1, 3])
def test_a_turn_that_is_given_up_goes_to_whoever_comes_next(behind: int) -> None:
    """Also one in the middle: those behind it have been told theirs, and keep them."""
    clock, waited, token = FakeClock(), [], CancelToken()

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if current() is token:
            with applying(None):
                for _ in range(behind):
                    pace.wait(clock.monotonic() + 100.0)
            token.cancel()

    pace = Pace(clock, sleep=sleep)
    pace.set(1.0)
    pace.wait(clock.monotonic())
    with token.applied():
        pace.wait(clock.monotonic() + 100.0)
    assert waited == pytest.approx([1.05 * turn for turn in range(1, behind + 2)])
    waited.clear()
    for _ in range(2):
        pace.wait(clock.monotonic() + 100.0)
    assert waited == pytest.approx([1.05, 1.05 * (behind + 2)])


@given(st.floats(0.5, 50), st.lists(st.tuples(st.floats(0, 3), st.booleans()), min_size=2, max_size=20))
def test_whoever_gives_up_the_others_are_never_too_close(
    per_s: float, calls: list[tuple[float, bool]]
) -> None:
    clock, sent = FakeClock(), []

    def sleep(seconds: float) -> None:
        if (token := current()) is not None:
            token.cancel()
        else:
            clock.advance(seconds)

    pace = Pace(clock, sleep=sleep)
    pace.set(per_s)
    for pause, gives_up in calls:
        clock.advance(pause)
        with applying(CancelToken() if gives_up else None):
            pace.wait(clock.monotonic() + 100.0)
            if not is_cancelled():
                sent.append(clock.monotonic())
    assert all(b - a >= 1 / per_s - 1e-9 for a, b in itertools.pairwise(sent))
    assert len(pace._turns) <= 2, "what is over is not kept"


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
