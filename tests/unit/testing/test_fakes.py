"""The fakes do what their script says, in a real host."""

from __future__ import annotations

import importlib.metadata
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import pytest
import requests

from webfetch_core.api import FetchRequest, NotConfigured, Page, PageError, SearchRequest, Unavailable
from webfetch_core.testing import (
    FakeClock,
    FakeContext,
    Hang,
    LoopbackSite,
    MemoryCache,
    ScriptedEngine,
    ScriptedExtractor,
    ScriptedFetcher,
    ScriptedRanker,
    Slow,
    fake_plugin,
    hits,
)
from webfetch_core.testing.service import LoopbackService

REQUEST = SearchRequest(query="q")


def test_steps_are_played_in_order_and_the_last_repeats() -> None:
    engine = ScriptedEngine(["https://a.example/"], Unavailable("down"), lambda request: request.query)
    assert [hit.url for hit in engine.search(REQUEST)] == ["https://a.example/"]
    with pytest.raises(Unavailable):
        engine.search(REQUEST)
    assert engine.search(REQUEST) == engine.search(REQUEST) == "q"
    assert len(engine.calls) == 4 and engine.calls[0] == (REQUEST,)


def test_slow_and_hang_take_their_time() -> None:
    engine = ScriptedEngine(Slow(0.02, hits("https://a.example/")), Hang(at_most_s=0.02))
    started = monotonic()
    assert engine.search(REQUEST)
    with pytest.raises(Unavailable, match="released"):
        engine.search(REQUEST)
    assert monotonic() - started >= 0.04


def test_the_fake_clock_moves_when_told() -> None:
    clock = FakeClock()
    assert datetime.fromtimestamp(clock.time(), UTC) == datetime(2024, 1, 1, tzinfo=UTC)
    before = clock.monotonic(), clock.time()
    clock.advance(90)
    assert (clock.monotonic(), clock.time()) == (before[0] + 90, before[1] + 90)
    with pytest.raises(ValueError, match="does not go back"):
        clock.advance(-1)


def test_a_context_refuses_what_it_was_not_given(plugin_context: FakeContext) -> None:
    with pytest.raises(NotConfigured, match="http"):
        plugin_context.http  # noqa: B018
    with pytest.raises(NotConfigured, match="vectors"):
        plugin_context.cache("vectors")
    for call in (
        lambda: plugin_context.embed(["x"]),
        lambda: plugin_context.score_pairs("q", ["x"]),
        lambda: plugin_context.extract(Page(url="u", body=b"")),
        lambda: plugin_context.models,
        lambda: plugin_context.workers,
    ):
        with pytest.raises(NotConfigured):
            call()
    assert plugin_context.data_dir.is_dir()


def test_a_context_serves_what_it_was_given(plugin_context: FakeContext) -> None:
    context = plugin_context.having(cache=MemoryCache(), ranker=ScriptedRanker())
    context.cache("mine").put(b"k" * 200, b"v")
    assert context.cache("mine").get(b"k" * 200) == b"v"
    assert context.cache("other").get(b"k" * 200) is None
    assert context.score_pairs("a b", ["b", "c"]) == [1.0, 0.0]


def test_fake_pages() -> None:
    fetcher = ScriptedFetcher({"https://a.example/": "hello", "https://b.example/": Unavailable("down")})
    assert fetcher.fetch(FetchRequest(url="https://a.example/")).body == b"hello"
    with pytest.raises(Unavailable):
        fetcher.fetch(FetchRequest(url="https://b.example/"))
    with pytest.raises(PageError):
        fetcher.fetch(FetchRequest(url="https://c.example/"))


def test_a_fake_dist_is_a_real_one(fake_dist: Any, tmp_path: Any) -> None:
    fake_dist(
        "webfetch-search-fake",
        version="2.5",
        entry_points={"search_fake": "webfetch_search_fake.plugin"},
        modules={"webfetch_search_fake.plugin": "VALUE = 7"},
        requires=["webfetch-core>=0.1"],
    )
    dist = importlib.metadata.distribution("webfetch-search-fake")
    assert dist.version == "2.5" and dist.requires == ["webfetch-core>=0.1"]
    (entry_point,) = dist.entry_points
    assert entry_point.load().VALUE == 7


def test_a_service_answers_every_path_alike() -> None:
    with LoopbackService({"ok": 1}) as service:
        assert requests.get(service.url("/any?x=1"), timeout=5).json() == {"ok": 1}
        service.answer("gone", status=404)
        reply = requests.post(service.url("/other"), data=b"body", timeout=5)
        assert (reply.status_code, reply.text) == (404, "gone")
        assert [r.target for r in service.requests] == ["/any?x=1", "/other"]
        assert service.requests[1].body == b"body"


def test_a_host_of_fakes_searches_from_end_to_end(wf: Any) -> None:
    page = "<p>The lighthouse of Tarn is 41 metres high.</p>"
    host = wf(
        fake_plugin("search", ScriptedEngine(["https://tarn.example/"])),
        fake_plugin("fetch", ScriptedFetcher({"https://tarn.example/": page})),
        fake_plugin("extract", ScriptedExtractor()),
    )
    result = host.search("how high is the lighthouse of Tarn")
    assert [hit.url for hit in result.hits] == ["https://tarn.example/"]
    assert "41 metres" in result.chunks[0].text
    assert {a.outcome for a in result.attempts if a.stage in ("search", "fetch", "extract")} == {"ok"}


def test_two_hosts_in_one_process_share_nothing(wf: Any) -> None:
    first = wf(fake_plugin("search", ScriptedEngine(["https://a.example/"]), name="one"))
    second = wf(fake_plugin("search", ScriptedEngine(["https://b.example/"]), name="two"))
    assert [hit.url for hit in first.search("x").hits] == ["https://a.example/"]
    assert [hit.url for hit in second.search("x").hits] == ["https://b.example/"]


def test_the_site_fixture_listens(loopback_site: LoopbackSite) -> None:
    assert loopback_site.port > 0
