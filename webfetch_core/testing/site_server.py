"""The server under :class:`~.site.LoopbackSite`: what it is sent, what it answers, and how."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import Factory, frozen


@frozen(kw_only=True)
class Received:
    """A request as it came in. Header names are lower case; ``query`` has no question mark."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = Factory(dict)
    body: bytes = b""

    @property
    def target(self) -> str:
        """Path and query, as in the request line."""
        return f"{self.path}?{self.query}" if self.query else self.path


@frozen(kw_only=True)
class Reply:
    """What the site answers.

    Attributes:
        body: the body as sent (already content-encoded, if it is to be).
        status: the status code.
        headers: added to, or put in place of, ``Content-Type: text/html; charset=utf-8`` and
            ``Content-Length``; a value of None leaves that header out; a list repeats it.
        delay_s: wait this long before anything is sent.
        hang: never answer; the connection stays open until the site closes.
        drip: ``(size, seconds)``: send ``size`` bytes, wait ``seconds``, and so on.
        truncate: send this many bytes of the body, then close the connection.
        stream: called for the pieces of a chunked body, sent in place of ``body``.
        raw: send these bytes and close, in place of a status line, headers and body.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str | list[str] | None] = Factory(dict)
    delay_s: float = 0.0
    hang: bool = False
    drip: tuple[int, float] | None = None
    truncate: int | None = None
    stream: Callable[[], Iterable[bytes]] | None = None
    raw: bytes | None = None


Script = Callable[[Received], Reply]
"""Answers a request; called in the connection's own thread."""


class SiteServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(
        self, answer: Script, closing: threading.Event, tls: ssl.SSLContext | None, port: int = 0
    ) -> None:
        self.answer = answer
        self.closing = closing
        self.connections = 0
        self._tls = tls
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", port), _Handler)

    def cut(self) -> None:
        """Shut every connection down."""
        with self._lock:
            left = list(self._open)
        for connection in left:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def server_bind(self) -> None:
        # The stock one looks the host's name up, which may take seconds.
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self._tls is not None:
            request = self._tls.wrap_socket(request, server_side=True)
        with self._lock:
            self.connections += 1
            self._open.add(request)
        try:
            super().finish_request(request, client_address)
        finally:
            with self._lock:
                self._open.discard(request)
            if self._tls is not None:
                request.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hangs up is what many tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "loopback"
    sys_version = ""
    disable_nagle_algorithm = True
    server: SiteServer

    def _serve(self) -> None:
        path, _, query = self.path.partition("?")
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            headers[name.lower()] = f"{headers[name.lower()]}, {value}" if name.lower() in headers else value
        length = headers.get("content-length", "")
        body = self.rfile.read(int(length)) if length.isdigit() else b""
        reply = self.server.answer(
            Received(method=self.command, path=path, query=query, headers=headers, body=body)
        )
        if reply.hang:
            self.server.closing.wait()
            self.close_connection = True
            return
        if reply.delay_s:
            self.server.closing.wait(reply.delay_s)
        if reply.raw is not None:
            self.close_connection = True
            self._write(reply.raw, reply.drip)
            return
        self._head(reply)
        if self.command == "HEAD":
            return
        if reply.stream is not None:
            for piece in reply.stream():
                if piece:
                    self._write(b"%x\r\n%s\r\n" % (len(piece), piece), reply.drip)
            self.wfile.write(b"0\r\n\r\n")
            return
        sent = reply.body if reply.truncate is None else reply.body[: reply.truncate]
        self._write(sent, reply.drip)
        if reply.truncate is not None:
            self.close_connection = True

    do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = do_OPTIONS = _serve

    def _head(self, reply: Reply) -> None:
        headers: dict[str, str | list[str] | None] = {"content-type": "text/html; charset=utf-8"}
        if reply.stream is not None:
            headers["transfer-encoding"] = "chunked"
        elif reply.status >= 200 and reply.status not in (204, 304):
            headers["content-length"] = str(len(reply.body))
        shown = {name: name.title() for name in headers}
        for name, value in reply.headers.items():
            headers[name.lower()] = value
            shown[name.lower()] = name
        if headers.get("content-length") is None and reply.stream is None and reply.status not in (204, 304):
            self.close_connection = True  # the end of the connection is the end of the body
            headers.setdefault("connection", "close")
        self.send_response(reply.status)
        for key, value in headers.items():
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    self.send_header(shown.get(key, key), one)
        self.end_headers()

    def _write(self, data: bytes, drip: tuple[int, float] | None) -> None:
        if drip is None:
            self.wfile.write(data)
            return
        size, seconds = drip
        for at in range(0, len(data), size):
            self.wfile.write(data[at : at + size])
            if self.server.closing.wait(seconds):
                self.close_connection = True
                return

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""
