"""A search as a whole: caches, concurrency, closing, degrading, and never an internal fault passed over."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any

import pytest

from webfetch_core import AllEnginesFailed, BadQuery, ConfigError
from webfetch_core.api import PageError, Unavailable
from webfetch_core.errors import Cancelled
from webfetch_core.models import SearchHit
from webfetch_core.testing import (
    FakeClock,
    Hang,
    MemoryCache,
    ScriptedEngine,
    ScriptedRanker,
    Slow,
    fake_plugin,
)

URLS = [f"https://p{n}.example/" for n in range(1, 8)]
DAY = 86_400.0
HANG_S = 60.0  # how long what hangs would hang: nobody waits for it
SOON_S = 20.0  # far below it, and far above what a busy machine takes


def text(number: int) -> str:
    own = " ".join(f"w{number}x{k}" for k in range(12))
    return f"Page {number}\n\nThe lighthouse keeper of place{number} says {own}."


PAGES = {url: text(n) for n, url in enumerate(URLS, start=1)}


def asked(one: Any, name: str = "alpha") -> int:
    return len(one.engines[name].calls)


# ---- the result ----


def test_a_search_comes_back_complete(world: Any) -> None:
    one = world(pages=PAGES)
    result = one.search(limit=3)
    assert (result.query, result.provenance.kind, result.partial) == ("lighthouse keeper", "fresh", False)
    assert 1 <= len(result.chunks) <= 5
    assert [c.score for c in result.chunks] == sorted((c.score for c in result.chunks), reverse=True)
    assert result.ranked_by == ("lexical",)
    assert {a.stage for a in result.attempts} == {"search", "fetch", "extract", "rank"}
    assert {"gather", "rank"} <= {s.stage for s in result.trace}
    assert all(0 <= s.start_s <= s.end_s for s in result.trace)
    assert 0 < result.elapsed_s < 2
    names = [e.name for e in one.events]
    assert names.index("search.started") < names.index("cache.missed") < names.index("search.finished")
    assert len({e.request_id for e in one.events if e.request_id.startswith("s")}) == 1


def test_chunks_quote_their_document(world: Any) -> None:
    for chunk in world(pages=PAGES).search(limit=3).chunks:
        assert chunk.text == PAGES[chunk.url][chunk.start : chunk.end]


@pytest.mark.parametrize("query", ["", "   ", "\u200b\u2060", "???", None, 5, b"x", "x" * 2_001])
def test_a_query_that_cannot_be_served_is_bad(world: Any, query: Any) -> None:
    with pytest.raises(BadQuery):
        world(pages=PAGES).search(query)


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 0},
        {"limit": 101},
        {"limit": True},
        {"limit": 2.0},
        {"freshness": "new"},
        {"include_domains": [5]},
        {"include_domains": ["a b"]},
        {"exclude_domains": 7},
        {"language": 5},
        {"language": "english please"},
        {"country": "U\nS"},
        {"deadline_s": 0},
    ],
)
def test_an_argument_out_of_range_is_bad_usage_that_names_it(world: Any, options: dict[str, Any]) -> None:
    one = world(pages=PAGES)
    with pytest.raises(BadQuery, match=next(iter(options))):
        one.search("q", **options)
    assert asked(one) == 0


def test_lone_surrogates_in_a_query_are_survived(world: Any) -> None:
    assert world(pages=PAGES).search("lighthouse \ud800 keeper", limit=1).chunks


# ---- degrading ----


def test_without_fetcher_and_rankers_the_snippets_answer(world: Any) -> None:
    hit = SearchHit(url="https://s.example/", title="Spec", snippet="Bore 84 mm, stroke 90 mm.")
    one = world(engines={"alpha": [[hit]]}, fetch=None, extract=None, rank=None)
    result = one.search("engine bore")
    assert [c.text for c in result.chunks] == ["Bore 84 mm, stroke 90 mm."]
    assert any("no page could be read (1 not_configured)" in note for note in result.notes)
    assert "84 mm" in one.wf.render(result)


def test_pages_that_all_fail_by_one_internal_fault_are_an_error_that_names_it(world: Any) -> None:
    fault = TypeError("got multiple values for keyword argument")
    bare = [SearchHit(url=url) for url in URLS[:3]]
    with pytest.raises(PageError, match="TypeError: got multiple values") as caught:
        world(engines={"alpha": [bare]}, pages=dict.fromkeys(URLS[:3], fault)).search()
    assert caught.value.kind == "bad_response"


def test_with_snippets_the_internal_fault_is_told_beside_them(world: Any) -> None:
    snippets = [SearchHit(url=url, snippet=f"lighthouse keeper {url}") for url in URLS[:2]]
    one = world(engines={"alpha": [snippets]}, pages=dict.fromkeys(URLS[:2], TypeError("boom")))
    result = one.search()
    assert result.chunks
    assert "TypeError: boom" in one.wf.render(result)


def test_pages_that_fail_by_themselves_are_no_internal_fault(world: Any) -> None:
    one = world(engines={"alpha": [[SearchHit(url=URLS[0])]]}, pages={URLS[0]: Unavailable("down")})
    result = one.search()
    assert (result.chunks, [f.kind for f in result.failed_urls]) == ((), ["unavailable"])


def test_words_that_no_page_has_are_told(world: Any) -> None:
    result = world(pages=PAGES).search("zeppelin hangar", limit=2)
    assert result.chunks == ()
    assert any("shares a word" in note for note in result.notes)
    assert result.hits


def test_a_ranker_that_lies_costs_its_step(world: Any) -> None:
    for lie in ([float("nan")], [1.0] * 99, "scores", None, RuntimeError("broken")):
        result = world(pages=PAGES, rank=ScriptedRanker(lie)).search(limit=2)
        assert len(result.chunks) >= 2
        assert {a.outcome for a in result.attempts if a.stage == "rank"} == {"plugin_error"}


def test_an_order_that_is_no_ranking_is_told_as_such(world: Any) -> None:
    (note,) = world(pages=PAGES, rank=None).search(limit=1).notes
    assert note == "no ranker is installed: excerpts are in the engines' order"
    one = world(pages=PAGES, rank=None)
    object.__setattr__(one.wf.settings, "rank", ("order",))
    assert one.search(limit=1).notes == ()
    (note,) = world(pages=PAGES, rank=ScriptedRanker(RuntimeError("x"))).search(limit=1).notes
    assert note == "the ranker failed: excerpts are in the engines' order"
    assert world(engines={"alpha": [[]]}, rank=None).search().notes == ()


def test_a_page_keeps_its_rank_whatever_spelling_it_was_loaded_under(world: Any) -> None:
    first = [SearchHit(url="http://www.p1.example/"), SearchHit(url=URLS[1])]
    second = [SearchHit(url="https://p1.example/?utm_source=b"), SearchHit(url=URLS[2])]
    same = "The lighthouse keeper of {} says {} {}x {}y {}z."
    pages = {
        u: same.format(*[u[-12:-9]] * 5)
        for u in ("http://www.p1.example/", "https://p1.example/", *URLS[1:3])
    }
    one = world(engines={"omega": [first], "alpha": [Slow(0.1, second)]}, pages=pages)
    result = one.search(limit=3)
    assert (result.hits[0].url, result.chunks[0].url) == ("https://p1.example/", "http://www.p1.example/")


def test_a_lost_cache_is_told(world: Any) -> None:
    from webfetch_core.api import CacheError, Provider
    from webfetch_core.testing import FakePlugin

    def build(settings: Any, context: Any) -> Any:
        raise CacheError("the cache is in use by another version", fix="close it")

    lost = FakePlugin("cache_lost", {"cache": [Provider(name="lost", build=build)]})
    one = world(pages=PAGES, cache=None, plugins=[lost])
    for _ in range(2):
        result = one.search(limit=1)
        assert result.chunks
        assert any("there is no cache: the cache is in use by another version" in n for n in result.notes)


@pytest.mark.parametrize("stage", ["fetch", "extract", "rank", "compress", "freshness", "search", "cache"])
def test_what_the_settings_name_must_be_there_before_anything_starts(world: Any, stage: str) -> None:
    one = world(pages=PAGES)
    object.__setattr__(one.wf.settings, stage, ("nobody",))
    for _ in range(2):
        with pytest.raises(ConfigError, match="named 'nobody'"):
            one.search()
    assert (asked(one), one.fetched) == (0, [])


@pytest.mark.parametrize("where", ["engine", "page", "extractor", "ranker"])
@pytest.mark.parametrize("mode", ["fuse", "fallback"])
def test_strict_raises_at_once_what_a_plugin_raises_in_any_thread(world: Any, where: str, mode: str) -> None:
    from webfetch_core.testing import ScriptedExtractor

    boom = RuntimeError("boom")
    one = world(
        engines={"alpha": [boom if where == "engine" else list(PAGES)]},
        pages=dict.fromkeys(PAGES, boom) if where == "page" else PAGES,
        extract=ScriptedExtractor(boom) if where == "extractor" else ScriptedExtractor(),
        rank=ScriptedRanker(boom) if where == "ranker" else ScriptedRanker(),
        strict_plugins=True,
        search_mode=mode,
    )
    started = monotonic()
    with pytest.raises(RuntimeError, match="boom"):
        one.search(limit=1, deadline_s=HANG_S)
    assert monotonic() - started < SOON_S


# ---- the query cache ----


def test_the_second_time_the_cache_answers(world: Any) -> None:
    clock = FakeClock()
    one = world(pages=PAGES, clock=clock)
    first = one.search(limit=2)
    clock.advance(60)
    second = one.search("  LIGHTHOUSE keeper? ", limit=2)
    assert (second.provenance.kind, second.provenance.age_s) == ("exact", 60)
    assert second.chunks == first.chunks
    assert asked(one) == 1
    assert one.named("cache.hit")[0].data == {"kind": "exact"}


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 3},
        {"freshness": "recent"},
        {"include_domains": ["p1.example"]},
        {"exclude_domains": ["p1.example"]},
        {"language": "de"},
        {"country": "AT"},
        {"engines": ["beta"]},
        {"force_fresh": True},
    ],
)
def test_a_search_that_asks_for_something_else_is_another_search(world: Any, options: dict[str, Any]) -> None:
    one = world(engines={"alpha": [list(PAGES)], "beta": [list(PAGES)]}, pages=PAGES)
    one.search(limit=2)
    assert one.search(**{"limit": 2, **options}).provenance.kind == "fresh"


def test_partial_and_empty_results_are_not_kept(world: Any) -> None:
    one = world(engines={"alpha": [[], list(PAGES)]}, pages=PAGES)
    assert one.search(limit=2).hits == ()
    assert one.search(limit=2).chunks
    slow = world(engines={"alpha": [URLS[:1]], "omega": [Hang(HANG_S)]}, pages=PAGES)
    assert slow.search(limit=1, deadline_s=0.4).partial is True
    assert slow.search(limit=1, deadline_s=0.4).provenance.kind == "fresh"


def test_what_an_outage_made_poor_does_not_outlive_it(world: Any) -> None:
    snippets = [SearchHit(url=url, snippet=f"lighthouse keeper {url}") for url in URLS[:2]]
    for broken in (
        {"pages": dict.fromkeys(URLS, Unavailable("the net is down"))},
        {"pages": PAGES, "fetch": None},
        {"pages": PAGES, "rank": ScriptedRanker(RuntimeError("x"), RuntimeError("x"))},
    ):
        one = world(engines={"alpha": [snippets]}, **broken)
        assert one.search(limit=2).chunks
        assert one.search(limit=2).provenance.kind == "fresh"


def test_a_stale_row_is_served_and_refreshed_once_behind(world: Any, until: Any) -> None:
    clock = FakeClock()
    gate = threading.Event()
    gate.set()

    def engine(request: Any) -> list[str]:
        gate.wait(HANG_S)
        return list(PAGES)

    one = world(engines={"alpha": [engine]}, pages=PAGES, clock=clock)
    one.search("lighthouse keeper news", limit=2, freshness="stable")
    one.search("lighthouse keeper", limit=2)
    clock.advance(8 * DAY)
    gate.clear()
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda _: one.search("lighthouse keeper", limit=2), range(6)))
    assert {r.provenance.kind for r in results} == {"stale"}
    assert all(r.provenance.age_s == 8 * DAY for r in results)
    until(lambda: asked(one) == 3)
    gate.set()
    until(lambda: one.wf.host.tasks.running == 0)
    assert asked(one) == 3
    assert one.search("lighthouse keeper", limit=2).provenance.kind == "exact"


def test_a_refresh_that_fails_leaves_the_row_and_is_tried_again(world: Any, until: Any) -> None:
    clock = FakeClock()
    one = world(engines={"alpha": [list(PAGES), Unavailable("down"), list(PAGES)]}, pages=PAGES, clock=clock)
    one.search(limit=2)
    clock.advance(8 * DAY)
    for n in (2, 3):
        assert one.search(limit=2).provenance.kind == "stale"
        until(lambda n=n: asked(one) == n and one.wf.host.tasks.running == 0)  # type: ignore[misc]
    assert one.search(limit=2).provenance.kind == "exact"


def test_a_stricter_hint_misses_without_deleting(world: Any) -> None:
    clock = FakeClock()
    one = world(pages=PAGES, clock=clock)
    one.search(limit=2, freshness="recent")
    clock.advance(3_600)
    assert one.search(limit=2, freshness="realtime").provenance.kind == "fresh"
    assert one.search(limit=2, freshness="recent").provenance.kind == "exact"


def test_a_realtime_question_is_not_answered_from_an_old_page(world: Any) -> None:
    clock = FakeClock()
    one = world(pages=PAGES, clock=clock)
    one.search("lighthouse keeper", limit=1, freshness="stable")
    clock.advance(3_600)
    one.search("the lighthouse keeper", limit=1, freshness="stable")
    assert len(one.fetched) == 1
    one.search("lighthouse keeper", limit=1, freshness="realtime")
    assert len(one.fetched) == 2


def test_force_fresh_passes_by_every_cache(world: Any) -> None:
    one = world(pages={**PAGES, URLS[1]: PageError("gone", kind="not_found")})
    one.search(limit=2)
    before = len(one.fetched)
    one.search(limit=2, force_fresh=True)
    assert (asked(one), len(one.fetched)) == (2, 2 * before)


def test_cache_only_asks_nobody(world: Any) -> None:
    one = world(pages=PAGES)
    nothing = one.search(limit=2, cache_only=True)
    assert (nothing.chunks, nothing.hits, asked(one), one.fetched) == ((), (), 0, [])
    assert nothing.provenance.kind == "none"
    one.search(limit=2)
    fetched = len(one.fetched)
    assert one.search(limit=2, cache_only=True).provenance.kind == "exact"
    assert (asked(one), len(one.fetched)) == (1, fetched)


def test_neither_the_caches_nor_the_network_is_no_way_to_search(world: Any) -> None:
    one = world(pages=PAGES)
    with pytest.raises(BadQuery, match="contradict each other"):
        one.search(cache_only=True, force_fresh=True)
    with pytest.raises(BadQuery, match="contradict each other"):
        one.wf.fetch(URLS[0], cache_only=True, force_fresh=True)


def test_a_page_is_had_from_the_cache_alone_however_old(world: Any) -> None:
    clock = FakeClock()
    one = world(pages=PAGES, clock=clock)
    with pytest.raises(PageError, match="not in the page cache"):
        one.wf.fetch(URLS[0], cache_only=True)
    one.wf.fetch(URLS[0])
    clock.advance(80 * DAY)
    assert one.wf.fetch(URLS[0], cache_only=True).text == PAGES[URLS[0]]
    assert one.fetched == [URLS[0]]


def test_cache_only_serves_a_stale_row_without_refreshing_it(world: Any) -> None:
    clock = FakeClock()
    one = world(pages=PAGES, clock=clock)
    one.search(limit=2)
    clock.advance(8 * DAY)
    assert one.search(limit=2, cache_only=True).provenance.kind == "stale"
    assert (asked(one), one.wf.host.tasks.running) == (1, 0)


class Index(ScriptedEngine):
    """An engine over an index of its own."""

    def __init__(self, *steps: Any) -> None:
        super().__init__(*steps)
        self.mark: Any = "one"

    def fingerprint(self) -> str:
        if isinstance(self.mark, Exception):
            raise self.mark
        return self.mark  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("mark", "kind"), [("one", "exact"), ("two", "fresh"), ("", "fresh"), (OSError("gone"), "fresh")]
)
def test_an_index_that_changed_is_asked_again(world: Any, mark: Any, kind: str) -> None:
    from webfetch_core.api import SearchTraits

    index = Index(list(PAGES))
    one = world(
        engines={"alpha": [[]]},
        pages=PAGES,
        plugins=[fake_plugin("search", index, "notes", traits=SearchTraits(network=False))],
    )
    one.search(limit=2)
    index.mark = mark
    assert one.search(limit=2).provenance.kind == kind


def test_an_index_that_hangs_over_its_fingerprint_keeps_the_deadline(world: Any) -> None:
    from webfetch_core.api import SearchTraits

    hang = threading.Event()

    class Stuck(Index):
        def fingerprint(self) -> str:
            hang.wait(HANG_S)
            return "late"

    stuck = fake_plugin("search", Stuck([]), "notes", traits=SearchTraits(network=False))
    one = world(engines={"alpha": [URLS[:1]]}, pages=PAGES, plugins=[stuck])
    started = monotonic()
    assert one.search(limit=1, deadline_s=3.0).chunks
    assert monotonic() - started < SOON_S
    hang.set()


def test_a_classifier_that_hangs_keeps_the_deadline(world: Any) -> None:
    from webfetch_core.testing import ScriptedClassifier

    stuck = ScriptedClassifier(Hang(HANG_S))
    one = world(pages=PAGES, plugins=[fake_plugin("freshness", stuck, "stuck")])
    started = monotonic()
    result = one.search(limit=1, deadline_s=3.0)
    assert result.chunks
    assert monotonic() - started < SOON_S
    stuck.close()


# ---- many at once ----


def test_the_same_search_in_many_threads_runs_once(world: Any) -> None:
    one = world(engines={"alpha": [Slow(1.5, list(PAGES))]}, pages=PAGES)
    together = threading.Barrier(8)

    def search(_: int) -> Any:
        together.wait(HANG_S)
        return one.search(limit=2)

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(search, range(8)))
    assert asked(one) == 1
    assert len({tuple(c.text for c in r.chunks) for r in results}) == 1


def test_a_shared_failure_is_everyones(world: Any) -> None:
    one = world(engines={"alpha": [Slow(1.5, 42)]})
    together = threading.Barrier(4)

    def search(_: int) -> str:
        together.wait(HANG_S)
        with pytest.raises(AllEnginesFailed) as caught:
            one.search()
        return caught.value.attempts[0].provider

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(search, range(4))) == {"alpha"}
    assert asked(one) == 1


def test_unlike_requests_do_not_share_a_run(world: Any) -> None:
    hurried = threading.Event()  # set by the one with little time: it returns while the others wait
    engine = [lambda request: list(PAGES) if hurried.wait(HANG_S) else []]
    one = world(engines={"alpha": engine}, pages=PAGES)
    together = threading.Barrier(3)

    def search(options: dict[str, Any]) -> bool:
        together.wait(HANG_S)
        if "deadline_s" in options:
            with pytest.raises(AllEnginesFailed):
                one.search(limit=2, **options)
            hurried.set()
            return True
        return bool(one.search(limit=2, **options).chunks)

    with ThreadPoolExecutor(3) as pool:
        assert all(pool.map(search, [{}, {"force_fresh": True}, {"deadline_s": 1.0}]))
    assert asked(one) == 3


def test_different_searches_at_once_do_not_mix(world: Any) -> None:
    words = [f"keeper{n}" for n in range(8)]
    urls = {word: [f"https://{word}.example/{k}" for k in range(2)] for word in words}
    pages = {
        u: f"Page\n\nThe lighthouse {w} of {u[-1]} {w} {w}x{u[-1]}." for w, us in urls.items() for u in us
    }
    one = world(engines={"alpha": [lambda request: urls[request.query.split()[-1]]]}, pages=pages)

    def search(word: str) -> Any:
        return word, one.search(f"lighthouse {word}", limit=2)

    with ThreadPoolExecutor(8) as pool:
        for word, result in pool.map(search, words * 3):
            assert {c.url for c in result.chunks} == set(urls[word])
            assert {a.target for a in result.attempts if a.stage == "fetch"} <= set(urls[word])


def test_a_provider_that_is_slow_to_build_is_built_once(world: Any) -> None:
    from webfetch_core.api import Provider
    from webfetch_core.testing import FakePlugin

    built = []

    def build(settings: Any, context: Any) -> Any:
        threading.Event().wait(0.1)
        built.append(1)
        return ScriptedEngine(list(PAGES))

    heavy = FakePlugin("search_heavy", {"search": [Provider(name="heavy", build=build)]})
    one = world(engines={"alpha": [[]]}, pages=PAGES, plugins=[heavy])
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: one.search(f"lighthouse {n}", limit=1), range(6)))
    assert built == [1]


# ---- the end ----


def test_closing_while_searches_run_ends_in_time_and_quietly(world: Any) -> None:
    one = world(
        engines={"alpha": [Slow(0.1, list(PAGES))], "omega": [Hang(HANG_S)]},
        pages=dict.fromkeys(URLS, lambda request: threading.Event().wait(0.2)),
    )
    ended: list[str] = []

    def search(n: int) -> None:
        try:
            one.search(f"lighthouse {n}", limit=2, deadline_s=1.0)
            ended.append("result")
        except Exception as exc:
            ended.append(type(exc).__name__)

    threads = [threading.Thread(target=search, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    threading.Event().wait(0.15)
    started = monotonic()
    one.wf.close()
    assert monotonic() - started < SOON_S
    for thread in threads:
        thread.join(HANG_S)
        assert not thread.is_alive()
    assert len(ended) == 8
    assert set(ended) <= {"result", "AllEnginesFailed", "Cancelled"}


def test_providers_that_hang_in_close_hold_up_the_end_by_little(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from webfetch_core.runtime import host

    monkeypatch.setattr(host, "CLOSE_LIMIT_S", 0.2)
    monkeypatch.setattr(host, "CLOSE_ALL_LIMIT_S", 0.4)
    hang = threading.Event()

    class Stuck(ScriptedEngine):
        def close(self) -> None:
            hang.wait(HANG_S)

    plugins = [fake_plugin("search", Stuck([]), f"stuck{n}") for n in range(6)]
    one = world(engines={"alpha": [list(PAGES)]}, pages=PAGES, plugins=plugins)
    one.search(limit=1)
    started = monotonic()
    one.wf.close()
    assert monotonic() - started < SOON_S
    hang.set()
    assert sum(e.name == "plugin.failed" and "close" in e.reason for e in one.events) == 6


def test_after_closing_everything_says_so(world: Any) -> None:
    one = world(pages=PAGES)
    result = one.search(limit=1)
    one.wf.close()
    one.wf.close()
    for work in (
        one.search,
        lambda: one.wf.fetch(URLS[0]),
        lambda: one.wf.extract(b"text"),
        lambda: one.wf.rank("q", ["a"]),
        lambda: one.wf.compress("q", result.chunks),
        lambda: one.wf.match("q", ["a"]),
        lambda: one.wf.classify_freshness("q"),
        one.wf.cache,
        one.wf.doctor,
    ):
        with pytest.raises(Cancelled, match="closed"):
            work()
    assert one.wf.status().version


def test_two_of_them_can_share_a_cache(world: Any) -> None:
    store = MemoryCache()
    first, second = world(pages=PAGES, cache=store), world(pages=PAGES, cache=store)
    first.search(limit=2)
    assert second.search(limit=2).provenance.kind == "exact"
    first.wf.close()
    assert second.search("lighthouse", limit=2).chunks


# ---- observers ----


def test_listeners_that_raise_change_nothing(world: Any) -> None:
    one = world(pages=PAGES)

    def bad(event: Any) -> None:
        raise RuntimeError("listener")

    stop = one.wf.subscribe(bad)
    assert one.search(limit=2).chunks
    stop()
    stop()


def test_counters_count_what_was_served(world: Any) -> None:
    one = world(pages=PAGES)
    one.search(limit=2)
    one.search(limit=2)
    counted = one.wf.status().counters
    assert (counted["searches"], counted["served_fresh"], counted["served_exact"]) == (2, 1, 1)
