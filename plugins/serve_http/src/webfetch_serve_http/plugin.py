"""What the plugin gives to webfetch. FastAPI is imported when the server runs, not here."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from webfetch_core.api import Server, ServerContext, hookimpl

from .settings import HttpSettings


def _configure(parser: ArgumentParser) -> None:
    from .runner import configure

    configure(parser)


def _run(args: Namespace, context: ServerContext) -> int:
    from .runner import run

    return run(args, context)


@hookimpl
def webfetch_servers() -> list[Server]:
    return [
        Server(
            name="http",
            summary="a native API, drop-ins for Tavily, SearXNG, Firecrawl and more, and a page",
            configure=_configure,
            run=_run,
            settings=HttpSettings,
        )
    ]
