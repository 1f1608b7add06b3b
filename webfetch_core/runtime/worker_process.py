"""One extraction worker process, as the host holds it: started, asked, timed, killed, reaped."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from attrs import asdict, fields, filters

from .. import errors
from ..errors import NotConfigured, ProviderError, Refused, TimedOut, WebfetchError
from ..log import get_logger
from ..models import Document, Page
from ..wire import from_plain
from .frames import BadFrame, read_frame, write_frame

MAX_REPLY_BYTES = 32 << 20
START_TIMEOUT_S = 20.0
CLOSE_S = 0.4
_STDERR_TAIL = 2_000

_log = get_logger("workers")


class WorkerProcess:
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

    def introduce(self, spec: Mapping[str, Any]) -> None:
        """Say what to run. Raises what the factory raised, ProviderError or TimedOut."""
        path = [entry for entry in sys.path if entry]
        reply = self._call({**spec, "path": path}, b"", START_TIMEOUT_S)
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
