"""The extraction worker process: ``python -m webfetch_core.runtime.worker``, started by the host.

It reads frames from stdin: first the spec (``factory``, ``payload``, ``memory_bytes``, ``path``), then pages.
It answers each with one frame: ``{"ready": true}``, ``{"document": {...} | null}`` or ``{"error": {...}}``.
It ends when stdin does, that is, also when the host was killed.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import IO, Any

from ..errors import TimedOut, WebfetchError
from ..models import Document, Page
from ..wire import to_plain
from .frames import BadFrame, read_frame, write_frame

_LAST_WORDS_S = 0.3
"""How long a worker may take to end by itself after its stdin ended."""

_ALARM_GRACE_S = 5.0
"""Beyond a page's time-out, the kernel ends a worker that even a killed host could not end."""

_WAY_BACK_S = 0.3
"""What of a page's time is kept for handing the document over."""

Extract = Callable[[Page], Document | None]
Frames = queue.SimpleQueue[tuple[dict[str, Any], bytes] | None]


def main() -> int:
    """Serve pages until stdin ends."""
    requests, replies = _claim_pipes()
    # Ctrl-C reaches the whole process group; it is the host that decides when a worker ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    frames: Frames = queue.SimpleQueue()
    threading.Thread(target=_pump, args=(requests, frames), daemon=True).start()
    first = frames.get()
    if first is None:
        return 0
    try:
        extract = _build(first[0])
    except BaseException as error:
        write_frame(replies, {"error": describe(error)})
        return 1
    write_frame(replies, {"ready": True})
    while (frame := frames.get()) is not None:
        reply = _answer(extract, *frame)
        write_frame(replies, reply)
        if reply.get("last"):
            return 0
    close = getattr(extract, "close", None)
    if callable(close):
        with contextlib.suppress(Exception):
            close()
    return 0


def _claim_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Take stdin and stdout away from the plugins: what they print goes to stderr."""
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return os.fdopen(requests, "rb"), os.fdopen(replies, "wb")


def _pump(requests: IO[bytes], frames: Frames) -> None:
    """Read ahead in a thread of its own, so that the end of stdin is seen during an extraction."""
    try:
        while (frame := read_frame(requests)) is not None:
            frames.put(frame)
    except (BadFrame, OSError):
        pass
    frames.put(None)
    time.sleep(_LAST_WORDS_S)
    os._exit(0)


def _build(spec: dict[str, Any]) -> Extract:
    _limit_memory(int(spec.get("memory_bytes") or 0))
    # What the host can import the worker can, too, but never before its own.
    sys.path.extend(entry for entry in spec.get("path", ()) if entry not in sys.path)
    module, _, name = spec["factory"].partition(":")
    built: Extract = getattr(importlib.import_module(module), name)(spec.get("payload"))
    return built


def _limit_memory(size: int) -> None:
    """Cap what can be written to, not the address space.

    Allocators and thread stacks reserve far more addresses than they use, so RLIMIT_AS would end healthy
    work; RLIMIT_DATA counts private writable memory (Linux 4.7 and newer; without effect elsewhere).
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    if size <= 0:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    cap = size if hard == resource.RLIM_INFINITY else min(size, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (cap, hard))


def _answer(extract: Extract, header: dict[str, Any], body: bytes) -> dict[str, Any]:
    try:
        with _alarm(float(header["timeout_s"])):
            document = _extracted(extract, Page(body=body, **header["page"]), float(header["timeout_s"]))
        if document is not None and not isinstance(document, Document):
            raise TypeError(f"extract() returned {type(document).__name__}, not a Document or None")
        return {"document": to_plain(document)}
    except MemoryError:
        # The heap may be in pieces: this page is answered, the next one gets a fresh process.
        return {"error": {"type": "MemoryError", "kind": "", "message": "out of memory"}, "last": True}
    except TimedOut as error:
        # The call that was left behind still runs in its thread, perhaps with a lock: nothing ends it but
        # the end of its process.
        return {"error": describe(error), "last": True}
    except BaseException as error:
        return {"error": describe(error)}


def _extracted(extract: Extract, page: Page, timeout_s: float) -> Document | None:
    """What ``extract`` makes of a page; one with ``within(page, seconds)`` is told its time, less that
    of the way back."""
    within = getattr(extract, "within", None)
    if not callable(within):
        return extract(page)
    found: Document | None = within(page, max(timeout_s - _WAY_BACK_S, 0.5 * timeout_s))
    return found


@contextlib.contextmanager
def _alarm(timeout_s: float) -> Any:
    """Let the kernel end this process should it hang in native code with nobody left to kill it."""
    timer = getattr(signal, "setitimer", None)
    if timer is None:  # Windows
        yield
        return
    timer(signal.ITIMER_REAL, timeout_s + _ALARM_GRACE_S)
    try:
        yield
    finally:
        timer(signal.ITIMER_REAL, 0)


def describe(error: BaseException) -> dict[str, Any]:
    """The JSON form of an exception; ``kind`` is empty for one that is not webfetch's own."""
    own = isinstance(error, WebfetchError)
    return {
        "type": type(error).__name__,
        "kind": error.kind if isinstance(error, WebfetchError) else "",
        "message": str(getattr(error, "message", error) if own else error)[:2_000],
        "fix": getattr(error, "fix", "") if own else "",
        "traceback": "" if own else "".join(traceback.format_exception(error))[-8_000:],
    }


if __name__ == "__main__":
    sys.exit(main())
