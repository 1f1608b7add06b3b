"""Streamable HTTP: the SDK's sessions behind the gate, under uvicorn; or mounted in another server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

from webfetch_core.api import ConfigError

from .access import PATH, Gate
from .desk import Desk
from .service import Service
from .settings import McpSettings

if TYPE_CHECKING:
    from webfetch_core import Webfetch

    from .running import Stop

_PER_SESSION = 8
"""Connections and running requests of a session; beyond their sum new ones are answered with 503."""


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
async def _sessions(desk: Desk, settings: McpSettings) -> AsyncIterator[StreamableHTTPASGIApp]:
    manager = StreamableHTTPSessionManager(
        Service(desk, settings),
        max_request_body_size=settings.max_message_bytes,
        session_idle_timeout=settings.session_idle_s,
        max_sessions=settings.max_sessions,
    )
    async with manager.run():
        yield StreamableHTTPASGIApp(manager)


class _Server(uvicorn.Server):
    """uvicorn that leaves signals to us, and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = anyio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing: the signals are taken by the whole command."""
        yield

    async def startup(self, sockets: Any = None) -> None:
        """As uvicorn's, telling when it is done."""
        await super().startup(sockets)
        self.listening.set()


async def serve_http(
    desk: Desk, settings: McpSettings, token: str, note: Callable[[str], None], stop: Stop
) -> None:
    """Serve until it is stopped. Raises ConfigError where it cannot listen."""
    sock = _bound(settings)
    async with _sessions(desk, settings) as sessions:
        config = uvicorn.Config(
            Gate(sessions, settings, token),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_PER_SESSION * settings.max_sessions,
            timeout_graceful_shutdown=max(1, round(settings.drain_s)),
            h11_max_incomplete_event_size=65_536,
        )
        server = _Server(config)
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


def _bound(settings: McpSettings) -> Any:
    import socket

    host = settings.host.strip("[]")
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, proto)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
            sock.listen(128)
        except OSError:
            sock.close()
            raise
    except OSError as exc:
        raise ConfigError(
            f"cannot listen on {settings.host}:{settings.port}: {exc.strerror or exc}",
            fix="choose another with --host and --port (0 takes a free port)",
        ) from exc
    return sock
