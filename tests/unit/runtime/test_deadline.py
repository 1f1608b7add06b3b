from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.runtime.deadline import Deadline, SystemClock
from webfetch_core.testing import FakeClock

seconds = st.floats(0, 1e6)


@given(seconds, seconds)
def test_remaining_counts_down_to_zero(length: float, passed: float) -> None:
    clock = FakeClock()
    deadline = Deadline.after(length, clock)
    clock.advance(passed)
    assert deadline.remaining() >= 0.0
    assert abs(deadline.remaining() - max(0.0, length - passed)) < 1e-6
    assert deadline.expired() is (deadline.remaining() == 0.0)


@given(seconds, seconds)
def test_within_is_never_later(length: float, limit: float) -> None:
    clock = FakeClock()
    deadline = Deadline.after(length, clock)
    nearer = deadline.within(limit)
    assert nearer.at <= deadline.at
    assert nearer.remaining() <= limit + 1e-6


def test_the_system_clock_goes_forward_and_knows_the_date() -> None:
    clock = SystemClock()
    first = clock.monotonic()
    assert clock.monotonic() >= first
    assert clock.time() > 1_700_000_000
