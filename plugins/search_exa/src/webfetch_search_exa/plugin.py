"""Entry point: declares the provider ``exa``."""

from __future__ import annotations

from webfetch_core.api import EnvKey, PluginContext, Provider, SearchEngine, SearchTraits, hookimpl

from .settings import ExaSettings


def build(settings: ExaSettings | None, context: PluginContext) -> SearchEngine:
    """Make the engine; the first search makes the first connection."""
    from .engine import ExaEngine

    return ExaEngine(settings or ExaSettings(), context)


@hookimpl
def webfetch_search_engines() -> list[Provider[SearchEngine]]:
    return [
        Provider(
            name="exa",
            build=build,
            summary="Exa: results by meaning, with passages of the pages",
            settings=ExaSettings,
            requires=(EnvKey("EXA_API_KEY"),),
            traits=SearchTraits(
                usd_per_1k=7.0,  # up to ten results, their contents included (price list of 2026)
                max_limit=100,
                filters=frozenset({"freshness", "domains", "country"}),
            ),
            priority=35,
            timeout_s=10.0,
        )
    ]
