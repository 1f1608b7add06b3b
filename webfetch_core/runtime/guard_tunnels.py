"""One connection to the guard's proxy: one request or one tunnel, then it ends.

A connection is never used for a second request: no reply can be taken for another's, and every
request is checked for itself.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import frozen

from ..errors import Refused, TimedOut, Unavailable, WebfetchError
from .netguard import CheckedTarget
from .proxy_lease import Lease
from .proxy_streams import Closed, Incoming, Unwanted, dial, pass_body, pass_chunks, relay, send
from .proxy_upstream import Upstream, dial_through
from .proxy_wire import (
    CHUNKED,
    BadMessage,
    Request,
    answer,
    body_length,
    credentials,
    forwarded,
    parse_reply,
    parse_request,
    plain_url,
    tunnel_url,
    values,
)

if TYPE_CHECKING:
    from .guard_proxy import GuardProxy

_WHO_ARE_YOU = answer(
    407, "Proxy Authentication Required", extra='Proxy-Authenticate: Basic realm="webfetch"'
)
_INTERIM = 8
"""How many 1xx replies of an origin are put up with."""


@frozen(kw_only=True)
class Times:
    """Seconds.

    Attributes:
        head: until a client's whole request head is there; what drips is not waited for.
        answer: until an origin's reply begins, and for the body of a request to be taken.
        idle: of silence on a tunnel or in a reply's body.
        half_open: of silence once one side of a tunnel has ended.
        total: of a connection. The lease of a page ends long before.
    """

    head: float = 15.0
    answer: float = 60.0
    idle: float = 60.0
    half_open: float = 10.0
    total: float = 600.0


class _Answered(Exception):
    """The exchange is over with this reply of the proxy's own."""

    def __init__(self, reply: bytes) -> None:
        self.reply = reply


@frozen
class _Exchange:
    """A plain request that was let through."""

    lease: Lease
    request: Request
    length: int
    source: Incoming
    target: CheckedTarget
    upstream: Upstream | None


class Session:
    """Serves one client connection."""

    def __init__(self, proxy: GuardProxy, client: socket.socket, times: Times | None = None) -> None:
        self._proxy = proxy
        self._client = client
        self._times = times or Times()
        self._began = time.monotonic()
        self._ends = self._began + self._times.total
        self._begun = False  # whether the client was told anything yet

    def run(self) -> None:
        """Answer the one request. Raises OSError when a side breaks off."""
        try:
            self._serve(Incoming(self._client))
        except _Answered as exc:
            with suppress(OSError):
                send(self._client, exc.reply, time.monotonic() + 5.0)
        except Closed:
            pass

    def _serve(self, source: Incoming) -> None:
        try:
            request = parse_request(source.head(self._began + self._times.head))
        except TimeoutError:
            raise _Answered(answer(408, "Request Timeout")) from None
        except BadMessage as exc:
            raise _Answered(answer(exc.status, "Bad Request", str(exc))) from None
        lease = self._proxy.find(credentials(request))
        if lease is None:
            raise _Answered(_WHO_ARE_YOU)
        tunnel = request.method == "CONNECT"
        try:
            url = tunnel_url(request) if tunnel else plain_url(request)
            length = 0 if tunnel else body_length(request)
        except BadMessage as exc:
            raise _Answered(answer(exc.status, "Bad Request", str(exc))) from None
        except Refused as exc:
            lease.note(*_named(request), exc)
            raise _Answered(_refusal(exc)) from None
        parts = urlsplit(url)
        place = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        self._keep(lease, self._client)
        try:
            target = lease.check(url)
            upstream = self._proxy.upstream(target)
            if upstream is None:
                origin = dial(target, self._ends)
            else:
                origin = dial_through(upstream, target, self._ends, tunnel=tunnel)
            try:
                self._keep(lease, origin)
                if tunnel:
                    self._tunnel(lease, source, origin)
                else:
                    self._forward(_Exchange(lease, request, length, source, target, upstream), origin)
            finally:
                lease.drop(origin)
                origin.close()
        except WebfetchError as exc:
            lease.note(*place, exc)
            if not self._begun:
                raise _Answered(_refusal(exc)) from None
        finally:
            lease.drop(self._client)

    def _keep(self, lease: Lease, sock: socket.socket) -> None:
        if not lease.keep(sock):
            raise _Answered(answer(503, "Busy"))

    # ---- a tunnel ----

    def _tunnel(self, lease: Lease, source: Incoming, origin: socket.socket) -> None:
        self._begun = True
        send(self._client, b"HTTP/1.1 200 Connection established\r\n\r\n", self._soon())
        if early := source.rest():  # sent without waiting for the answer: it belongs to the tunnel
            lease.count_sent(len(early))
            send(origin, early, self._soon())
        relay(
            self._client,
            origin,
            idle_s=self._times.idle,
            half_open_s=self._times.half_open,
            until=self._ends,
            sent=lease.count_sent,
            received=lease.count_received,
        )

    # ---- one plain request ----

    def _forward(self, what: _Exchange, origin: socket.socket) -> None:
        host, method = what.target.host, what.request.method
        reader = Incoming(origin, self._client)
        try:
            self._ask(what, origin)
            reply = parse_reply(reader.head(self._soon()), method)
            for _ in range(_INTERIM):
                if reply.status >= 200:
                    break
                reply = parse_reply(reader.head(self._soon()), method)
            if reply.status < 200:
                raise BadMessage("the origin never comes to its reply", 502)
        except BadMessage as exc:
            raise _Answered(
                answer(exc.status, "Bad Gateway" if exc.status == 502 else "Bad Request")
            ) from None
        except TimeoutError:
            raise TimedOut(f"{host} did not answer in time") from None
        except Unwanted:
            raise
        except (Closed, OSError):
            raise Unavailable(f"{host} closed the connection without an answer") from None
        self._begun = True
        self._pass_reply(what.lease, reader, reply.head, reply.length)

    def _ask(self, what: _Exchange, origin: socket.socket) -> None:
        until, count = self._soon(), what.lease.count_sent
        head = forwarded(
            what.request,
            what.target,
            what.length,
            absolute=what.upstream is not None,
            credentials=what.upstream.credentials if what.upstream else "",
        )
        send(origin, head, until)
        if values(what.request.fields, "expect"):
            send(self._client, b"HTTP/1.1 100 Continue\r\n\r\n", until)
        try:
            if what.length == CHUNKED:
                pass_chunks(what.source, origin, until, count)
            else:
                pass_body(what.source, origin, what.length, until, count)
        except (BrokenPipeError, ConnectionResetError):
            return  # it may have answered before it had read everything: a 413, say

    def _pass_reply(self, lease: Lease, reader: Incoming, head: bytes, length: int) -> None:
        send(self._client, head, self._soon())
        left = length
        while left:
            try:
                piece = reader.some(left if left > 0 else 1 << 16, self._silence())
            except Closed:
                return
            lease.count_received(len(piece))
            send(self._client, piece, self._silence())
            left -= len(piece) if left > 0 else 0

    # ---- time ----

    def _soon(self) -> float:
        return min(time.monotonic() + self._times.answer, self._ends)

    def _silence(self) -> float:
        return min(time.monotonic() + self._times.idle, self._ends)


def _refusal(error: WebfetchError) -> bytes:
    """An answer that tells a page nothing of what lies behind: neither address nor reason."""
    if error.kind in ("refused", "too_large"):
        return answer(403, "Forbidden", "webfetch does not go there")
    if error.kind == "timeout":
        return answer(504, "Gateway Timeout", "no answer")
    return answer(502, "Bad Gateway", "no connection")


def _named(request: Request) -> tuple[str, int]:
    """Host and port as the client wrote them, for the record of a target that cannot be read."""
    try:
        parts = urlsplit(request.target if "://" in request.target else f"//{request.target}")
        return (parts.hostname or "")[:253], parts.port or 0
    except ValueError:
        return "", 0
