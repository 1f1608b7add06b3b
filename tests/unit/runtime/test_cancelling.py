"""Tokens, and the waits that they end."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from time import monotonic, sleep
from typing import Any

import pytest

from webfetch_core.api import Unavailable
from webfetch_core.errors import Cancelled, TimedOut
from webfetch_core.runtime.cancelling import (
    CancelToken,
    Slots,
    applying,
    applying_given,
    current,
    is_done,
    pause,
    require_wanted,
)
from webfetch_core.runtime.deadline import Deadline
from webfetch_core.testing import FakeClock

SOON_S = 15.0
FAR_S = 60.0


def in_thread(work: Any, *given: Any) -> Future[Any]:
    outcome: Future[Any] = Future()

    def run() -> None:
        try:
            outcome.set_result(work(*given))
        except BaseException as exc:
            outcome.set_exception(exc)

    threading.Thread(target=run, daemon=True).start()
    return outcome


def until(condition: Callable[[], Any]) -> None:
    end = monotonic() + SOON_S
    while not condition():
        assert monotonic() < end, "waited too long"
        sleep(0.002)


# ---- tokens --------------------------------------------------------------------------------------


def test_a_token_tells_its_listeners_and_those_that_come_later() -> None:
    token, told = CancelToken(), []
    with token.listening(lambda: told.append("gone")):
        pass
    with token.listening(lambda: told.append("before")):
        assert not token.cancelled
        token.cancel()
        with token.listening(lambda: told.append("after")):
            assert token.wait(0)
    assert told == ["before", "after"], "and who has left is not told"
    with pytest.raises(Cancelled):
        token.raise_if_cancelled()


def test_a_token_of_many_calls_keeps_nothing_of_them() -> None:
    token = CancelToken()
    for _ in range(3):
        done: Future[None] = Future()
        done.set_result(None)
        assert is_done(done, None, token)
        assert not is_done(Future(), 0.0, token)
        assert Slots(1).acquire(0.0, token)
    assert not token._wakes


INTERRUPTED = """
import signal, sys, time
from concurrent.futures import Future
from webfetch_core.runtime.cancelling import CancelToken, Slots, is_done

token, slots = CancelToken(), Slots(0)
waits = {
    "future": lambda: is_done(Future(), 600.0, token),
    "slot": lambda: slots.acquire(600.0, token),
    "token": lambda: token.wait(600.0),
}
signal.signal(signal.SIGALRM, lambda *_: token.cancel())
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
for _ in range(1_000):
    token = CancelToken()
    waits[sys.argv[1]]()
signal.setitimer(signal.ITIMER_REAL, 0)
print("through")
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers that signal are POSIX's")
@pytest.mark.parametrize("wait", ["future", "slot", "token"])
def test_a_signal_handler_may_cancel_what_its_own_thread_waits_for(wait: str) -> None:
    """At whatever step it comes: no lock may be taken that the handler wants."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, wait], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "through\n", done.stderr


def test_what_applies_is_the_thread_s_own_and_ends_with_its_block() -> None:
    outer, inner = CancelToken(), CancelToken()
    with outer.applied():
        assert current() is outer
        assert in_thread(current).result(SOON_S) is None
        with applying_given(inner):
            assert current() is inner
        with applying_given(None):
            assert current() is outer, "none given leaves it"
        with applying(None):
            assert current() is None
            require_wanted()
        outer.cancel()
        with pytest.raises(Cancelled), applying_given(None):
            pytest.fail("it was begun")
        with pytest.raises(TimedOut) as caught:
            require_wanted()
        assert caught.value.kind == "cancelled"
    assert current() is None


# ---- waits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("wait", ["future", "slot", "pause"])
def test_every_wait_ends_when_it_is_cancelled(wait: str) -> None:
    token, slots = CancelToken(), Slots(0)

    def waits() -> Any:
        with token.applied():
            if wait == "future":
                return is_done(Future(), FAR_S, token)
            return slots.acquire(FAR_S, token) if wait == "slot" else pause(FAR_S)

    outcome = in_thread(waits)
    until(lambda: token._wakes or wait == "pause")
    token.cancel()
    assert not outcome.result(SOON_S)
    assert not token._wakes


def test_a_future_that_is_done_ends_its_wait() -> None:
    future: Future[int] = Future()
    outcome = in_thread(is_done, future, FAR_S, CancelToken())
    future.set_exception(Unavailable("x"))
    assert outcome.result(SOON_S)
    assert not is_done(Future(), 0.01, None)


def test_slots_are_counted() -> None:
    slots = Slots(2)
    assert [slots.acquire(0.0) for _ in range(3)] == [True, True, False]
    waiting = in_thread(slots.acquire, FAR_S)
    slots.release()
    assert waiting.result(SOON_S)
    assert not slots.acquire(0.0)


def test_a_slot_that_comes_free_for_one_who_is_cancelled_goes_to_the_next() -> None:
    slots, token = Slots(0), CancelToken()
    first = in_thread(slots.acquire, FAR_S, token)
    until(lambda: len(slots._changed._waiters) == 1)  # type: ignore[attr-defined]
    second = in_thread(slots.acquire, FAR_S)
    until(lambda: len(slots._changed._waiters) == 2)  # type: ignore[attr-defined]
    with slots._changed:  # in one step, as far as those who wait can see: it is given to the first
        token._cancelled = True
        slots.release()
    assert second.result(SOON_S)
    assert first.result(SOON_S) is False


# ---- deadlines -----------------------------------------------------------------------------------


def test_a_deadline_is_now_when_it_is_cancelled() -> None:
    clock, token = FakeClock(), CancelToken()
    deadline = Deadline.after(10.0, clock, token)
    derived = (deadline, deadline.within(5.0), deadline.anew(100.0))
    assert [one.remaining() for one in derived] == [10.0, 5.0, 100.0]
    for one in derived:
        one.raise_if_cancelled()
    token.cancel()
    for one in derived:
        assert (one.cancelled, one.remaining(), one.expired()) == (True, 0.0, True)
        with pytest.raises(Cancelled):
            one.raise_if_cancelled()
    assert Deadline.after(10.0, clock).remaining() == 10.0
