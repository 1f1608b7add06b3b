"""``webfetch serve mcp``: which transport, until when, and how it ends."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from webfetch_core.api import ServerContext, bearer_token

from .settings import McpSettings, with_flags

OK, INTERRUPTED = 0, 130
_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")


def run(args: Namespace, context: ServerContext) -> int:
    """Serve until the client or a signal ends it; return the exit code.

    Raises:
        ConfigError: HTTP cannot be served as the settings have it.
    """
    settings = with_flags(context.settings or McpSettings(), args)
    work: Callable[[Stop], Awaitable[None]]
    if args.http:
        token = bearer_token(settings.token_env, settings.host, context.environ)
    with _collected_later():
        # The SDK is half a second of imports, most of them models of messages.
        from .desk import Desk

        desk = Desk(context.open, settings, note=context.note)
        try:
            if args.http:
                from .web import serve_http

                work = partial(serve_http, desk, settings, token, context.note)
            else:
                from .stdio import serve_stdio

                if context.stdin.isatty():
                    context.note("webfetch: an MCP server, which clients start (docs/mcp.md); Ctrl-C ends it")
                work = partial(serve_stdio, desk, settings, context.stdin, context.stdout)
            return asyncio.run(_until_stopped(work))
        finally:
            desk.close()


class Stop:
    """The wish to stop, set by a signal."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.code = OK

    def ask(self, number: int) -> None:
        """Stop; asked again, stop at once."""
        if self.event.is_set():
            os._exit(128 + number)
        if number == signal.SIGINT:
            self.code = INTERRUPTED
        self.event.set()


async def _until_stopped(work: Callable[[Stop], Awaitable[None]]) -> int:
    stop = Stop()
    with _signals(stop):
        await work(stop)
    return stop.code


@contextmanager
def _signals(stop: Stop) -> Iterator[None]:
    """Let the signals that end a process ask for a stop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    old: dict[int, Any] = {}

    def caught(number: int, frame: Any) -> None:
        loop.call_soon_threadsafe(stop.ask, number)

    for name in _SIGNALS:
        number = getattr(signal, name, None)
        if number is not None:
            old[number] = signal.signal(number, caught)
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


@contextmanager
def _collected_later() -> Iterator[None]:
    """Without the garbage collector until the first answers are out: it would go through what the imports
    make again and again, for a tenth of the start."""
    was = gc.isenabled()
    gc.disable()
    later = threading.Timer(5.0, gc.enable)
    later.daemon = True
    later.start()
    try:
        yield
    finally:
        later.cancel()
        if was:
            gc.enable()
