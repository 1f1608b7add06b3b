"""cache_only never touches the network: no engine, no page, no robots.txt, no name, no update check."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from webfetch_core import Settings, Webfetch
from webfetch_core.api import PageError, SearchTraits
from webfetch_core.models import Match
from webfetch_core.settings import NetSettings
from webfetch_core.testing import (
    FakeClock,
    LoopbackSite,
    MemoryCache,
    ScriptedEngine,
    ScriptedMatcher,
    ScriptedRanker,
    fake_plugin,
)

DAY = 86_400.0
QUERY = "lighthouse keeper"
PAGE = (
    "<html><body><article>"
    + "<p>The lighthouse keeper lights the lamp at dusk.</p>" * 9
    + "</article></body>"
)


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite() as site:
        site.add("/page", PAGE)
        yield site


class Net:
    """What asked for the network, once it is watched."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        for name in ("getaddrinfo", "gethostbyname", "create_connection"):
            monkeypatch.setattr(socket, name, self._noted(name))
        monkeypatch.setattr(socket.socket, "connect", self._noted("connect"))

    def _noted(self, name: str) -> Any:
        def refuse(*args: Any, **options: Any) -> Any:
            self.asked.append(f"{name} {args[:2]}")
            raise OSError("there is no network in this test")

        return refuse


class Opened:
    """A Webfetch whose engine leads to a page on loopback, fetched by the real fetcher."""

    def __init__(self, site: LoopbackSite, cache: MemoryCache, clock: FakeClock, *more: Any) -> None:
        http = pytest.importorskip("webfetch_fetch_http.plugin")
        html = pytest.importorskip("webfetch_extract_html.plugin")
        self.engine = ScriptedEngine([site.url("/page")])
        self.wf = Webfetch(
            Settings(net=NetSettings(allow_hosts=("127.0.0.1",)), extract_workers=0, update_check=True),
            plugins=[
                ("search_alpha", fake_plugin("search", self.engine, "alpha", traits=SearchTraits())),
                ("cache_mine", fake_plugin("cache", cache, "mine")),
                ("rank_mine", fake_plugin("rank", ScriptedRanker(), "mine")),
                ("fetch_http", http),
                ("extract_html", html),
                *more,
            ],
            autoload=False,
            environ={},
            clock=clock,
        )


def test_nothing_asks_for_the_network(site: LoopbackSite, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, clock = MemoryCache(), FakeClock()
    first = Opened(site, cache, clock)
    assert first.wf.search(QUERY).provenance.kind == "fresh"
    first.wf.save_finding("who is the keeper", "Ada Holt is.")
    first.wf.close()
    requests = len(site.requests)
    assert any(path == "/robots.txt" for path in site.paths)

    sure = ScriptedMatcher(Match(index=0, query=QUERY, score=0.9, reason="sure"))
    one = Opened(site, cache, clock, ("match_sure", fake_plugin("match", sure, "sure")))
    net = Net(monkeypatch)
    assert one.wf.search(QUERY, cache_only=True).provenance.kind == "exact"
    assert one.wf.search("the keeper of the lighthouse", cache_only=True).provenance.kind == "semantic"
    assert one.wf.search("who is the keeper", cache_only=True, limit=3).provenance.kind == "finding"
    assert one.wf.fetch(site.url("/page"), cache_only=True).text
    with pytest.raises(PageError, match="not in the page cache"):
        one.wf.fetch(site.url("/other"), cache_only=True)
    clock.advance(8 * DAY)
    stale = one.wf.search(QUERY, cache_only=True)
    assert stale.provenance.kind == "stale"
    one.wf.render(stale)
    assert one.wf.host.tasks.running == 0
    clock.advance(80 * DAY)
    assert one.wf.search(QUERY, cache_only=True).provenance.kind == "none"
    assert one.wf.fetch(site.url("/page"), cache_only=True).text
    one.wf.close()
    assert not net.asked
    assert not one.engine.calls
    assert len(site.requests) == requests


def test_the_watch_would_see_it(site: LoopbackSite, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Opened(site, MemoryCache(), FakeClock())
    net = Net(monkeypatch)
    one.wf.search(QUERY)
    one.wf.close()
    assert net.asked
