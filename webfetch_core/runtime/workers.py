"""Extraction in processes of its own: beside the GIL, and killable.

Each of ``size`` threads owns at most one worker process. A page that hangs, crashes its process or
floods the pipe costs that process only; the next page gets a new one.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from attrs import Factory, asdict, field, fields, filters, frozen
from attrs.validators import gt

from .. import errors
from ..errors import Cancelled, NotConfigured, ProviderError, Refused, TimedOut, WebfetchError
from ..log import get_logger
from ..models import Document, Page
from ..providers import Clock
from ..wire import from_plain
from .frames import BadFrame, read_frame, write_frame

MAX_REPLY_BYTES = 32 << 20
START_TIMEOUT_S = 20.0
RETRY_START_S = 5.0
"""After a worker could not start, pages fail at once for so long instead of each trying again."""

CLOSE_S = 0.4
_STDERR_TAIL = 2_000

_log = get_logger("workers")


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
        self._children: dict[int, _Child] = {}

    def submit(self, page: Page, timeout_s: float) -> Future[Document | None]:
        """Extract ``page`` in a worker.

        ``timeout_s`` counts from the moment a worker takes the page; until then the future can be
        cancelled. The future ends with the document, None (nothing in it), or an error: TimedOut; what
        the extractor raised, if it is of webfetch's kinds; ProviderError for anything else (another
        exception, a crash, a reply over 32 MB or none of ours); Cancelled after ``close()``.
        """
        job = _Job(page, timeout_s)
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
        child: _Child | None = None
        while (job := jobs.get()) != "end":
            if isinstance(job, _Job) and not job.future.set_running_or_notify_cancel():
                continue
            try:
                if child is None or not child.alive:
                    self._forget(child)
                    child = None
                    child = self._start()
                if isinstance(job, _Job):
                    job.future.set_result(child.extract(job.page, job.timeout_s))
            except BaseException as error:
                if isinstance(job, _Job):
                    job.future.set_exception(_closed() if self._closed else error)
        self._forget(child)

    def _start(self) -> _Child:
        with self._lock:
            if self._failed_start is not None and self._clock.monotonic() < self._failed_start[0]:
                raise self._failed_start[1]
            if self._closed:
                raise _closed()
            child = _Child(self._environ)
            self._children[child.pid] = child
        try:
            child.introduce(self.spec)
        except WebfetchError as error:
            self._forget(child)
            failure = type(error)(f"the extraction worker could not start: {error.message}", kind=error.kind)
            self._failed_start = (self._clock.monotonic() + RETRY_START_S, failure)
            raise failure from None
        self._failed_start = None
        return child

    def _forget(self, child: _Child | None) -> None:
        if child is not None:
            child.end()
            with self._lock:
                self._children.pop(child.pid, None)


def _closed() -> Cancelled:
    return Cancelled("the extraction workers are closed")


class _Child:
    """One worker process, used by one thread; only ``kill`` may be called from another."""

    def __init__(self, environ: Mapping[str, str] | None) -> None:
        if not sys.executable:
            raise ProviderError("sys.executable is not set: no extraction worker can be started")
        self._process = subprocess.Popen(
            [sys.executable, *_interpreter_flags(), "-m", "webfetch_core.runtime.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environ,
            start_new_session=os.name == "posix",
        )
        self.pid = self._process.pid
        self._lock = threading.Lock()
        self._call_under_way: object | None = None
        self._timed_out = False
        self._doomed = False
        self._stderr = bytearray()
        self._drain = threading.Thread(target=self._read_stderr, daemon=True)
        self._drain.start()

    @property
    def alive(self) -> bool:
        # A kill takes effect a little later than it is sent.
        return not self._doomed and self._process.poll() is None

    @property
    def busy(self) -> bool:
        return self._call_under_way is not None

    def introduce(self, spec: WorkerSpec) -> None:
        path = [entry for entry in sys.path if entry]
        reply = self._call({**asdict(spec), "path": path}, b"", START_TIMEOUT_S)
        if reply.get("ready") is not True:
            self.kill()
            raise ProviderError("the worker did not say that it is ready")

    def extract(self, page: Page, timeout_s: float) -> Document | None:
        header = asdict(page, filter=filters.exclude(fields(Page).body))
        header["headers"] = dict(page.headers)
        reply = self._call({"page": header, "timeout_s": timeout_s}, page.body, timeout_s)
        if reply.get("last"):
            self.end()
        if "document" not in reply:
            self.kill()
            raise ProviderError("the extraction worker's reply has no document")
        if reply["document"] is None:
            return None
        try:
            return from_plain(reply["document"], Document)
        except Exception as error:
            self.kill()
            raise ProviderError(
                f"the extraction worker's document is malformed: {type(error).__name__}"
            ) from None

    def _call(self, header: Mapping[str, Any], body: bytes, timeout_s: float) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        # Blocking pipes work everywhere; killing the process is what ends the wait.
        call = self._call_under_way = object()
        timer = threading.Timer(timeout_s, self._time_out, (call,))
        timer.daemon = True
        timer.start()
        try:
            write_frame(stdin, header, body)
            frame = read_frame(stdout, limit=MAX_REPLY_BYTES)
        except OSError:
            frame = None  # the pipe broke: the process is gone
        except BadFrame as error:
            self.kill()
            self._raise_if_late(timeout_s)
            raise ProviderError(f"the extraction worker failed: {error}") from None
        finally:
            timer.cancel()
            with self._lock:
                self._call_under_way = None
        if frame is None:
            self._raise_if_late(timeout_s)
            raise ProviderError(f"the extraction worker died: {self._post_mortem()}")
        reply = frame[0]
        if "error" in reply:
            if reply.get("last"):
                self.end()
            raise _error_of(reply["error"])
        return reply

    def _time_out(self, call: object) -> None:
        with self._lock:
            if call is self._call_under_way:  # else the reply came at the last moment
                self._timed_out = True
                self.kill()

    def _raise_if_late(self, timeout_s: float) -> None:
        if self._timed_out:
            raise TimedOut(f"extraction took more than {timeout_s:g} s; its worker was ended")

    def _post_mortem(self) -> str:
        self.end()
        code = self._process.returncode
        said = self._stderr.decode("utf-8", "replace").strip()
        if said:
            _log.warning("worker.died", exit_code=code, stderr=said)
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"signal {signal.Signals(-code).name}"
        return f"exit code {code}"

    def kill(self) -> None:
        """End the process, and what it started, at once."""
        self._doomed = True
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                if os.name == "posix":
                    os.killpg(self.pid, signal.SIGKILL)
                else:
                    self._process.kill()

    def end(self) -> None:
        """Close the pipes, let the process end or kill it, and reap it."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
        self._drain.join(CLOSE_S)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _read_stderr(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        with stderr, contextlib.suppress(OSError, ValueError):
            while data := stderr.read(8_192):
                self._stderr += data
                del self._stderr[:-_STDERR_TAIL]


def _interpreter_flags() -> list[str]:
    """How this interpreter was started, as far as it decides what is imported.

    ``-P`` always: a worker must not import from the folder that the host happens to run in.
    """
    flags = ["-P"]
    flags += ["-I"] if sys.flags.isolated else []
    flags += ["-E"] if sys.flags.ignore_environment else []
    flags += ["-s"] if sys.flags.no_user_site else []
    flags += ["-B"] if sys.flags.dont_write_bytecode else []
    return flags


def _error_of(data: Any) -> WebfetchError:
    """The error that a worker describes. Nothing in ``data`` is trusted to be of the right type."""
    if not isinstance(data, dict):
        return ProviderError("the extraction worker's error is malformed")
    name, kind, message, fix = (str(data.get(key) or "") for key in ("type", "kind", "message", "fix"))
    if trace := str(data.get("traceback") or ""):
        _log.warning("extractor.raised", error=name, traceback=trace)
    if not re.fullmatch(r"[a-z_]+", kind):
        return ProviderError(f"{name}: {message}" if message else name or "unknown error")
    found = getattr(errors, name, None)
    if isinstance(found, type) and issubclass(found, (ProviderError, NotConfigured, Refused)):
        with contextlib.suppress(TypeError):
            return found(message, kind=kind, fix=fix)
    return ProviderError(message, kind=kind, fix=fix)
