"""Entry point: declares the provider ``perplexity``."""

from __future__ import annotations

from webfetch_core.api import EnvKey, PluginContext, Provider, SearchEngine, SearchTraits, hookimpl

from .settings import PerplexitySettings


def build(settings: PerplexitySettings | None, context: PluginContext) -> SearchEngine:
    """Make the engine; the first search makes the first connection."""
    from .engine import PerplexityEngine

    return PerplexityEngine(settings or PerplexitySettings(), context)


@hookimpl
def webfetch_search_engines() -> list[Provider[SearchEngine]]:
    return [
        Provider(
            name="perplexity",
            build=build,
            summary="Perplexity's Search API: ranked pages with long passages",
            settings=PerplexitySettings,
            requires=(EnvKey("PERPLEXITY_API_KEY"),),
            traits=SearchTraits(
                usd_per_1k=5.0,  # search_type "fast" costs less (price list of 2026)
                max_limit=20,
                filters=frozenset({"freshness", "domains", "language", "country"}),
            ),
            priority=30,
            timeout_s=10.0,
        )
    ]
