"""Entry point: declares the provider ``serper``."""

from __future__ import annotations

from webfetch_core.api import EnvKey, PluginContext, Provider, SearchEngine, SearchTraits, hookimpl

from .settings import SerperSettings


def build(settings: SerperSettings | None, context: PluginContext) -> SearchEngine:
    """Make the engine; nothing is asked before the first search."""
    from .engine import SerperEngine

    return SerperEngine(settings or SerperSettings(), context)


@hookimpl
def webfetch_search_engines() -> list[Provider[SearchEngine]]:
    return [
        Provider(
            name="serper",
            build=build,
            summary="Google results by Serper: 1 USD for 1,000 calls, prepaid",
            settings=SerperSettings,
            requires=(EnvKey("SERPER_API_KEY"),),
            traits=SearchTraits(
                usd_per_1k=1.0,
                max_limit=10,
                max_query_chars=2_048,
                filters=frozenset({"freshness", "domains", "language", "country"}),
            ),
            priority=45,
            timeout_s=6.0,
            max_concurrency=8,
        )
    ]
