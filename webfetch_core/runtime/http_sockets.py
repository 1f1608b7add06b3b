"""Sockets whose time-outs are budgets, and that can be cut while they connect, send or are read.

Imports urllib3: imported by :mod:`.http_pin`, by nothing else.
"""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import Iterable
from typing import Any

from urllib3.util import wait_for_write
from urllib3.util.connection import allowed_gai_family

from .http_line import Cuttable, hold, in_use

_LOOK_S = 0.25
"""How often one who connects looks whether that is cut. Linux wakes it at once; others do not."""


class _Budget(Cuttable):
    """Makes a socket's time-out one budget for all its reads, from the moment it is set.

    A plain time-out starts afresh with each byte, so a peer that drips headers or body never
    meets it. urllib3 sets the time-out once before a reply is read, which is where it counts from.
    """

    _until: float | None = None

    def settimeout(self, value: float | None) -> None:
        self._until = None if value is None else time.monotonic() + value
        super().settimeout(value)  # type: ignore[misc]

    def gettimeout(self) -> float | None:
        """What is left; asked by ``ssl`` for the time that a handshake may take."""
        if self._until is None:
            return None
        return max(self._until - time.monotonic(), 0.001)

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        if self._until is not None:
            left = self._until - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            super().settimeout(left)  # type: ignore[misc]
        return super().recv_into(*args, **kwargs)  # type: ignore[misc, no-any-return]


class BudgetSocket(_Budget, socket.socket):
    """A plain one."""


class BudgetTLSSocket(_Budget, ssl.SSLSocket):
    """One that took the place of a plain one, whose connection it has."""

    def do_handshake(self, block: bool = False) -> None:
        hold(self)
        super().do_handshake(block)


def connect(host: str, port: int, timeout_s: float | None, options: Iterable[Any] | None) -> BudgetSocket:
    """Connect to one of the addresses of ``host``, which is one itself unless it names a proxy.

    Raises:
        TimeoutError: no address took the connection within ``timeout_s``.
        OSError: it failed, or was cut.
    """
    ends = None if timeout_s is None else time.monotonic() + timeout_s
    failed: OSError | None = None
    for family, kind, proto, _, address in socket.getaddrinfo(
        host.strip("[]"), port, allowed_gai_family(), socket.SOCK_STREAM
    ):
        made = None
        try:
            made = BudgetSocket(family, kind, proto)
            for option in options or ():
                made.setsockopt(*option)
            _reach(made, address, ends)
            made.settimeout(None if ends is None else max(ends - time.monotonic(), 0.001))
            return made
        except OSError as exc:
            failed = exc
            if made is not None:
                made.close()
    raise failed or OSError("the name has no address")


def _reach(made: BudgetSocket, address: Any, ends: float | None) -> None:
    made.setblocking(False)
    hold(made)
    _require_whole()
    try:
        made.connect(address)
    except BlockingIOError:
        while not wait_for_write(made, timeout=_LOOK_S if ends is None else _within(ends)):
            _require_whole()
            if ends is not None and time.monotonic() >= ends:
                raise TimeoutError("timed out") from None
        _require_whole()  # what was cut may well be ready, with no error
        if error := made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(error, os.strerror(error)) from None


def _within(ends: float) -> float:
    return min(max(ends - time.monotonic(), 0.0), _LOOK_S)


def _require_whole() -> None:
    line = in_use()
    if line is not None and line.is_cut:
        raise ConnectionAbortedError("it was cut")
