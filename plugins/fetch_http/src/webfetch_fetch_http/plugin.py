"""Entry point: declares the provider ``http``."""

from __future__ import annotations

from webfetch_core.api import Fetcher, FetchTraits, PluginContext, Provider, hookimpl

from .settings import FetchHttpSettings


def build(settings: FetchHttpSettings | None, context: PluginContext) -> Fetcher:
    """Make the fetcher; connections are opened by the first fetch."""
    from .fetcher import HttpFetcher

    return HttpFetcher(settings or FetchHttpSettings(), context.http, context.clock)


@hookimpl
def webfetch_fetchers() -> list[Provider[Fetcher]]:
    return [
        Provider(
            name="http",
            build=build,
            summary="plain HTTP, behind the guard",
            settings=FetchHttpSettings,
            traits=FetchTraits(schemes=("http", "https"), renders_js=False),
            priority=0,
            timeout_s=10.0,
            max_concurrency=16,
        )
    ]
