"""For plugins that serve HTTP: a socket, and, with uvicorn, connections that keep nobody out when they ask
nothing or do not read their answer.

uvicorn lets a client take any time for the head of a request, and counts a connection that has not asked
yet as one that is served. Here both have an end: a head has ``head_s``, an answer that nobody takes has
``stall_s``, and when there are ``most`` connections the one that has been without a request for longest
makes room. Nothing here imports uvicorn; asyncio
is imported when it is used, since every plugin imports the API.
"""

from __future__ import annotations

import errno
import socket
from collections import Counter
from collections.abc import Callable, Iterable
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any

from attrs import field, frozen
from attrs.validators import ge, gt

from .errors import ConfigError
from .serverkit import client_of

if TYPE_CHECKING:
    import asyncio

MOST_CONNECTIONS = 1_000
FILES_KEPT = 64
"""Open files that are not connections: the interpreter's own, the cache's, the models'."""
LINGER_S = 2.0
"""How long a connection that is turned away may take to read why."""
MOST_TURNED_AWAY = 32
"""Connections that are told why at the same time; further ones are dropped."""
LOOK_S = 1.0
THIS_MACHINE = ("127.0.0.0/8", "::1")
BACKLOG = 256
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\nretry-after: 5\r\n"
    b"x-content-type-options: nosniff\r\ncontent-length: 21\r\nconnection: close\r\n\r\n"
    b"too many connections\n"
)
_NO_HTTP = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"x-content-type-options: nosniff\r\ncontent-length: 16\r\nconnection: close\r\n\r\nthis is no HTTP\n"
)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at ``host`` and ``port``, of which 0 takes a free one.

    Raises:
        ConfigError: the address cannot be had.
    """
    try:
        infos = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = infos[0]
        made = socket.socket(family, kind, protocol)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen(BACKLOG)  # who connects while the server is made waits for it
        except OSError:
            made.close()
            raise
        return made
    except OSError as exc:
        raise ConfigError(
            f"cannot listen on {host} port {port}: {exc.strerror or exc}",
            fix="choose another one with --host and --port (0 takes a free port)",
        ) from exc


def open_files() -> int:
    """How many files this process may have open; 512 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 512
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1 << 20 if soft == resource.RLIM_INFINITY else soft


@frozen(kw_only=True)
class ConnectionLimits:
    """What connections may take.

    Attributes:
        most: connections at the same time.
        head_s: seconds from the first wait for a request, or its first byte, to the end of its head.
        stall_s: seconds in which a client must take something of an answer that waits for it.
        shared: addresses and networks behind which there are many clients (this machine, a reverse
            proxy): the share of one client does not bound them. ``*`` stands for every address.
    """

    most: int = field(default=MOST_CONNECTIONS, validator=ge(1))
    head_s: float = field(default=10.0, validator=gt(0))
    stall_s: float = field(default=30.0, validator=gt(0))
    shared: tuple[str, ...] = THIS_MACHINE

    @classmethod
    def within(cls, files: int, most: int, shared: Iterable[str] = ()) -> ConnectionLimits:
        """At most ``most`` connections where ``files`` files may be open (see :func:`open_files`): half of
        them are left to what the answers need, connections to engines and pages above all.

        Args:
            shared: addresses with many clients behind them, beside this machine's.
        """
        fitting = max(min(most, (files - FILES_KEPT) // 2), 8)
        return cls(most=fitting, shared=(*THIS_MACHINE, *shared))

    @property
    def backlog(self) -> int:
        """For ``uvicorn.Config(backlog=...)``: as many are taken at once, before any can be turned away."""
        return min(BACKLOG, max(8, self.most // 4))

    @property
    def share(self) -> int:
        """Connections of one client."""
        return max(1, self.most // 4)


class Connections:
    """Who is connected, and who of them has asked nothing. Pure but for what it remembers."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.turned_away = 0
        self._clients: dict[Any, str] = {}
        self._counts: Counter[str] = Counter()
        self._idle: dict[Any, None] = {}

    def __len__(self) -> int:
        return len(self._clients)

    def admit(self, connection: Any, address: str) -> tuple[bool, Any]:
        """Whether ``connection`` from ``address`` is let in, and the one that has to go for it, if any."""
        client, leaves = client_of(address), None
        own = self._counts[client] >= self.limits.share and not self._is_shared(address)
        if own or len(self._clients) >= self.limits.most:
            leaves = next((one for one in self._idle if not own or self._clients[one] == client), None)
            if leaves is None:
                return False, None
            self.leave(leaves)
        self._clients[connection] = client
        self._counts[client] += 1
        self._idle[connection] = None
        return True, leaves

    def asks(self, connection: Any) -> None:
        """``connection`` has a request that is being answered."""
        self._idle.pop(connection, None)

    def rests(self, connection: Any) -> None:
        """``connection`` has none any more."""
        if connection in self._clients:
            self._idle.setdefault(connection)

    def leave(self, connection: Any) -> None:
        """``connection`` is gone, or has to go."""
        self._idle.pop(connection, None)
        client = self._clients.pop(connection, None)
        if client is not None:
            self._counts[client] -= 1
            if not self._counts[client]:
                del self._counts[client]

    def _is_shared(self, address: str) -> bool:
        if "*" in self.limits.shared:
            return True
        try:
            ip = ip_address(address.partition("%")[0])
        except ValueError:
            return address in self.limits.shared
        ip = getattr(ip, "ipv4_mapped", None) or ip
        return any(_within(ip, network) for network in self.limits.shared)


def _within(ip: Any, network: str) -> bool:
    try:
        return ip in ip_network(network, strict=False)
    except ValueError:
        return False


def limited_protocol(base: Any, limits: ConnectionLimits) -> Any:
    """A class for ``uvicorn.Config(http=...)`` of one server: ``base``, which is uvicorn's ``H11Protocol``,
    within ``limits``."""
    import asyncio

    connections = Connections(limits)

    class Limited(base):  # type: ignore[misc]
        transport: Any
        _in = False
        _idle_since: float | None = None
        _buffered = 0

        def connection_made(self, transport: Any) -> None:
            self._loop = asyncio.get_running_loop()
            self._began = self._moved = self._loop.time()
            self.transport = transport
            peer = transport.get_extra_info("peername")
            address = str(peer[0]) if isinstance(peer, tuple) and peer else ""
            self._in, leaves = connections.admit(self, address)
            if leaves is not None:
                leaves.transport.abort()
            if self._in:
                self._idle_since = self._began
                super().connection_made(transport)
            elif connections.turned_away >= MOST_TURNED_AWAY:
                transport.abort()
                return
            else:
                connections.turned_away += 1
                transport.write(_FULL)
                if transport.can_write_eof():
                    transport.write_eof()
            self._watch = self._loop.call_later(LOOK_S, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            watch = getattr(self, "_watch", None)
            if watch is not None:
                watch.cancel()
            if self._in:
                connections.leave(self)
                super().connection_lost(exc)
            elif watch is not None:
                connections.turned_away -= 1

        def data_received(self, data: bytes) -> None:
            if not self._in:
                return
            super().data_received(data)
            if not self._rests():
                self._idle_since = None
                connections.asks(self)
            elif self._idle_since is None:  # the beginning of the next head
                self._idle_since = self._loop.time()

        def on_response_complete(self) -> None:
            super().on_response_complete()  # may begin the next request, where clients do not wait
            if self._rests() and not self.transport.get_write_buffer_size():
                connections.rests(self)

        def send_400_response(self, msg: str) -> None:
            if self.cycle is None or not self.cycle.response_started or self._rests():
                self.transport.write(_NO_HTTP)
            self.transport.close()

        def eof_received(self) -> Any:
            return super().eof_received() if self._in else None

        def _rests(self) -> bool:
            return self.cycle is None or bool(self.cycle.response_complete)

        def _look(self) -> None:
            now = self._loop.time()
            buffered = self.transport.get_write_buffer_size()
            if not buffered or buffered != self._buffered:
                self._moved = now
            self._buffered = buffered
            if not buffered and self._in and self._rests():
                connections.rests(self)  # which it did not while its answer was unread
            if now - self._moved >= (limits.stall_s if self._in else LINGER_S):
                self.transport.abort()
            elif not self._in and now - self._began >= LINGER_S:
                self.transport.close()
            elif self._idle_since is not None and now - self._idle_since >= limits.head_s:
                self._idle_since = None
                self.transport.close()
            self._watch = self._loop.call_later(LOOK_S, self._look)

    return Limited


def tell_of_accept_errors(
    loop: asyncio.AbstractEventLoop, note: Callable[[str], None], every_s: float = 60.0
) -> None:
    """Tell of connections that cannot be taken for want of open files once in ``every_s``: asyncio tells of
    it a hundred times a second, with a traceback each."""
    told_at = float("-inf")

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal told_at
        exc = context.get("exception")
        if not isinstance(exc, OSError) or exc.errno not in _OUT_OF_RESOURCES:
            loop.default_exception_handler(context)
        elif loop.time() - told_at >= every_s:
            told_at = loop.time()
            note(f"webfetch: connections have to wait: {exc.strerror} (raise the limit: ulimit -n)")

    loop.set_exception_handler(handle)


_OUT_OF_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
