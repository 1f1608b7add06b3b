"""Streamable HTTP: the SDK's sessions behind the gate, under uvicorn; or mounted in another server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from uvicorn.protocols.http.h11_impl import H11Protocol

from webfetch_core.api import (
    ConnectionLimits,
    limited_protocol,
    listen,
    open_files,
    tell_of_accept_errors,
)

from .access import PATH, Gate
from .desk import Desk
from .service import Service
from .sessions import SessionGate
from .settings import McpSettings

if TYPE_CHECKING:
    from webfetch_core import Webfetch

    from .running import Stop

KEEP_ALIVE_S = 30


@asynccontextmanager
async def mounted(wf: Webfetch, settings: McpSettings) -> AsyncIterator[Any]:
    """The ASGI application for one path of another server, which guards it and closes ``wf``."""
    desk = Desk(lambda: wf, settings, owned=False)
    desk.begin()
    try:
        async with _sessions(desk, settings) as app:
            yield app
    finally:
        desk.close()


@asynccontextmanager
async def _sessions(desk: Desk, settings: McpSettings) -> AsyncIterator[SessionGate]:
    _leave_streams_alone()
    manager = StreamableHTTPSessionManager(
        Service(desk, settings),
        max_request_body_size=settings.max_message_bytes,
        session_idle_timeout=settings.session_idle_s,
        max_sessions=None,
    )
    async with manager.run():
        sdk = StreamableHTTPASGIApp(manager)
        yield SessionGate(sdk, settings.max_sessions, settings.session_idle_s, time.monotonic)


def _leave_streams_alone() -> None:
    """What the SDK streams its answers with ends every stream, calls at work too, as soon as uvicorn is asked
    to stop. Which of them end then is for :meth:`SessionGate.drain` to say."""
    from sse_starlette import sse

    if leave := getattr(getattr(sse, "AppStatus", None), "disable_automatic_graceful_drain", None):
        leave()


class _Server(uvicorn.Server):
    """uvicorn that leaves signals to us, says when it listens, and waits for calls alone."""

    def __init__(self, config: uvicorn.Config, drain: Callable[[], None]) -> None:
        super().__init__(config)
        self.listening = anyio.Event()
        self._drain = drain

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing: the signals are taken by the whole command."""
        yield

    async def startup(self, sockets: Any = None) -> None:
        """As uvicorn's, telling when it is done."""
        await super().startup(sockets)
        self.listening.set()

    async def shutdown(self, sockets: Any = None) -> None:
        """As uvicorn's, once the streams of news are told to end."""
        self._drain()
        await super().shutdown(sockets)


async def serve_http(
    desk: Desk, settings: McpSettings, token: str, note: Callable[[str], None], stop: Stop
) -> None:
    """Serve until it is stopped. Raises ConfigError where it cannot listen."""
    sock = listen(settings.host, settings.port)
    tell_of_accept_errors(asyncio.get_running_loop(), note)
    limits = ConnectionLimits.within(open_files(), settings.max_connections)
    async with _sessions(desk, settings) as sessions:
        config = uvicorn.Config(
            Gate(sessions, settings, token),
            loop="asyncio",
            http=limited_protocol(H11Protocol, limits),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            backlog=limits.backlog,
            log_level="error",  # of bytes that are no HTTP it would warn, a line each
            timeout_graceful_shutdown=max(1, round(settings.drain_s)),
            h11_max_incomplete_event_size=65_536,
        )
        server = _Server(config, sessions.drain)
        async with anyio.create_task_group() as group:

            async def stopping() -> None:
                await stop.event.wait()
                server.should_exit = True

            async def telling() -> None:
                await server.listening.wait()
                host, port = sock.getsockname()[:2]
                shown = f"[{host}]" if ":" in host else host
                note(f"webfetch: MCP on http://{shown}:{port}{PATH}" + (" (token needed)" if token else ""))
                desk.begin()

            group.start_soon(stopping)
            group.start_soon(telling)
            try:
                await server.serve(sockets=[sock])
            finally:
                sock.close()
            group.cancel_scope.cancel()
