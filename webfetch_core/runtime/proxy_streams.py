"""Sockets of the guard's proxy: reading with one time budget, dialling, and relaying both ways."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable

from ..errors import TimedOut, Unavailable
from .netguard import CheckedTarget
from .proxy_wire import MAX_HEAD_BYTES, BadMessage, chunk_size

PIECE = 64 * 1024
CONNECT_S = 5.0
"""What a connection to one address may take, as elsewhere."""
MORE_ADDRESSES = 2
"""How many further addresses of a host are tried when the first takes no connection."""
_CHUNK_LINE_BYTES = 1024

Count = Callable[[int], None]


class Closed(Exception):
    """The other side ended the connection before it said what was due."""


class Unwanted(Closed):
    """Whoever waited for the answer has gone."""


class Incoming:
    """What a peer sends, read against instants of ``time.monotonic`` rather than a pause between bytes."""

    def __init__(self, sock: socket.socket, asker: socket.socket | None = None) -> None:
        """Read from ``sock`` for as long as ``asker``, who waits for what comes, is there."""
        self.sock = sock
        self._asker = asker
        self._held = bytearray()

    def head(self, until: float) -> bytes:
        """Read up to and including an empty line.

        Raises:
            Closed, BadMessage: it ended, or is too long.
            TimeoutError: it was not complete in time, however many bytes dripped in.
        """
        while (end := self._held.find(b"\r\n\r\n")) < 0:
            if len(self._held) > MAX_HEAD_BYTES:
                raise BadMessage("the head is too large", 431)
            self._more(until)
        if end > MAX_HEAD_BYTES:
            raise BadMessage("the head is too large", 431)
        return self._cut(end + 4)

    def line(self, until: float) -> bytes:
        """Read a short line with its end."""
        while (end := self._held.find(b"\r\n")) < 0:
            if len(self._held) > _CHUNK_LINE_BYTES:
                raise BadMessage("a line of the body is too long")
            self._more(until)
        return self._cut(end + 2)

    def some(self, most: int, until: float) -> bytes:
        """Read between one and ``most`` bytes."""
        if not self._held:
            self._more(until)
        return self._cut(min(most, len(self._held)))

    def rest(self) -> bytes:
        """What was read ahead, without waiting."""
        return self._cut(len(self._held))

    def _cut(self, size: int) -> bytes:
        piece = bytes(self._held[:size])
        del self._held[:size]
        return piece

    def _more(self, until: float) -> None:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        if self._asker is not None:
            self._await(self._asker, left)
        self.sock.settimeout(max(until - time.monotonic(), 0.001))
        piece = self.sock.recv(PIECE)
        if not piece:
            raise Closed
        self._held += piece

    def _await(self, asker: socket.socket, left: float) -> None:
        """Return when there is something to read; a peer that never answers must not outlive its asker."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.sock, selectors.EVENT_READ)
            selector.register(asker, selectors.EVENT_READ)
            ready = {key.fileobj for key, _ in selector.select(left)}
            if asker in ready and self.sock not in ready:
                asker.setblocking(False)
                try:
                    if not asker.recv(1, socket.MSG_PEEK):
                        raise Unwanted
                except BlockingIOError:
                    pass
                # It sends on, which nobody reads: the reply alone is waited for from here.
                selector.unregister(asker)
                if not selector.select(left):
                    raise TimeoutError("timed out")


def send(sock: socket.socket, data: bytes, until: float) -> None:
    """Send all of ``data`` by ``until``; ``sendall``'s time-out is one for the whole."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    sock.settimeout(left)
    sock.sendall(data)


def pass_body(source: Incoming, sink: socket.socket, length: int, until: float, count: Count) -> None:
    """Hand on a body of ``length`` bytes, exactly; what the peer sends behind it stays unread."""
    while length > 0:
        piece = source.some(min(length, PIECE), until)
        count(len(piece))
        send(sink, piece, until)
        length -= len(piece)


def pass_chunks(source: Incoming, sink: socket.socket, until: float, count: Count) -> None:
    """Hand on a chunked body, framed anew: extensions and trailers are left out."""
    while size := chunk_size(source.line(until)):
        send(sink, b"%x\r\n" % size, until)
        pass_body(source, sink, size, until, count)
        if source.line(until) != b"\r\n":
            raise BadMessage("a chunk of the body is malformed")
        send(sink, b"\r\n", until)
    while source.line(until) != b"\r\n":
        pass
    send(sink, b"0\r\n\r\n", until)


def dial(target: CheckedTarget, until: float) -> socket.socket:
    """Connect to the checked address, or to the next ones when it takes no connection.

    Raises:
        Unavailable, TimedOut: none of them does. The addresses are not told.
    """
    timed_out = False
    for ip in (target.ip, *target.others[:MORE_ADDRESSES]):
        left = min(CONNECT_S, until - time.monotonic())
        if left <= 0:
            timed_out = True
            break
        try:
            made = socket.create_connection((ip, target.port), timeout=left)
        except TimeoutError:
            timed_out = True
        except OSError:
            timed_out = False
        else:
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return made
    if timed_out:
        raise TimedOut(f"{target.host} took no connection in time")
    raise Unavailable(f"{target.host} takes no connection")


class _Way:
    """One direction of a tunnel: bytes on their way, and whether their source has ended."""

    def __init__(self, source: socket.socket, sink: socket.socket, count: Count) -> None:
        self.source = source
        self.sink = sink
        self.count = count
        self.held = b""
        self.ended = False
        self.done = False

    def read(self) -> None:
        """Take what is there and pass it on at once, as far as it goes."""
        try:
            self.held = self.source.recv(PIECE)
        except (BlockingIOError, InterruptedError):
            return
        self.count(len(self.held))
        self.ended = not self.held
        self.write()

    def write(self) -> None:
        if not self.held:
            return
        try:
            self.held = self.held[self.sink.send(self.held) :]
        except (BlockingIOError, InterruptedError):
            return

    def finish(self) -> bool:
        """Pass the end on once everything before it went out: the other direction stays open."""
        if self.ended and not self.held and not self.done:
            self.done = True
            self.sink.shutdown(socket.SHUT_WR)
        return self.done


def relay(
    client: socket.socket,
    origin: socket.socket,
    *,
    idle_s: float,
    half_open_s: float,
    until: float,
    sent: Count,
    received: Count,
) -> None:
    """Pass bytes both ways until both sides have ended, or one of them keeps silent for too long.

    Memory is bounded: a direction whose sink takes nothing is not read. ``half_open_s`` is the silence
    that is put up with once one side has ended.

    Raises:
        OSError, and what ``sent`` and ``received`` raise.
    """
    client.setblocking(False)
    origin.setblocking(False)
    up, down = _Way(client, origin, sent), _Way(origin, client, received)
    with selectors.DefaultSelector() as selector:
        for sock in (client, origin):
            selector.register(sock, selectors.EVENT_READ)
        ended: set[_Way] = set()
        while len(ended) < 2:
            for source, sink in ((up, down), (down, up)):  # a socket is one way's source, the other's sink
                wanted = selectors.EVENT_READ if not source.held and not source.ended else 0
                wanted |= selectors.EVENT_WRITE if sink.held else 0
                _watch(selector, source.source, wanted)
            pause = half_open_s if ended else idle_s
            ready = selector.select(max(min(pause, until - time.monotonic()), 0.0))
            if not ready:
                return
            for key, events in ready:
                for way in (up, down):
                    if events & selectors.EVENT_READ and way.source is key.fileobj and not way.held:
                        way.read()
                    elif events & selectors.EVENT_WRITE and way.sink is key.fileobj and way.held:
                        way.write()
                    if way.finish():
                        ended.add(way)


def _watch(selector: selectors.BaseSelector, sock: socket.socket, events: int) -> None:
    known = sock in selector.get_map()
    if events and known:
        selector.modify(sock, events)
    elif events:
        selector.register(sock, events)
    elif known:
        selector.unregister(sock)
