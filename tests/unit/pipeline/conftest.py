"""A whole ``Webfetch`` over scripted providers, for tests of how the pipeline behaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import monotonic, sleep
from typing import Any

import pytest
from attrs import define

from webfetch_core.api import SearchTraits
from webfetch_core.app import Webfetch
from webfetch_core.models import SearchHit
from webfetch_core.settings import Settings
from webfetch_core.testing import (
    MemoryCache,
    ScriptedEngine,
    ScriptedExtractor,
    ScriptedFetcher,
    ScriptedRanker,
    fake_plugin,
)
from webfetch_core.testing.fakes import Scripted


@define
class World:
    """A Webfetch and the scripted providers behind it."""

    wf: Webfetch
    engines: dict[str, ScriptedEngine]
    fetcher: ScriptedFetcher | None
    cache: Any
    events: list[Any]

    def search(self, query: str = "lighthouse keeper", **options: Any) -> Any:
        return self.wf.search(query, **options)

    @property
    def fetched(self) -> list[str]:
        return [call[0].url for call in self.fetcher.calls] if self.fetcher else []

    def named(self, name: str) -> list[Any]:
        return [e for e in self.events if e.name == name]


def page_text(number: int, about: str = "lighthouse keeper") -> str:
    """A page with words of its own, so that no two are near-duplicates."""
    own = " ".join(f"w{number}x{k}" for k in range(12))
    return f"Page {number}\n\nThe {about} of place{number} says {own}."


def snippetless(*urls: str) -> list[SearchHit]:
    return [SearchHit(url=url, title=f"Title of {url}") for url in urls]


@pytest.fixture
def world() -> Iterator[Callable[..., World]]:
    """``world(engines={"alpha": [...steps]}, pages={url: ...})``; everything else has a default.

    ``engines`` values are lists of steps; ``network`` says which leave the machine (all by default).
    ``fetch``, ``extract``, ``rank``, ``cache`` take an object or None for none; ``plugins`` adds more.
    """
    made: list[World] = []
    scripted: list[Scripted] = []

    def make(
        engines: Mapping[str, list[Any]] | None = None,
        pages: Mapping[str, Any] | None = None,
        *,
        network: bool = True,
        fetch: Any = ...,
        extract: Any = ...,
        rank: Any = ...,
        cache: Any = ...,
        plugins: list[Any] | None = None,
        provider: Mapping[str, Any] | None = None,
        clock: Any = None,
        **settings: Any,
    ) -> World:
        urls = list(pages or {})
        mine = {n: ScriptedEngine(*steps) for n, steps in (engines or {"alpha": [urls]}).items()}
        fetcher = ScriptedFetcher(pages or {}) if fetch is ... else fetch
        parts = {
            "fetch": fetcher,
            "extract": ScriptedExtractor() if extract is ... else extract,
            "rank": ScriptedRanker() if rank is ... else rank,
            "cache": MemoryCache() if cache is ... else cache,
        }
        added = [
            fake_plugin(
                "search",
                engine,
                name,
                priority=-place,
                traits=SearchTraits(network=network),
                **(provider or {}),
            )
            for place, (name, engine) in enumerate(mine.items())
        ]
        added += [fake_plugin(stage, part, "mine") for stage, part in parts.items() if part is not None]
        settings.setdefault("extract_workers", 0)
        wf = Webfetch(
            Settings(**settings),
            plugins=[(p.name, p) for p in [*added, *(plugins or [])]],
            autoload=False,
            environ={},
            clock=clock,
        )
        events: list[Any] = []
        wf.subscribe(events.append)
        scripted.extend(p for p in (*mine.values(), *parts.values()) if isinstance(p, Scripted))
        made.append(World(wf, mine, fetcher, parts["cache"], events))
        return made[-1]

    yield make
    for part in scripted:
        part.close()
    for one in made:
        one.wf.close()


@pytest.fixture
def until() -> Callable[..., None]:
    def wait(condition: Callable[[], Any], seconds: float = 60.0) -> None:
        end = monotonic() + seconds
        while not condition():
            assert monotonic() < end, "waited too long"
            sleep(0.005)

    return wait
