"""Entry point: declares the provider ``browser``."""

from __future__ import annotations

from webfetch_core.api import Fetcher, FetchTraits, Module, PluginContext, Provider, hookimpl

from .chromium import Chromium
from .settings import FetchBrowserSettings


def build(settings: FetchBrowserSettings | None, context: PluginContext) -> Fetcher:
    """Make the fetcher; the browser is started by the first fetch."""
    from .fetcher import BrowserFetcher

    return BrowserFetcher(
        settings or FetchBrowserSettings(), context.http, context.clock, context.environ, context.log
    )


@hookimpl
def webfetch_fetchers() -> list[Provider[Fetcher]]:
    return [
        Provider(
            name="browser",
            build=build,
            summary="a real Chromium, behind the guard, for walls and for pages that scripts build",
            settings=FetchBrowserSettings,
            requires=(Module("playwright", install="webfetch-fetch-browser"), Chromium()),
            traits=FetchTraits(schemes=("http", "https"), renders_js=True),
            priority=-10,
            timeout_s=30.0,
            # Threads that wait; how many pages are open at a time is the setting ``tabs``.
            max_concurrency=32,
        )
    ]
