"""What the plugin gives to webfetch. The SDK is imported when the server runs, not here."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from webfetch_core.api import Server, ServerContext, hookimpl

from .settings import McpSettings

if TYPE_CHECKING:
    from webfetch_core import Webfetch


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("--http", action="store_true", help="serve streamable HTTP at /mcp instead of stdio")
    parser.add_argument("--host", metavar="ADDRESS", help="with --http: where to listen (default 127.0.0.1)")
    parser.add_argument("--port", metavar="N", type=int, help="with --http: default 8765; 0 takes a free one")
    parser.add_argument(
        "--deadline", metavar="S", type=float, help="seconds that a call may search or read (default 7)"
    )


def _run(args: Namespace, context: ServerContext) -> int:
    from .running import run

    return run(args, context)


def _mount(wf: Webfetch, settings: Any) -> AbstractAsyncContextManager[Any]:
    from .web import mounted

    return mounted(wf, settings or McpSettings())


@hookimpl
def webfetch_servers() -> list[Server]:
    return [
        Server(
            name="mcp",
            summary="Web search and page reading as tools for MCP clients, over stdio or HTTP.",
            configure=_configure,
            run=_run,
            settings=McpSettings,
            mount=_mount,
        )
    ]
