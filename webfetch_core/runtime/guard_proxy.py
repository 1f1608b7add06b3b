"""A forward proxy on loopback, for clients that open connections of their own: a browser.

Whatever such a client wants to reach, each redirect, frame, script and WebSocket of a page, it asks
this proxy for, and every request passes the guard: the connection goes to the address that was
checked. A client holds a lease (:mod:`.proxy_lease`); without its credentials nothing is served, so that no
other program on the machine can use the way out.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from ..errors import PageError, TimedOut, Unavailable
from ..log import get_logger
from .guard_tunnels import Session
from .netguard import Guard
from .proxy_lease import Lease
from .proxy_streams import PIECE
from .proxy_upstream import Select
from .proxy_wire import answer

_log = get_logger("guard_proxy")

MAX_CONNECTIONS = 256
"""At the same time, all leases together. A browser opens at most 32 for a page."""

LINGER_S = 0.1
"""How long a client that was answered is listened to, unread, before its connection is closed."""

CLOSE_S = 2.0
"""How long closing waits for the threads to notice."""


class GuardProxy:
    """The listening side: one for all leases of a ``Webfetch``. Starts with its first lease."""

    def __init__(
        self,
        guard: Guard,
        *,
        max_connections: int = MAX_CONNECTIONS,
        session: Callable[..., Session] = Session,
        upstream: Select = lambda target: None,
    ) -> None:
        """Take the guard; nothing listens yet.

        Args:
            guard: judges every target.
            max_connections: further ones are answered 503.
            session: makes the object that serves one connection; for other time limits.
            upstream: the proxy that leads on to a target, if any.
        """
        self.guard = guard
        self.upstream = upstream
        self.port = 0
        self._session = session
        self._slots = threading.BoundedSemaphore(max_connections)
        self._lock = threading.Lock()
        self._leases: dict[str, Lease] = {}
        self._open: set[socket.socket] = set()
        self._listener: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._pid = os.getpid()

    def lease(self, *, max_bytes: int | None = None) -> Lease:
        """Give a client its own credentials; listens on 127.0.0.1 and a free port from now on.

        Args:
            max_bytes: what it may receive in all; then its connections are cut.

        Raises:
            Unavailable: no port can be had, or the proxy is closed.
        """
        with self._lock:
            if self._closing.is_set() or self._pid != os.getpid():
                raise Unavailable("the guard's proxy is closed")
            if self._listener is None:
                self._listen()
            made = Lease(self.guard, self.port, max_bytes, self._forget)
            self._leases[made.address.username] = made
        return made

    def _forget(self, lease: Lease) -> None:
        with self._lock:
            self._leases.pop(lease.address.username, None)

    def find(self, given: tuple[str, str] | None) -> Lease | None:
        """The lease of these credentials. Takes the same time for any wrong password."""
        if given is None:
            return None
        with self._lock:
            lease = self._leases.get(given[0])
        right = lease.address.password if lease is not None else secrets.token_urlsafe(24)
        return lease if hmac.compare_digest(given[1].encode(), right.encode()) and lease else None

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        with self._lock:
            return len(self._open)

    def close(self) -> None:
        """Stop listening and end every connection. Idempotent."""
        with self._lock:
            self._closing.set()
            listener, self._listener = self._listener, None
            leases = list(self._leases.values())
        if listener is not None:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes accept() on Linux; closing alone does not
            listener.close()
        for lease in leases:
            lease.close()
        with self._lock:
            waiting = list(self._open)
        for sock in waiting:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        if self._thread is not None:
            self._thread.join(CLOSE_S)

    # ---- the listening side ----

    def _listen(self) -> None:
        try:
            self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        except OSError as exc:
            raise Unavailable(f"no port for the guard's proxy: {exc.strerror or exc}") from exc
        self._listener.settimeout(0.5)  # where shutdown does not wake accept(), this does
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(
            target=self._accept, args=(self._listener,), name="webfetch-guard-proxy", daemon=True
        )
        self._thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while not self._closing.is_set():
            try:
                client, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError:
                if self._closing.is_set():
                    return
                time.sleep(0.05)  # out of file descriptors, say: it may pass
                continue
            try:
                self._admit(client)
            except Exception as exc:  # no thread to be had
                _log.warning("proxy.connection_dropped", exc_info=exc)
                client.close()

    def _admit(self, client: socket.socket) -> None:
        if not self._slots.acquire(blocking=False):
            with suppress(OSError):
                client.settimeout(0.2)
                client.sendall(answer(503, "Busy"))
            _end(client)
            return
        try:
            with self._lock:
                self._open.add(client)
            threading.Thread(target=self._serve, args=(client,), name="webfetch-proxied", daemon=True).start()
        except BaseException:
            self._gone(client)
            raise

    def _serve(self, client: socket.socket) -> None:
        try:
            self._session(self, client).run()
        except (OSError, TimedOut, PageError):
            pass  # the other side is gone, too slow, or cut off: it is noted where it matters
        except Exception as exc:
            _log.error("proxy.failed", exc_info=exc)
        finally:
            _end(client)
            self._gone(client)

    def _gone(self, client: socket.socket) -> None:
        with self._lock:
            self._open.discard(client)
        self._slots.release()


def _end(client: socket.socket) -> None:
    """Close without a reset, which would take the last reply from a client that still sends."""
    until = time.monotonic() + LINGER_S
    with suppress(OSError):
        client.shutdown(socket.SHUT_WR)
        while (left := until - time.monotonic()) > 0:
            client.settimeout(left)
            if not client.recv(PIECE):
                break
    client.close()
