"""Extraction in processes of its own: beside the GIL, and killable.

Each of ``size`` threads owns at most one worker process. A page that hangs, crashes its process or
floods the pipe costs that process only; the next page gets a new one.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import re
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from attrs import Factory, asdict, field, frozen
from attrs.validators import gt

from ..errors import Cancelled, TimedOut, WebfetchError
from ..models import Document, Page
from ..providers import Clock
from .worker_process import CLOSE_S, WorkerProcess

RETRY_START_S = 5.0
"""After a worker could not start, pages fail at once for so long instead of each trying again."""


@frozen(kw_only=True)
class WorkerSpec:
    """What a worker runs: ``factory`` is ``module:function``; called in the worker with the JSON-able
    ``payload`` it returns ``extract(page) -> Document | None``. ``memory_bytes`` caps a worker's writable
    memory where the system can (0: no cap)."""

    factory: str = field()
    payload: Any = None
    memory_bytes: int = 2 << 30

    @factory.validator
    def _check(self, _: Any, value: str) -> None:
        if not re.fullmatch(r"[\w.]+:\w+", value):
            raise ValueError(f"factory must read module:function; got {value!r}")


@frozen
class _Job:
    page: Page
    timeout_s: float = field(validator=gt(0))
    until: float = math.inf
    future: Future[Document | None] = Factory(Future)


class ExtractionWorkers:
    """A pool of worker processes. Threads and processes start with the first page.

    Args:
        spec: what every worker runs.
        size: processes at most.
        clock: times how long a failed start is remembered.
        environ: the workers' environment; that of this process by default.
    """

    def __init__(
        self, spec: WorkerSpec, size: int = 2, *, clock: Clock, environ: Mapping[str, str] | None = None
    ) -> None:
        if size < 1:
            raise ValueError(f"size must be at least 1; got {size}")
        self.spec = spec
        self.size = size
        self._clock = clock
        self._environ = None if environ is None else dict(environ)
        self._lock = threading.Lock()
        self._closed = False
        self._failed_start: tuple[float, WebfetchError] | None = None
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._jobs: queue.SimpleQueue[_Job | str] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._children: dict[int, WorkerProcess] = {}

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that run now."""
        with self._lock:
            return tuple(self._children)

    def submit(self, page: Page, timeout_s: float, *, until: float = math.inf) -> Future[Document | None]:
        """Extract ``page`` in a worker.

        ``timeout_s`` counts from the moment a worker takes the page; until then the future can be
        cancelled. ``until`` is an instant of the clock that it may not pass either, however long the page
        waited and the worker took to start. The future ends with the document, None (nothing in it), or an
        error: TimedOut; what the extractor raised, if it is of webfetch's kinds; ProviderError for anything
        else (another exception, a crash, a reply over 32 MB or none of ours); Cancelled after ``close()``.
        """
        job = _Job(page, timeout_s, until)
        with self._lock:
            if self._closed:
                job.future.set_exception(_closed())
                return job.future
            self._start_threads()
            self._jobs.put(job)
        return job.future

    def warm_up(self) -> None:
        """Start every worker now, without waiting for it."""
        with self._lock:
            if not self._closed:
                self._start_threads()
                for _ in range(self.size):
                    self._jobs.put("warm")

    def close(self) -> None:
        """End the workers within a second. Pages that wait or are under way end with Cancelled."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._pid != os.getpid():  # a fork: the workers are the parent's
                return
            with contextlib.suppress(queue.Empty):
                while True:
                    job = self._jobs.get_nowait()
                    if isinstance(job, _Job) and job.future.set_running_or_notify_cancel():
                        job.future.set_exception(_closed())
            for _ in self._threads:
                self._jobs.put("end")
            children = list(self._children.values())
        for child in children:
            if child.busy:
                child.kill()
        for thread in self._threads:
            thread.join(CLOSE_S)
        for child in children:
            child.kill()

    def _start_threads(self) -> None:
        if self._pid != os.getpid():
            self._reset()
        while len(self._threads) < self.size:
            thread = threading.Thread(
                target=self._serve,
                args=(self._jobs,),
                name=f"webfetch-extract-{len(self._threads)}",
                daemon=True,
            )
            self._threads.append(thread)
            thread.start()

    def _serve(self, jobs: queue.SimpleQueue[_Job | str]) -> None:
        child: WorkerProcess | None = None
        while (job := jobs.get()) != "end":
            if isinstance(job, _Job) and not job.future.set_running_or_notify_cancel():
                continue
            try:
                if child is None or not child.alive:
                    self._forget(child)
                    child = None
                    child = self._start()
                if isinstance(job, _Job):
                    left = min(job.timeout_s, job.until - self._clock.monotonic())
                    if left <= 0:
                        raise TimedOut("no time was left when a worker was free")
                    job.future.set_result(child.extract(job.page, left))
            except BaseException as error:
                if isinstance(job, _Job):
                    job.future.set_exception(_closed() if self._closed else error)
        self._forget(child)

    def _start(self) -> WorkerProcess:
        with self._lock:
            if self._failed_start is not None and self._clock.monotonic() < self._failed_start[0]:
                raise self._failed_start[1]
            if self._closed:
                raise _closed()
            child = WorkerProcess(self._environ)
            self._children[child.pid] = child
        try:
            child.introduce(asdict(self.spec))
        except WebfetchError as error:
            self._forget(child)
            failure = type(error)(f"the extraction worker could not start: {error.message}", kind=error.kind)
            self._failed_start = (self._clock.monotonic() + RETRY_START_S, failure)
            raise failure from None
        self._failed_start = None
        return child

    def _forget(self, child: WorkerProcess | None) -> None:
        if child is not None:
            child.end()
            with self._lock:
                self._children.pop(child.pid, None)


def _closed() -> Cancelled:
    return Cancelled("the extraction workers are closed")
