"""Entry point: declares the provider ``ddg``. ddgs is imported when the engine is built."""

from __future__ import annotations

from webfetch_core.api import Module, PluginContext, Provider, SearchEngine, SearchTraits, hookimpl

from .settings import DdgSettings


def build(settings: DdgSettings | None, context: PluginContext) -> SearchEngine:
    """Make the engine; the connection is opened by the first search."""
    from .engine import DdgEngine

    return DdgEngine(settings or DdgSettings(), context.clock)


@hookimpl
def webfetch_search_engines() -> list[Provider[SearchEngine]]:
    return [
        Provider(
            name="ddg",
            build=build,
            summary="DuckDuckGo's HTML page: no key, no price",
            settings=DdgSettings,
            requires=(Module("ddgs"), Module("lxml")),
            traits=SearchTraits(usd_per_1k=0.0, max_limit=30),
            timeout_s=5.0,
            max_concurrency=2,
        )
    ]
