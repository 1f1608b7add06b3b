"""A service on loopback that gives every request the answer it was told to give."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from attrs import Factory, frozen


@frozen(kw_only=True)
class ServiceReply:
    """``body`` may be bytes, text, or anything that JSON can hold. ``hang`` never answers."""

    body: Any = b""
    status: int = 200
    content_type: str = ""
    headers: Mapping[str, str] = Factory(dict)
    hang: bool = False

    def encoded(self) -> tuple[bytes, str]:
        """The body's bytes and the content type that goes with them."""
        if isinstance(self.body, bytes):
            return self.body, self.content_type or "application/octet-stream"
        if isinstance(self.body, str):
            return self.body.encode(), self.content_type or "text/html; charset=utf-8"
        return json.dumps(self.body).encode(), self.content_type or "application/json"


@frozen(kw_only=True)
class ServiceRequest:
    """A request as it came. Header names are lower case; ``path`` has the query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""

    def json(self) -> Any:
        return json.loads(self.body)


class LoopbackService:
    """Set ``reply``; read ``requests``. Use it with ``with``.

    One service stands for one remote API: whatever the path, the answer is ``reply``.
    """

    def __init__(self, reply: Any = b"") -> None:
        self.answer(reply)
        self.requests: list[ServiceRequest] = []
        self._closing = threading.Event()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                service.requests.append(
                    ServiceRequest(
                        method=self.command,
                        path=self.path,
                        headers={name.lower(): value for name, value in self.headers.items()},
                        body=self.rfile.read(length) if length else b"",
                    )
                )
                reply = service.reply
                if reply.hang:
                    service._closing.wait(30)
                    self.close_connection = True
                    return
                body, kind = reply.encoded()
                self.send_response(reply.status)
                for name, value in {"Content-Type": kind, **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_HEAD = _serve

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing: a test's output is the test's."""

            def handle(self) -> None:
                try:
                    super().handle()
                except OSError:
                    self.close_connection = True  # the client gave up, which is what a deadline does

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    def answer(self, reply: Any, **fields: Any) -> None:
        """Answer with ``reply`` from now on: a ServiceReply, or a body and the reply's other fields."""
        self.reply = reply if isinstance(reply, ServiceReply) else ServiceReply(body=reply, **fields)

    @property
    def host(self) -> str:
        return "127.0.0.1"

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """``http://127.0.0.1:<port>``, without a slash at the end."""
        return f"http://{self.host}:{self.port}"

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def __enter__(self) -> LoopbackService:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
