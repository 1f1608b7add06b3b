"""Doing work in another thread and waiting only so long, cheaply enough for every look into a cache."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

IDLE_THREADS = 2
"""How many threads are kept between jobs; more come and go with the load."""

IDLE_S = 5.0
"""How long they are kept."""


class Overdue(Exception):
    """The work is not done yet; it goes on, and nobody reads what it returns."""


class _Job:
    __slots__ = ("done", "due", "error", "value", "work")

    def __init__(self, work: Callable[[], Any], due: float) -> None:
        self.work = work
        self.due = due
        self.done = threading.Lock()
        self.done.acquire()
        self.value: Any = None
        self.error: BaseException | None = None


class Patience:
    """Runs jobs in daemon threads that are used again. Thread-safe; starts afresh in a forked child."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic, *, idle_s: float = IDLE_S) -> None:
        self._monotonic = monotonic
        self._idle_s = idle_s
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._idle = 0
        self._running: set[_Job] = set()

    @property
    def overdue(self) -> int:
        """How many jobs are past their time."""
        if self._pid != os.getpid():
            self._begin()
        if not self._running:
            return 0
        now = self._monotonic()
        with self._lock:
            return sum(job.due < now for job in self._running)

    def do(self, work: Callable[[], Any], wait_s: float, *, due_s: float) -> Any:
        """Return what ``work`` returns or raise what it raises, also SystemExit and the like.

        Args:
            wait_s: how long the caller waits.
            due_s: after how long the job counts as ``overdue``.

        Raises:
            Overdue: it was not done within ``wait_s``.
        """
        if self._pid != os.getpid():
            self._begin()
        job = _Job(work, self._monotonic() + due_s)
        with self._lock:
            self._running.add(job)
            fresh = self._idle == 0
            self._idle -= not fresh
        if fresh:
            try:
                threading.Thread(
                    target=self._serve, args=(self._jobs, job), name="webfetch-cache", daemon=True
                ).start()
            except BaseException:
                with self._lock:
                    self._running.discard(job)
                raise
        else:
            self._jobs.put(job)
        if not job.done.acquire(timeout=wait_s):
            raise Overdue
        if isinstance(job.error, KeyboardInterrupt):  # a real Ctrl-C reaches the main thread alone
            raise RuntimeError("it raised KeyboardInterrupt") from job.error
        if job.error is not None:
            raise job.error
        return job.value

    def settle(self, wait_s: float) -> None:
        """Wait until nothing runs, for at most ``wait_s``."""
        end = time.monotonic() + wait_s
        with self._lock:
            running = list(self._running)
        for job in running:
            if job.done.acquire(timeout=max(end - time.monotonic(), 0.0)):
                job.done.release()

    def _serve(self, jobs: queue.SimpleQueue[_Job], job: _Job) -> None:
        while True:
            try:
                job.value = job.work()
            except BaseException as exc:
                job.error = exc
            with self._lock:
                self._running.discard(job)
                stay = self._idle < IDLE_THREADS
                self._idle += stay
            job.done.release()
            if not stay:
                return
            try:
                job = jobs.get(timeout=self._idle_s)
            except queue.Empty:
                with self._lock:
                    if self._idle > 0:  # else one of the idle was promised a job, and it may be this one
                        self._idle -= 1
                        return
                job = jobs.get()
