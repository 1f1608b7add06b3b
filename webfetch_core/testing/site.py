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

import ssl
import threading
from collections import deque
from types import TracebackType
from typing import Any

from .site_server import Received, Reply, Script, SiteServer


class LoopbackSite:
    """An HTTP/1.1 server on 127.0.0.1 and a free port, or the one given; a context manager.

    Attributes:
        requests: every request so far, in the order of arrival.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        """Make the site; it listens from ``start`` or ``with`` on. With ``tls`` it speaks https."""
        self.requests: list[Received] = []
        self._wanted_port = port
        self._tls = tls
        self._replies: dict[str, Reply | Script] = {}
        self._queues: dict[str, deque[Reply | Script]] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server: SiteServer | None = None
        self._thread: threading.Thread | None = None

    # ---- life ----

    def start(self) -> LoopbackSite:
        """Listen. Returns itself."""
        self._server = SiteServer(self._answer, self._closing, self._tls, self._wanted_port)
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
        self._server.cut()
        if self._thread is not None:
            self._thread.join(2.0)

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
    def connections(self) -> int:
        """How many connections were accepted."""
        return self._server.connections if self._server else 0

    @property
    def paths(self) -> list[str]:
        """Path and query of every request so far."""
        with self._lock:
            return [request.target for request in self.requests]

    # ---- the server's side ----

    def _answer(self, request: Received) -> Reply:
        """Record ``request`` and choose its reply: queued, scripted, or 404."""
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


__all__ = ["LoopbackSite", "Received", "Reply", "Script"]
