"""Entry point: declares the query matcher ``semantic``."""

from __future__ import annotations

from webfetch_core.api import PluginContext, Provider, QueryMatcher, hookimpl

from .settings import MatchSemanticSettings


def build(settings: MatchSemanticSettings | None, context: PluginContext) -> QueryMatcher:
    """Make the matcher; the lexicon is read on its first use."""
    from .matcher import SemanticMatcher

    return SemanticMatcher(settings or MatchSemanticSettings(), context)


@hookimpl
def webfetch_query_matchers() -> list[Provider[QueryMatcher]]:
    return [
        Provider(
            name="semantic",
            build=build,
            summary="finds a cached query that asks the same in other words; in doubt, none",
            settings=MatchSemanticSettings,
            timeout_s=5.0,
        )
    ]
