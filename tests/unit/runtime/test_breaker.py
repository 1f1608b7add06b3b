"""The breaker against a model of what it promises."""

from __future__ import annotations

import threading

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from webfetch_core.runtime.breaker import FAILURES_TO_OPEN, OPEN_FOR_S, Breaker, BreakerState
from webfetch_core.testing import FakeClock


class BreakerMachine(RuleBasedStateMachine):
    """Calls are admitted, end in any order, and time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.breaker = Breaker(self.clock)
        self.under_way = 0
        self.streak = 0  # failures since the last success
        self.open_until: float | None = None
        self.probing = False

    @rule()
    def admit(self) -> None:
        now = self.clock.monotonic()
        expected = self.open_until is None or (not self.probing and now >= self.open_until)
        assert self.breaker.admit() is expected
        if expected:
            self.under_way += 1
            self.probing = self.open_until is not None

    @precondition(lambda self: self.under_way)
    @rule()
    def succeed(self) -> None:
        was_open = self.open_until is not None
        assert self.breaker.record_success() is was_open
        self.under_way -= 1
        self.streak, self.open_until, self.probing = 0, None, False

    @precondition(lambda self: self.under_way)
    @rule()
    def end_without_a_verdict(self) -> None:
        self.breaker.record_neutral()
        self.under_way -= 1
        self.probing = False

    @precondition(lambda self: self.under_way)
    @rule(retry_after=st.none() | st.floats(-5, 900))
    def fail(self, retry_after: float | None) -> None:
        before = self.open_until
        self.breaker.record_failure("boom", retry_after_s=retry_after)
        self.under_way -= 1
        now = self.clock.monotonic()
        self.streak += 1
        opens = retry_after is not None or self.probing or self.streak >= FAILURES_TO_OPEN
        self.probing = False
        if opens:
            until = now + (OPEN_FOR_S if retry_after is None else max(0.0, retry_after))
            self.open_until = until if before is None or now >= before else max(until, before)

    @rule(seconds=st.floats(0, 400))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @invariant()
    def state_and_reason_agree(self) -> None:
        state = self.breaker.state
        if self.open_until is None:
            assert state is BreakerState.CLOSED and self.breaker.reason == ""
        else:
            assert state is (BreakerState.HALF_OPEN if self.probing else BreakerState.OPEN)
            assert "boom" in self.breaker.reason


TestBreakerMachine = BreakerMachine.TestCase
TestBreakerMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def opened(clock: FakeClock) -> Breaker:
    breaker = Breaker(clock)
    for _ in range(FAILURES_TO_OPEN):
        assert breaker.admit()
        breaker.record_failure("boom")
    return breaker


def test_three_failures_in_a_row_open_it_for_five_minutes() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    assert not breaker.admit() and breaker.reason == "boom; benched for 300 s more"
    clock.advance(299.9)
    assert not breaker.admit()
    clock.advance(0.2)
    assert breaker.reason == "boom; next call is a probe"
    assert breaker.admit() and not breaker.admit()


def test_a_success_in_between_starts_the_count_anew() -> None:
    breaker = Breaker(FakeClock())
    for _ in range(5):
        breaker.record_failure("boom")
        breaker.record_failure("boom")
        assert breaker.record_success() is False
    assert breaker.admit()


def test_a_failed_probe_benches_for_the_whole_time_again() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.advance(OPEN_FOR_S)
    assert breaker.admit()
    assert breaker.record_failure("again") is True
    clock.advance(OPEN_FOR_S - 1)
    assert not breaker.admit()


def test_a_probe_without_a_verdict_lets_the_next_one_try() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.advance(OPEN_FOR_S)
    assert breaker.admit()
    breaker.record_neutral()
    assert breaker.admit()


def test_retry_after_is_kept_to_the_second() -> None:
    clock = FakeClock()
    breaker = Breaker(clock)
    assert breaker.record_failure("slow down", retry_after_s=30) is True
    clock.advance(29)
    assert not breaker.admit()
    clock.advance(1)
    assert breaker.admit()


def test_failures_of_one_outage_never_shorten_it() -> None:
    clock = FakeClock()
    breaker = Breaker(clock)
    breaker.record_failure("slow down", retry_after_s=900)
    assert breaker.record_failure("late", retry_after_s=1) is False
    clock.advance(800)
    assert not breaker.admit()


def test_one_probe_among_many_threads() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.advance(OPEN_FOR_S)
    admitted = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait()
        if breaker.admit():
            admitted.append(1)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == 1
