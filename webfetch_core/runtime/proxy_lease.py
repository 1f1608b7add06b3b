"""Who may use the guard's proxy, how much, and what became of it."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from ..errors import PageError, Refused, WebfetchError
from ..models import ProxyAddress, ProxyFailure
from ..providers import ProxyLease
from .netguard import CheckedTarget, Guard

MAX_OF_A_LEASE = 96
"""Of these, those of one lease: one page must not starve the others. 32 and some WebSockets are in use."""

MAX_FAILURES = 200
"""How many failures a lease remembers; a page can provoke any number."""

MAX_SENT_BYTES = 16 * 1024 * 1024
"""What one lease may send out: a page that is read has no need to upload."""


class Lease:
    """The right of one client to use the proxy, and the record of what became of its requests.

    Made by :meth:`.guard_proxy.GuardProxy.lease`; a context manager. Thread-safe.
    """

    def __init__(
        self, guard: Guard, port: int, max_bytes: int | None, ended: Callable[[Lease], None]
    ) -> None:
        self._guard = guard
        self._port = port
        self._ended = ended
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._failures: list[ProxyFailure] = []
        self._sent = self._received = 0
        self.closed = False
        self.address = ProxyAddress(
            server=f"http://127.0.0.1:{port}",
            username=secrets.token_hex(8),
            password=secrets.token_urlsafe(24),
        )

    @property
    def received(self) -> int:
        """Bytes that came in over all of its connections."""
        with self._lock:
            return self._received

    def failures(self) -> tuple[ProxyFailure, ...]:
        """What was refused or could not be reached, oldest first; each host, port and kind once."""
        with self._lock:
            return tuple(self._failures)

    def permit(self, url: str) -> None:
        """Judge a URL by its form and by the vetoes, without resolving its host.

        The proxy sees host and port of what is fetched over TLS and no more: a client that knows the
        whole URL asks here. Where it leads is judged when it is connected to.

        Raises:
            Refused: as the guard would.
        """
        self._guard.judge(url)

    def close(self) -> None:
        """End every connection of it; its credentials are worth nothing from now on."""
        with self._lock:
            self.closed = True
            sockets = list(self._sockets)
        self._ended(self)
        for sock in sockets:
            with suppress(OSError):  # wakes the thread that owns it, which closes it
                sock.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- the proxy's side ----

    def check(self, url: str) -> CheckedTarget:
        """Ask the guard, and whether there is anything left to spend."""
        with self._lock:
            spent = self._max_bytes is not None and self._received > self._max_bytes
        if spent:
            raise PageError(f"it loads more than {self._max_bytes:,} bytes", kind="too_large")
        target = self._guard.check(url)
        if target.port == self._port and target.ip.startswith("127."):
            raise Refused("the proxy does not connect to itself")
        return target

    def note(self, host: str, port: int, error: WebfetchError) -> None:
        found = ProxyFailure(host=host, port=port, kind=error.kind, message=str(error))
        with self._lock:
            if found not in self._failures and len(self._failures) < MAX_FAILURES:
                self._failures.append(found)

    def keep(self, sock: socket.socket) -> bool:
        """Whether the connection may go on: it ends with the lease, and there are not too many."""
        with self._lock:
            if self.closed or len(self._sockets) >= 2 * MAX_OF_A_LEASE:
                return False
            self._sockets.add(sock)
            return True

    def drop(self, sock: socket.socket) -> None:
        with self._lock:
            self._sockets.discard(sock)

    def count_received(self, size: int) -> None:
        with self._lock:
            self._received += size
            over = self._max_bytes is not None and self._received > self._max_bytes
        if over:
            raise PageError(f"it loads more than {self._max_bytes:,} bytes", kind="too_large")

    def count_sent(self, size: int) -> None:
        with self._lock:
            self._sent += size
            over = self._sent > MAX_SENT_BYTES
        if over:
            raise PageError(f"it sends more than {MAX_SENT_BYTES:,} bytes", kind="too_large")


if TYPE_CHECKING:

    def _keeps_the_contract(lease: Lease) -> ProxyLease:
        return lease
