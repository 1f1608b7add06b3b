"""Entry point: declares the provider ``tavily``."""

from __future__ import annotations

from webfetch_core.api import EnvKey, PluginContext, Provider, SearchEngine, SearchTraits, hookimpl

from .settings import TavilySettings


def build(settings: TavilySettings | None, context: PluginContext) -> SearchEngine:
    """Make the engine; nothing is asked before the first search."""
    from .engine import TavilyEngine

    return TavilyEngine(settings or TavilySettings(), context)


@hookimpl
def webfetch_search_engines() -> list[Provider[SearchEngine]]:
    return [
        Provider(
            name="tavily",
            build=build,
            summary="Tavily: long passages, 8 USD for 1,000 calls of depth basic",
            settings=TavilySettings,
            requires=(EnvKey("TAVILY_API_KEY"),),
            traits=SearchTraits(
                usd_per_1k=8.0,
                max_limit=20,
                max_query_chars=400,
                filters=frozenset({"freshness", "domains", "country"}),
            ),
            priority=40,
            timeout_s=6.0,
            max_concurrency=8,
        )
    ]
