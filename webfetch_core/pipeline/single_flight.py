"""Identical work that is asked for at the same time is done once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from ..errors import Cancelled, TimedOut
from ..forks import PerProcess
from ..runtime.cancelling import CancelToken, is_done

T = TypeVar("T")


class _Flight(Generic[T]):
    def __init__(self) -> None:
        self.leader = threading.get_ident()
        self.done: Future[None] = Future()
        self.value: T
        self.error: BaseException | None = None


class _Air:
    """The flights of one process: what its parent had begun never lands in a forked child."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.flights: dict[bytes, _Flight[Any]] = {}


class SingleFlight:
    """Shares one run of a function among the threads that ask for its key meanwhile.

    Nothing is kept: once a run is over, the next call runs again.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._air = PerProcess(_Air)

    def do(
        self,
        key: bytes,
        fn: Callable[[], T],
        timeout: float | None = None,
        *,
        token: CancelToken | None = None,
    ) -> tuple[T, bool]:
        """Return (value, shared): the value of ``fn``, and whether another thread's run gave it.

        Args:
            timeout: seconds to wait for another thread's run; no bound on a run of one's own.
            token: ends the wait for another thread's run, and leaves that run alone.

        Raises:
            Cancelled: ``token`` was cancelled while this thread waited.
            TimedOut: the other run was not over in time; it goes on, and its starter gets the value.
            Exception: whatever ``fn`` raised, in every thread that shared the run. A run that was
                cancelled or interrupted is nobody else's failure: one of the waiting takes over.
        """
        give_up = None if timeout is None else self._monotonic() + max(timeout, 0.0)
        air = self._air()
        while True:
            with air.lock:
                flight = air.flights.get(key)
                if flight is None:
                    flight = air.flights[key] = _Flight()
                    break
            if flight.leader == threading.get_ident():
                return fn(), False  # asked again from within its own run: waiting would never end
            left = None if give_up is None else max(give_up - self._monotonic(), 0.0)
            if token is not None:
                token.raise_if_cancelled()
            if not is_done(flight.done, left, token):
                if token is not None:
                    token.raise_if_cancelled()
                raise TimedOut("the same request is still running elsewhere")
            if flight.error is None:
                return flight.value, True
            if isinstance(flight.error, Exception) and not isinstance(flight.error, Cancelled):
                raise flight.error
        try:
            flight.value = fn()
        except BaseException as exc:
            flight.error = exc
            raise
        finally:
            with air.lock:
                del air.flights[key]
            flight.done.set_result(None)
        return flight.value, False

    def running(self, key: bytes) -> bool:
        """Say whether a run for ``key`` is under way (a refresh behind need not start another)."""
        air = self._air()
        with air.lock:
            return key in air.flights
