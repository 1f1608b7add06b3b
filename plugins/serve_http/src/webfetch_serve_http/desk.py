"""Who is worked for, and for how long: threads for what blocks, a bounded queue before them.

A request that gives up (its client hung up) frees its place in the queue at once, and so does one whose time
is over. What is at work for it is cancelled; its thread keeps the slot until it ends, which is soon.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from webfetch_core import CancelToken

from .faults import out_of_time, overloaded

T = TypeVar("T")
Job = Callable[[float], T]
"""Does the work, given the seconds that are left for it. What it asks of a ``Webfetch`` is cancelled with the
request."""

GRACE_S = 2.0
"""How long beyond its deadline a job is waited for: ranking and writing come on top of a search's."""
LEAST_S = 0.5
"""With less time than this nothing is begun."""


class Desk:
    """``workers`` slots and ``queue`` places before them, for one event loop."""

    def __init__(self, workers: int, queue: int) -> None:
        self._slots = asyncio.Semaphore(workers)
        self._most = workers + queue
        self._admitted = 0
        self.running = 0

    @property
    def admitted(self) -> int:
        """Requests that are worked on or wait."""
        return self._admitted

    async def run(self, job: Job[T], seconds: float) -> T:
        """Do ``job`` in a thread and return what it returns.

        Raises:
            Fault: 429 when there is no place or the time was up in the queue, 504 when it took too long.
        """
        (outcome,) = await self.run_all([job], seconds)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def run_all(self, jobs: Sequence[Job[T]], seconds: float) -> list[T | BaseException]:
        """Do all ``jobs`` of one request, which takes one place in the queue; each has a slot of its own.

        Raises:
            Fault: 429 when there is no place.
        """
        if self._admitted >= self._most:
            raise overloaded()
        self._admitted += 1
        ends = asyncio.get_running_loop().time() + seconds
        try:
            given_up = CancelToken()  # one for all: when a request is given up, no page is begun
            return await asyncio.gather(
                *(self._one(job, ends, given_up) for job in jobs), return_exceptions=True
            )
        finally:
            self._admitted -= 1

    async def _one(self, job: Job[T], ends: float, given_up: CancelToken) -> T:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(ends - min(LEAST_S, (ends - loop.time()) / 2)):
                await self._slots.acquire()
        except TimeoutError:
            raise overloaded() from None
        future: asyncio.Future[T] = loop.create_future()
        self.running += 1

        def finish(value: T | None, error: BaseException | None) -> None:
            self.running -= 1
            self._slots.release()
            if future.done():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(value)  # type: ignore[arg-type]

        def work() -> None:
            value: T | None = None
            error: BaseException | None = None
            try:
                # To a tenth: identical searches share one run only where they have the same time.
                with given_up.applied():
                    value = job(max(round(ends - loop.time(), 1), 0.1))
            except BaseException as exc:  # whatever it is, the one who waits is told
                error = exc if isinstance(exc, Exception) else RuntimeError(type(exc).__name__)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(finish, value, error)

        # A thread each, and a daemon: an executor's threads would keep a stopped process alive.
        threading.Thread(target=work, name="serve-http", daemon=True).start()
        try:
            async with asyncio.timeout_at(ends + GRACE_S):
                try:
                    return await future
                except asyncio.CancelledError:  # the client hung up, or the time is over
                    given_up.cancel()
                    raise
        except TimeoutError:
            raise out_of_time() from None
