"""Entry point: declares the provider ``brave``."""

from __future__ import annotations

from webfetch_core.api import EnvKey, PluginContext, Provider, SearchEngine, SearchTraits, hookimpl

from .settings import BraveSettings


def build(settings: BraveSettings | None, context: PluginContext) -> SearchEngine:
    """Make the engine; nothing is asked before the first search."""
    from .engine import BraveEngine

    return BraveEngine(settings or BraveSettings(), context)


@hookimpl
def webfetch_search_engines() -> list[Provider[SearchEngine]]:
    return [
        Provider(
            name="brave",
            build=build,
            summary="Brave Search API: an index of its own, 5 USD for 1,000 calls",
            settings=BraveSettings,
            requires=(EnvKey("BRAVE_API_KEY"),),
            traits=SearchTraits(
                usd_per_1k=5.0,
                max_limit=20,
                max_query_chars=400,
                filters=frozenset({"freshness", "domains", "language", "country"}),
                calls_per_s=1.0,  # the smallest plan, until an answer tells this one's
            ),
            priority=50,
            timeout_s=6.0,
            max_concurrency=8,
        )
    ]
