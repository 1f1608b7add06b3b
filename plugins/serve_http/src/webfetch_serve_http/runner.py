"""``webfetch serve http``: a socket, the app, and an orderly end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from attrs import evolve

from webfetch_core.api import (
    ConfigError,
    ConnectionLimits,
    ServerContext,
    bearer_token,
    limited_protocol,
    listen,
    open_files,
    tell_of_accept_errors,
)

from .settings import HttpSettings

if TYPE_CHECKING:
    from webfetch_core import Webfetch

_log = logging.getLogger("webfetch.serve_http")

KEEP_ALIVE_S = 30
MAX_HEADER_BYTES = 32_768


def configure(parser: ArgumentParser) -> None:
    """The flags; each wins over the setting of its name."""
    parser.add_argument("--host", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (8080); 0 takes a free one")
    parser.add_argument(
        "--token-env", metavar="NAME", help="environment variable that holds the token (WEBFETCH_HTTP_TOKEN)"
    )
    parser.add_argument(
        "--allow-host", action="append", metavar="NAME", help="a name that requests may be addressed to"
    )
    parser.add_argument(
        "--allow-origin", action="append", metavar="ORIGIN", help="an origin whose pages may call"
    )


def settings_of(args: Namespace, settings: HttpSettings) -> HttpSettings:
    """The settings with the flags laid over them.

    Raises:
        ConfigError: a flag is out of range.
    """
    given = {
        "host": args.host,
        "port": args.port,
        "token_env": args.token_env,
        "allow_hosts": None if args.allow_host is None else tuple(args.allow_host),
        "allow_origins": None if args.allow_origin is None else tuple(args.allow_origin),
    }
    try:
        return evolve(settings, **{name: value for name, value in given.items() if value is not None})
    except ValueError as exc:
        raise ConfigError(f"serve http: {exc}") from exc


def run(args: Namespace, context: ServerContext) -> int:
    """Serve until SIGTERM, SIGINT or SIGHUP; then answer what is being asked, close, and return 0.

    Raises:
        ConfigError: a setting is wrong, or the address is taken.
    """
    settings = settings_of(args, context.settings or HttpSettings())
    token = bearer_token(settings.token_env, settings.host, context.environ)
    listening = listen(settings.host, settings.port)
    try:
        with stopping() as stop, context.open() as wf:
            # Models load behind: the first search is answered without them if it comes too early.
            threading.Thread(target=_warm, args=(wf,), name="serve-http-warm-up", daemon=True).start()
            url = url_of(settings, listening.getsockname()[1])
            context.stdout.write(url.encode() + b"\n")
            context.stdout.flush()
            context.note(f"webfetch serves HTTP at {url}" + (", with a token" if token else ""))
            serve(wf, settings, token, listening, _mounts(context), context.note, stop)
            context.note("webfetch has stopped serving")
    finally:
        listening.close()
    return 0


class Stop:
    """The wish to stop, which signals ask for. It may come before there is a server, or while all closes.

    The first stops in order, the second does not wait for requests any more, the third ends the process.
    """

    def __init__(self) -> None:
        self.server: Any = None
        self._asked = 0

    def ask(self, number: int, frame: Any = None) -> None:
        """A signal's handler."""
        self._asked += 1
        if self._asked > 2:
            os._exit(128 + number)
        self.tell()

    def tell(self) -> None:
        """Tell the server how often it was asked."""
        if self.server is not None:
            self.server.should_exit = self._asked > 0
            self.server.force_exit = self._asked > 1


@contextmanager
def stopping() -> Iterator[Stop]:
    """Within, the signals that end a process ask to stop. Only the main thread may take them."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop.ask) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def url_of(settings: HttpSettings, port: int) -> str:
    """Where the server is found."""
    host = settings.host.strip("[]")
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


Mount = Callable[["Webfetch"], AbstractAsyncContextManager[Any]]
"""Makes an ASGI app that lives as long as the server does."""


def _mounts(context: ServerContext) -> dict[str, Mount]:
    """``/mcp``, where the server of that name is installed and well."""
    try:
        found = context.server("mcp")
    except ConfigError as exc:
        context.note(f"without /mcp: {exc}")
        return {}
    if found is None or found[0].mount is None:
        return {}
    make, own = found[0].mount, found[1]
    return {"/mcp": lambda wf: make(wf, own)}


def serve(
    wf: Webfetch,
    settings: HttpSettings,
    token: str,
    listening: socket.socket,
    mounts: Mapping[str, Mount] | None = None,
    note: Callable[[str], None] = _log.warning,
    stop: Stop | None = None,
) -> None:
    """Serve on ``listening`` until ``stop`` is asked for."""
    stop = stop or Stop()
    import uvicorn

    from .app import make_app

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield  # they are taken from before there is a server until all is closed

        async def shutdown(self, sockets: Any = None) -> None:
            for drain in drains:
                drain()
            await super().shutdown(sockets)

    drains: list[Callable[[], None]] = []

    async def main() -> None:
        tell_of_accept_errors(asyncio.get_running_loop(), note)
        async with AsyncExitStack() as stack:
            apps = {
                path: await stack.enter_async_context(mount(wf)) for path, mount in (mounts or {}).items()
            }
            # Apps with streams that wait for news alone end them when the server is to stop.
            drains.extend(app.drain for app in apps.values() if hasattr(app, "drain"))
            config = config_of(make_app(wf, settings, token=token, mounts=apps), settings)
            stop.server = Server(config)
            stop.tell()
            await stop.server.serve(sockets=[listening])

    asyncio.run(main())


def config_of(app: Any, settings: HttpSettings) -> Any:
    """uvicorn's configuration for ``app``."""
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    limits = ConnectionLimits.within(open_files(), settings.max_connections, settings.trust_forwarded)
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=limited_protocol(H11Protocol, limits),
        ws="none",
        interface="asgi3",
        lifespan="off",
        log_config=None,
        log_level="error",  # of bytes that are no HTTP it would warn, a line each
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trust_forwarded),
        forwarded_allow_ips=list(settings.trust_forwarded),
        timeout_keep_alive=KEEP_ALIVE_S,
        backlog=limits.backlog,
        timeout_graceful_shutdown=max(1, round(settings.drain_s)),
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )


_SIGNALS = tuple(getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n))


def _warm(wf: Webfetch) -> None:
    try:
        wf.warm_up()
    except Exception:  # closed meanwhile, or a provider failed: status tells of it
        return
