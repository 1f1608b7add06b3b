"""What the plugin declares. The engine is imported when it is built."""

from __future__ import annotations

from typing import Any

from webfetch_core.api import EnvKey, PluginContext, Provider, SearchEngine, SearchTraits, hookimpl

from .settings import GazetteSettings


def build(settings: GazetteSettings, context: PluginContext) -> SearchEngine:
    """Make the engine."""
    from .engine import Gazette

    return Gazette(settings, context)


@hookimpl
def webfetch_search_engines() -> list[Provider[Any]]:
    return [
        Provider(
            name="gazette",
            summary="The archive of the Gazette",
            build=build,
            settings=GazetteSettings,
            requires=(EnvKey("GAZETTE_API_KEY"),),
            traits=SearchTraits(
                max_limit=25,
                max_query_chars=200,
                usd_per_1k=1.5,
                filters=frozenset({"freshness", "domains"}),
                calls_per_s=5.0,
            ),
        )
    ]
