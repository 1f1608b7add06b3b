"""Findings through a whole Webfetch, over memory and over a real LMDB file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.errors import BadQuery, CacheError, Cancelled, ConfigError
from webfetch_core.models import Chunk, Freshness, Match
from webfetch_core.testing import (
    FakeClock,
    FakeContext,
    MemoryCache,
    ScriptedClassifier,
    ScriptedCompressor,
    ScriptedMatcher,
    fake_plugin,
)

URL = "https://lock.example/"
PAGES = {URL: "The Tarn lock\n\nThe Tarn lock is 7.2 metres deep, says the harbour master of it."}
QUERY = "how deep is the Tarn lock"
TEXT = "It is 7.2 m deep.\nIt was 6.9 m before 1934.\nA third line that answers nothing."


@pytest.fixture(params=["memory", "lmdb"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "memory":
        yield MemoryCache()
        return
    plugin = pytest.importorskip("webfetch_cache_lmdb.plugin")
    [provider] = plugin.webfetch_caches()
    store = provider.build(None, FakeContext(data_dir=tmp_path))
    yield store
    store.close()


@pytest.fixture
def open_world(world: Any, cache: Any) -> Callable[..., Any]:
    def make(**more: Any) -> Any:
        more.setdefault("cache", cache)
        more.setdefault("clock", FakeClock())
        return world(pages=PAGES, **more)

    return make


def asked(one: Any) -> int:
    return len(one.engines["alpha"].calls)


def test_a_finding_answers_until_it_is_too_old(open_world: Any) -> None:
    clock = FakeClock()
    one = open_world(clock=clock)
    saved = one.wf.save_finding(QUERY, TEXT, source="https://harbour.example/", freshness="realtime")
    assert (saved.freshness, saved.lifetime_s) == (Freshness.REALTIME, 900.0)
    for options in ({}, {"cache_only": True}):
        result = one.search("How DEEP is the tarn lock?", **options)
        assert (result.provenance.kind, result.freshness) == ("finding", "realtime")
        assert [(c.url, c.text) for c in result.chunks] == [(saved.url, TEXT)]
    assert asked(one) == 0
    assert [e.data["kind"] for e in one.named("cache.hit")] == ["finding", "finding"]
    clock.advance(899)
    assert one.search(QUERY).provenance.kind == "finding"
    clock.advance(2)
    assert one.search(QUERY, cache_only=True).provenance.kind == "none"
    assert one.search(QUERY).provenance.kind == "fresh"
    assert not list(one.cache.scan("findings"))


def test_what_the_web_says_comes_first_and_force_fresh_passes_by(open_world: Any) -> None:
    one = open_world()
    one.wf.save_finding(QUERY, "It is 99 m deep.")
    assert one.search(QUERY).provenance.kind == "finding"
    fresh = one.search(QUERY, force_fresh=True)
    assert fresh.provenance.kind == "fresh"
    assert "7.2" in fresh.chunks[0].text
    assert one.search(QUERY).provenance.kind == "exact"


@pytest.mark.parametrize(
    "options",
    [
        {"force_fresh": True},
        {"engines": ["alpha"]},
        {"include_domains": ["lock.example"]},
        {"exclude_domains": ["other.example"]},
        {"language": "en"},
        {"country": "GB"},
    ],
)
def test_who_asks_for_something_narrower_gets_a_search(open_world: Any, options: dict[str, Any]) -> None:
    one = open_world()
    one.wf.save_finding(QUERY, TEXT)
    assert one.search(QUERY, **options).provenance.kind == "fresh"


def test_a_stricter_hint_searches_and_keeps_the_finding(open_world: Any) -> None:
    clock = FakeClock()
    one = open_world(clock=clock)
    one.wf.save_finding(QUERY, TEXT, freshness="stable")
    clock.advance(1_000)
    assert one.search(QUERY, freshness="realtime", cache_only=True).provenance.kind == "none"
    assert one.search(QUERY, cache_only=True).provenance.kind == "finding"


def test_its_class_is_the_hint_or_that_of_the_query(open_world: Any) -> None:
    one = open_world(
        plugins=[fake_plugin("freshness", ScriptedClassifier(Freshness.STABLE), name="sure")],
        cache=MemoryCache(),
    )
    assert one.wf.save_finding(QUERY, TEXT).freshness is Freshness.STABLE
    assert one.wf.save_finding(QUERY, TEXT, freshness=Freshness.REALTIME).freshness is Freshness.REALTIME
    by_words = open_world()
    assert by_words.wf.save_finding("bitcoin price", TEXT).freshness is Freshness.REALTIME
    assert by_words.wf.save_finding(QUERY, TEXT).freshness is Freshness.RECENT
    with pytest.raises(BadQuery, match="freshness must be one of"):
        by_words.wf.save_finding(QUERY, TEXT, freshness="new")


def test_another_wording_finds_it_and_says_what_was_matched(open_world: Any) -> None:
    sure = Match(index=0, query=QUERY, score=0.93, reason="the same words")
    one = open_world(plugins=[fake_plugin("match", ScriptedMatcher(sure), name="sure")])
    one.wf.save_finding(QUERY, TEXT)
    result = one.search("depth of the lock of Tarn")
    provenance = result.provenance
    assert (provenance.kind, provenance.matched_query, provenance.score) == ("finding", QUERY, 0.93)
    assert result.query == "depth of the lock of Tarn"
    assert f'[UNVERIFIED: saved by a model for "{QUERY}", score 0.93, ' in one.wf.render(result)


# ---- what is made of it ----


def test_it_is_never_compressed(open_world: Any) -> None:
    compressor = ScriptedCompressor(lambda query, chunks, budget: [])
    one = open_world(plugins=[fake_plugin("compress", compressor, name="nothing", priority=9)])
    one.wf.save_finding(QUERY, TEXT)
    result = one.search(QUERY)
    for full in (False, True):
        text = one.wf.render(result, full_results=full)
        assert f"]\n{TEXT}\n[end " in text
        assert text.startswith("[UNVERIFIED: ")
        assert "force_fresh searches instead" in text.split("\n")[0]
    assert one.wf.excerpts(result) == result.chunks
    assert one.wf.compress(QUERY, result.chunks, 5) == list(result.chunks)
    assert not compressor.calls
    page = Chunk(text="A page's words.", url="https://a.example/")
    assert one.wf.compress(QUERY, [page, *result.chunks]) == list(result.chunks)
    [(_, given, budget)] = compressor.calls
    assert given == (page,)
    assert budget == one.wf.settings.budget.compressed - len(TEXT)


def test_a_long_one_is_shown_whole_by_default_and_cut_visibly_below(open_world: Any) -> None:
    one = open_world()
    text = " ".join(f"word{n}" for n in range(500))[:4_000].rstrip()
    one.wf.save_finding(QUERY, text)
    result = one.search(QUERY)
    assert text in one.wf.render(result)
    cut = one.wf.render(result, budget_tokens=200)
    assert len(cut) <= 800
    assert " …\n[end " in cut


# ---- when it cannot be ----


def test_without_a_cache_the_error_says_which_plugin(world: Any) -> None:
    one = world(pages=PAGES, cache=None)
    with pytest.raises(CacheError, match="pip install webfetch-cache-lmdb"):
        one.wf.save_finding(QUERY, TEXT)


def test_switched_off_it_is_refused_and_not_served(open_world: Any) -> None:
    open_world().wf.save_finding(QUERY, TEXT)
    off = open_world(findings=False)
    with pytest.raises(ConfigError, match="the setting findings is false"):
        off.wf.save_finding(QUERY, TEXT)
    assert off.search(QUERY, cache_only=True).provenance.kind == "none"
    sure = fake_plugin("match", ScriptedMatcher(Match(index=0, query=QUERY, score=1.0)), name="sure")
    assert (
        open_world(findings=False, plugins=[sure]).search("x y z", cache_only=True).provenance.kind == "none"
    )


def test_closed_it_says_so(open_world: Any) -> None:
    one = open_world()
    one.wf.close()
    with pytest.raises(Cancelled):
        one.wf.save_finding(QUERY, TEXT)


def test_a_bad_one_leaves_the_older(open_world: Any) -> None:
    one = open_world()
    one.wf.save_finding(QUERY, TEXT)
    for text, source in (("", None), (TEXT, "nowhere"), ("x" * 4_001, None)):
        with pytest.raises(BadQuery):
            one.wf.save_finding(QUERY, text, source=source)
    assert one.search(QUERY).chunks[0].text == TEXT


# ---- in the store ----


def test_a_purge_leaves_it_unless_it_is_named(open_world: Any) -> None:
    from webfetch_core.pipeline.cache_admin import list_queries, purge, show

    one = open_world()
    saved = one.wf.save_finding(QUERY, TEXT)
    one.search("another question about the lock of Tarn")
    store, now = one.wf.cache(), one.wf.host.clock.time()
    assert {(row.query, row.space) for row in list_queries(store, now)} == {
        (QUERY, "findings"),
        ("another question about the lock of Tarn", "queries"),
    }
    for which in (QUERY, saved.url, saved.url.partition("//")[2]):
        [shown] = show(store, which, now)
        assert shown.kind == "finding"
    assert purge(store, now=now, query=QUERY) == 0
    purge(store, now=now)
    assert [row.space for row in list_queries(store, now)] == ["findings"]
    assert purge(store, now=now, space="findings", query="something else") == 0
    assert purge(store, now=now, space="findings", query=QUERY) == 1
    one.wf.save_finding(QUERY, TEXT)
    assert purge(store, now=now, space="findings") == 1
    assert one.search(QUERY, cache_only=True).provenance.kind == "none"


def test_another_webfetch_over_the_same_store_serves_it(open_world: Any) -> None:
    open_world().wf.save_finding(QUERY, TEXT)
    other = open_world()
    assert other.search(QUERY).provenance.kind == "finding"
    assert json.loads(json.dumps(other.wf.savings_report().session.counts)) == {
        "searches": 1,
        "served_finding": 1,
    }
    assert other.wf.savings_report().lifetime.counts["findings_saved"] == 1
