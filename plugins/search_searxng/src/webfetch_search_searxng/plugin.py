"""Entry point: declares the provider ``searxng``."""

from __future__ import annotations

from webfetch_core.api import EnvKey, PluginContext, Provider, SearchEngine, SearchTraits, hookimpl

from .settings import SearxngSettings


def build(settings: SearxngSettings | None, context: PluginContext) -> SearchEngine:
    """Make the engine; the first search makes the first connection. NotConfigured without an instance."""
    from .engine import SearxngEngine

    return SearxngEngine(settings or SearxngSettings(), context)


@hookimpl
def webfetch_search_engines() -> list[Provider[SearchEngine]]:
    return [
        Provider(
            name="searxng",
            build=build,
            summary="Your own SearXNG instance: no key, no price",
            settings=SearxngSettings,
            requires=(EnvKey("SEARXNG_API_KEY", optional=True),),  # for an instance behind a gateway
            traits=SearchTraits(
                usd_per_1k=0.0,
                max_limit=50,
                max_query_chars=500,
                # A region needs a language beside it, so "country" is not promised.
                filters=frozenset({"freshness", "domains", "language"}),
            ),
            priority=20,
            timeout_s=8.0,
        )
    ]
