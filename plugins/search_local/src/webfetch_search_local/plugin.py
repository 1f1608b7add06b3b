"""What the plugin gives to webfetch. tantivy is imported when an index is opened, not here."""

from __future__ import annotations

from typing import Any

from webfetch_core.api import (
    CommandSet,
    Fetcher,
    FetchTraits,
    Module,
    PluginContext,
    Provider,
    SearchEngine,
    SearchTraits,
    hookimpl,
)

from .settings import LocalSettings

_NEEDS = (Module("tantivy"),)


def _build_engine(settings: Any, context: PluginContext) -> SearchEngine:
    from .engine import make_engine

    return make_engine(settings or LocalSettings(), context)


def _build_fetcher(settings: Any, context: PluginContext) -> Fetcher:
    from .fetcher import make_fetcher

    return make_fetcher(settings or LocalSettings(), context)


@hookimpl
def webfetch_search_engines() -> list[Provider[SearchEngine]]:
    return [
        Provider(
            name="local",
            build=_build_engine,
            summary="full-text search over your own folders",
            settings=LocalSettings,
            requires=_NEEDS,
            traits=SearchTraits(network=False),
            priority=10,
            timeout_s=5.0,
        )
    ]


@hookimpl
def webfetch_fetchers() -> list[Provider[Fetcher]]:
    return [
        Provider(
            name="local",
            build=_build_fetcher,
            summary="documents of your own indexes",
            settings=LocalSettings,
            requires=_NEEDS,
            traits=FetchTraits(schemes=("local",)),
            timeout_s=5.0,
        )
    ]


@hookimpl
def webfetch_commands(commands: CommandSet) -> None:
    from .commands import add_index_command

    add_index_command(commands)
