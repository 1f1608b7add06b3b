"""Entry point: declares the provider ``searxng``."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from webfetch_core.api import EnvKey, PluginContext, Provider, SearchEngine, SearchTraits, hookimpl

from .settings import SearxngSettings


@frozen
class Instance:
    """The requirement: an instance that is named. There is no public one to fall back on."""

    base_url: str = ""

    def with_settings(self, settings: SearxngSettings | None) -> Instance:
        """The same for the instance of the settings."""
        return Instance(settings.base_url) if settings is not None else self

    def missing(self, environ: Mapping[str, str]) -> str | None:
        """Return what is missing and how to get it, or None."""
        if self.base_url:
            return None
        return (
            "no SearXNG instance is named: set plugins.search_searxng.base_url to yours, "
            "with json in its search.formats"
        )


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
            # The key is for an instance behind a gateway.
            requires=(Instance(), EnvKey("SEARXNG_API_KEY", optional=True)),
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
