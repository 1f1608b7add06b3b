"""Tools over scripted providers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from webfetch_core import Settings, ToolBox, Webfetch
from webfetch_core.api import SearchTraits
from webfetch_core.testing import (
    FakeClock,
    MemoryCache,
    ScriptedEngine,
    ScriptedExtractor,
    ScriptedFetcher,
    ScriptedRanker,
    fake_plugin,
)

LAMP = "https://tarn.example/lamp"
PAGES = {
    LAMP: "The lamp of Tarn\n\nThe keeper lights the lamp of Tarn at dusk.",
    "https://quay.example/ferry": "The ferry\n\nThe ferry to Tarn leaves every hour.",
}


@pytest.fixture
def host() -> Iterator[Callable[..., Webfetch]]:
    """``host(pages={url: text}, engine=[...steps], cache=None)``: a Webfetch over scripted providers."""
    made: list[Webfetch] = []

    def make(
        pages: Mapping[str, Any] | None = None,
        *,
        engine: list[Any] | None = None,
        fetch: Any = ...,
        extract: Any = ...,
        rank: Any = ...,
        cache: Any = ...,
        plugins: list[Any] | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Any = None,
        **settings: Any,
    ) -> Webfetch:
        pages = PAGES if pages is None else pages
        parts = {
            "search": ScriptedEngine(*([list(pages)] if engine is None else engine))
            if engine != []
            else None,
            "fetch": ScriptedFetcher(pages) if fetch is ... else fetch,
            "extract": ScriptedExtractor() if extract is ... else extract,
            "rank": ScriptedRanker() if rank is ... else rank,
            "cache": MemoryCache() if cache is ... else cache,
        }
        traits = {"search": {"traits": SearchTraits(network=True)}}
        added = [
            fake_plugin(stage, part, "mine", **traits.get(stage, {}))
            for stage, part in parts.items()
            if part is not None
        ]
        settings.setdefault("extract_workers", 0)
        wf = Webfetch(
            Settings(**settings),
            plugins=[(p.name, p) for p in [*added, *(plugins or [])]],
            autoload=False,
            environ=environ or {},
            clock=clock,
        )
        made.append(wf)
        return wf

    yield make
    for wf in made:
        wf.close()


@pytest.fixture
def box(host: Callable[..., Webfetch]) -> Callable[..., ToolBox]:
    """``box(...)``: the tools over ``host(...)``."""
    return lambda *args, **options: ToolBox(host(*args, **options))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()
