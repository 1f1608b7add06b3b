"""A small web site on the loopback address, for tests: scripted replies, recorded requests.

Example::

    with LoopbackSite() as site:
        site.add("/page", "<p>hello</p>")
        site.add("/slow", "late", delay_s=0.5)
        site.queue("/flaky", Reply(status=503), Reply(body=b"ok"))
        ...fetch site.url("/page")...
        assert site.paths == ["/page"]

Only the standard library and attrs are used; it needs no test framework.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
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


class LoopbackSite:
    """An HTTP/1.1 server on 127.0.0.1 and a port that is free; a context manager.

    Attributes:
        requests: every request so far, in the order of arrival.
        connections: how many connections were accepted.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        """Make the site; it listens from ``start`` or ``with`` on. With ``tls`` it speaks https."""
        self.requests: list[Received] = []
        self.connections = 0
        self._tls = tls
        self._replies: dict[str, Reply | Script] = {}
        self._queues: dict[str, deque[Reply | Script]] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._open: set[socket.socket] = set()
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    # ---- life ----

    def start(self) -> LoopbackSite:
        """Listen. Returns itself."""
        self._server = _Server(self, self._tls)
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.02},
            name="loopback-site",
            daemon=True,
        )
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop, cutting every connection, hanging ones too. Takes well under a second."""
        self._closing.set()
        if self._server is None:
            return
        self._server.shutdown()
        self._server.server_close()
        with self._lock:
            left = list(self._open)
        for connection in left:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        if self._thread is not None:
            self._thread.join(2.0)
        self._server = None

    def __enter__(self) -> LoopbackSite:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- script ----

    def add(
        self, path: str, body: bytes | str | Script = b"", *, status: int = 200, **options: Any
    ) -> LoopbackSite:
        """Answer ``path`` from now on.

        Args:
            path: with a query it stands for that query alone; without, for any.
            body: bytes, text (sent as UTF-8), or a callable from Received to Reply.
            status: the status code.
            options: further fields of :class:`Reply`.

        Returns:
            itself, so that calls can be chained.
        """
        with self._lock:
            self._replies[path] = body if callable(body) else _reply(body, status=status, **options)
        return self

    def redirect(self, path: str, to: str, *, status: int = 302, **options: Any) -> LoopbackSite:
        """Answer ``path`` with a redirect to ``to``, which is sent as it is."""
        headers = {"Location": to, **options.pop("headers", {})}
        return self.add(path, b"", status=status, headers=headers, **options)

    def queue(self, path: str, *replies: Reply | Script) -> LoopbackSite:
        """Answer the next requests to ``path`` with these, one each; then as before."""
        with self._lock:
            self._queues.setdefault(path, deque()).extend(replies)
        return self

    # ---- facts ----

    @property
    def port(self) -> int:
        """The port that it listens on."""
        if self._server is None:
            raise RuntimeError("the site is not started")
        return int(self._server.server_address[1])

    @property
    def host(self) -> str:
        """The address that it listens on."""
        return "127.0.0.1"

    @property
    def base_url(self) -> str:
        """The site's URL without a final slash."""
        return f"{'https' if self._tls else 'http'}://{self.host}:{self.port}"

    def url(self, path: str = "/") -> str:
        """The absolute URL of ``path``."""
        return self.base_url + path

    @property
    def paths(self) -> list[str]:
        """Path and query of every request so far."""
        with self._lock:
            return [request.target for request in self.requests]

    # ---- the server's side ----

    def _answer(self, request: Received) -> Reply:
        with self._lock:
            self.requests.append(request)
            chosen: Reply | Script | None = None
            for key in (request.target, request.path):
                if self._queues.get(key):
                    chosen = self._queues[key].popleft()
                elif key in self._replies:
                    chosen = self._replies[key]
                if chosen is not None:
                    break
        if chosen is None:
            return Reply(status=404, body=b"nothing here", headers={"Content-Type": "text/plain"})
        return chosen(request) if callable(chosen) else chosen


def _reply(body: bytes | str, **fields: Any) -> Reply:
    return Reply(body=body.encode() if isinstance(body, str) else body, **fields)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, site: LoopbackSite, tls: ssl.SSLContext | None) -> None:
        self.site = site
        self._tls = tls
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        # The stock one looks the host's name up, which may take seconds.
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self._tls is not None:
            request = self._tls.wrap_socket(request, server_side=True)
        with self.site._lock:
            self.site.connections += 1
            self.site._open.add(request)
        try:
            super().finish_request(request, client_address)
        finally:
            with self.site._lock:
                self.site._open.discard(request)
            if self._tls is not None:
                request.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hangs up is what many tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "loopback"
    sys_version = ""
    disable_nagle_algorithm = True
    server: _Server

    def _serve(self) -> None:
        path, _, query = self.path.partition("?")
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            headers[name.lower()] = f"{headers[name.lower()]}, {value}" if name.lower() in headers else value
        length = headers.get("content-length", "")
        body = self.rfile.read(int(length)) if length.isdigit() else b""
        site = self.server.site
        reply = site._answer(
            Received(method=self.command, path=path, query=query, headers=headers, body=body)
        )
        if reply.hang:
            site._closing.wait()
            self.close_connection = True
            return
        if reply.delay_s:
            site._closing.wait(reply.delay_s)
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
            if self.server.site._closing.wait(seconds):
                self.close_connection = True
                return

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


__all__ = ["LoopbackSite", "Received", "Reply", "Script"]
