"""A real server on loopback over a ``Webfetch`` of scripted parts; nothing here leaves the machine."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import uvicorn
from webfetch_serve_http.app import make_app
from webfetch_serve_http.desk import Desk
from webfetch_serve_http.runner import config_of
from webfetch_serve_http.settings import HttpSettings

from webfetch_core import Settings, Webfetch
from webfetch_core.api import SearchHit, SearchTraits, listen
from webfetch_core.testing import (
    MemoryCache,
    ScriptedCompressor,
    ScriptedEngine,
    ScriptedExtractor,
    ScriptedFetcher,
    ScriptedRanker,
    fake_plugin,
)

WARP = "https://loom.example/warp"
EDGE = "https://loom.example/edge"
GONE = "https://loom.example/gone"
EVIL = "https://evil.example/page"

PAGES = {
    WARP: "Warp tension guide\n\nStart the warp at 180 g per end. Loosen it after an hour.",
    EDGE: "Straight edges\n\nA temple keeps the edge of the warp straight.",
    EVIL: (
        "<script>alert(1)</script> warp </p><img src=x onerror=alert(2)>\n\n"
        "javascript warp <b>bold</b> & \u202e reversed"
    ),
}
HITS = (
    SearchHit(
        url=WARP, title="Warp tension guide", snippet="Start at 180 g per end.", published="2026-11-10"
    ),
    SearchHit(url=EDGE, title="Straight edges", snippet="A temple keeps the edge straight."),
    SearchHit(url=GONE, title="Gone", snippet="It was about the warp."),
    SearchHit(url=EVIL, title='<script>alert("title")</script>', snippet="<i>evil</i>"),
)


class Reply:
    """An answer of the server: status, headers in lower case, and the body."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


class LoopbackServer:
    """The app on a free port, served by uvicorn in a thread of its own."""

    def __init__(self, wf: Webfetch, settings: HttpSettings, token: str = "", **options: Any) -> None:
        self.wf, self.settings, self.token = wf, settings, token
        self._socket = listen(settings.host, settings.port)
        self.port: int = self._socket.getsockname()[1]
        self.desk = Desk(settings.workers, settings.queue)
        app = make_app(wf, settings, token=token, desk=self.desk, **options)
        self._server = uvicorn.Server(config_of(app, settings))
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._server.serve(sockets=[self._socket])), daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> LoopbackServer:
        self._thread.start()
        for _ in range(600):
            try:
                if self.get("/healthz").status == 200:
                    return self
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the server does not come up")

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._thread.join(60)
        self._socket.close()

    def stop(self) -> None:
        """What SIGTERM does."""
        self._server.should_exit = True

    def listens(self) -> bool:
        """Whether a connection is taken."""
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=30).close()
        except OSError:
            return False
        return True

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 90,
    ) -> Reply:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            own = {"Authorization": f"Bearer {self.token}"} if self.token else {}
            connection.request(method, path, body=body, headers={**own, **(headers or {})})
            reply = connection.getresponse()
            return Reply(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Reply:
        return self.ask("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})

    def post(self, path: str, given: Any, **headers: str) -> Reply:
        named = {"Content-Type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
        body = given if isinstance(given, bytes) else json.dumps(given).encode()
        return self.ask("POST", path, body, named)


def parts(engine: Any = None, fetcher: Any = None, **more: Any) -> list[Any]:
    """Plugins of scripted parts: an engine, a fetcher, a ranker, a compressor, a cache in memory."""
    return [
        fake_plugin(
            "search", engine or ScriptedEngine(list(HITS)), name="loom", traits=SearchTraits(), timeout_s=60.0
        ),
        fake_plugin("fetch", fetcher or ScriptedFetcher(PAGES)),
        fake_plugin("extract", ScriptedExtractor()),
        fake_plugin("rank", ScriptedRanker()),
        fake_plugin("compress", more.get("compressor") or ScriptedCompressor()),
        fake_plugin("cache", MemoryCache()),
    ]


MakeServer = Callable[..., LoopbackServer]


@pytest.fixture
def serve() -> Iterator[MakeServer]:
    """Makes running servers; settings of the server by name, ``core`` for those of the library."""
    with ExitStack() as stack:

        def make(
            *,
            engine: Any = None,
            fetcher: Any = None,
            compressor: Any = None,
            token: str = "",
            core: Settings | None = None,
            mounts: Any = None,
            **settings: Any,
        ) -> LoopbackServer:
            given = {"port": 0, "drain_s": 2.0, "rate_per_minute": 60_000, "burst": 10_000, **settings}
            wf = stack.enter_context(
                Webfetch(
                    core or Settings(extract_workers=0),
                    plugins=parts(engine, fetcher, compressor=compressor),
                    autoload=False,
                    environ={},
                )
            )
            return stack.enter_context(LoopbackServer(wf, HttpSettings(**given), token, mounts=mounts))

        yield make


@pytest.fixture(scope="module")
def make_server() -> Callable[..., Any]:
    """A context manager of one server; ``plugins`` come before the scripted ones of their stage."""

    @contextmanager
    def make(plugins: Sequence[Any] = (), **settings: Any) -> Iterator[LoopbackServer]:
        given = {"port": 0, "drain_s": 2.0, "rate_per_minute": 60_000, "burst": 10_000, **settings}
        core = Settings(extract_workers=0, fetch=("real",) if plugins else "auto")
        with (
            Webfetch(core, plugins=[*plugins, *parts()], autoload=False, environ={}) as wf,
            LoopbackServer(wf, HttpSettings(**given)) as made,
        ):
            yield made

    return make


@pytest.fixture(scope="module")
def server(make_server: Callable[..., Any]) -> Iterator[LoopbackServer]:
    """One server for the tests that only ask it."""
    with make_server() as made:
        yield made
