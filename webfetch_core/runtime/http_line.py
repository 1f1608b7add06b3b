"""The connection that a request has in use, and how being cancelled cuts it.

Closing a socket does not wake a thread that reads from it; shutting it down does, on every system. What is
shut down must still be this request's: a connection that went back to the pool may be somebody else's by
now, and the number of a socket that was closed another socket's.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from .cancelling import current, given_up, require_wanted


class Cuttable:
    """Of a socket: it can be cut, and is not closed while that is done to it."""

    line: Line | None = None

    def cut(self) -> None:
        with suppress(OSError):  # it is not connected, or no more
            # Not by the method of a TLS socket, whose reader would go on without TLS.
            socket.socket.shutdown(self, socket.SHUT_RDWR)  # type: ignore[arg-type]

    def _real_close(self, *args: Any) -> None:
        if self.line is not None:
            self.line.let_go()
        super()._real_close(*args)  # type: ignore[misc]


class Line:
    """What one request has in use. One thread owns it. Any may cut it, and so may a signal handler: there is
    no lock that it could find taken, and every step is one of the interpreter's."""

    def __init__(self) -> None:
        self._used: Cuttable | None = None
        self._cutting: dict[object, None] = {}
        self.is_cut = False

    def cut(self) -> None:
        """Cut what is in use, and whatever comes into use later."""
        self.is_cut = True
        key = object()
        self._cutting[key] = None  # before it is looked at: whoever lets go of it waits from here on
        try:
            used = self._used
            if used is not None:
                used.cut()
        finally:
            del self._cutting[key]

    def hold(self, used: Cuttable) -> None:
        """Have ``used`` in use, in place of what was."""
        self.let_go()
        used.line = self
        self._used = used
        if self.is_cut:
            used.cut()

    def let_go(self) -> None:
        """Return when what was in use can be cut no more: it may be closed, or be another request's."""
        used, self._used = self._used, None
        while self._cutting:  # by another thread, for as long as shutting down takes
            time.sleep(0.0005)
        if used is not None:
            used.line = None


_in_use: ContextVar[Line | None] = ContextVar("webfetch_line", default=None)


def in_use() -> Line | None:
    """The line of the request that this thread makes; None where no token applies to it."""
    return _in_use.get()


def hold(connection: Any) -> None:
    """Have in use the socket at the bottom of ``connection``, which may be TLS within TLS."""
    line = _in_use.get()
    if line is None:
        return
    while connection is not None and not isinstance(connection, Cuttable):
        connection = getattr(connection, "socket", None)
    if connection is not None:
        line.hold(connection)


@contextmanager
def cut_when_cancelled() -> Iterator[None]:
    """Within, being cancelled ends what this thread connects to, sends or reads.

    Raises:
        TimedOut: of kind ``cancelled``, whatever came of it: what was cut can look like a fault of the other
            side, and like a whole reply.
    """
    token = current()
    if token is None:
        yield
        return
    line = Line()
    before = _in_use.set(line)
    try:
        with token.listening(line.cut):
            yield
        require_wanted()
    except Exception as exc:
        if token.cancelled:
            raise given_up() from exc
        raise
    finally:
        line.let_go()
        _in_use.reset(before)
