"""Engines and pages come late, broken or never: a search ends in time and tells what it lacks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest

from webfetch_core.api import Blocked, Document, Page, PageError, TimedOut, Unavailable
from webfetch_core.models import SearchHit
from webfetch_core.pipeline import gather, window
from webfetch_core.testing import Hang, ScriptedExtractor, ScriptedFetcher, ScriptedRanker, Slow, fake_plugin

URLS = [f"https://p{n}.example/" for n in range(1, 11)]

HANG_S = 60.0  # how long what hangs would hang: nobody waits for it
SOON_S = 20.0  # far below it, and far above what a busy machine takes


def text(number: int) -> str:
    own = " ".join(f"w{number}x{k}" for k in range(12))
    return f"Page {number}\n\nThe lighthouse keeper of place{number} says {own}."


def site(*numbers: int) -> dict[str, Any]:
    return {URLS[n - 1]: text(n) for n in numbers}


def slow(seconds: float, number: int) -> Callable[[Any], Any]:
    def answer(request: Any) -> Page:
        threading.Event().wait(seconds)
        return Page(
            url=request.url, final_url=request.url, body=text(number).encode(), content_type="text/html"
        )

    return answer


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = monotonic()
    return work(), monotonic() - started


def attempt(result: Any, **fields: Any) -> Any:
    (one,) = [a for a in result.attempts if all(getattr(a, k) == v for k, v in fields.items())]
    return one


@pytest.fixture
def short_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "AFTER_PAGE_S", 1.0)
    monkeypatch.setattr(window, "GRACE_S", 0.5)


# ---- when it is enough ----


def test_everything_arrives(world: Any) -> None:
    result = world(pages=site(1, 2, 3)).search(limit=3)
    assert result.partial is False
    assert {c.url for c in result.chunks} == set(URLS[:3])
    assert result.failed_urls == ()
    assert [(a.stage, a.outcome) for a in result.attempts if a.stage == "search"] == [("search", "ok")]


def test_four_fifths_of_the_pages_are_enough(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "AFTER_PAGE_S", HANG_S)  # no window ends it
    monkeypatch.setattr(window, "AFTER_HITS_S", HANG_S)
    hang = Hang(HANG_S)
    pages = {**site(1, 2, 3, 4), URLS[4]: lambda request: hang.released.wait(HANG_S)}
    result, took = timed(lambda: world(pages=pages).search(limit=5, deadline_s=HANG_S))
    hang.released.set()
    assert took < SOON_S
    assert result.partial is False
    assert [(f.url, f.kind) for f in result.failed_urls] == [(URLS[4], "pending")]
    assert "arrived" in attempt(result, stage="fetch", target=URLS[4]).reason


@pytest.mark.parametrize(("pages", "needed"), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 4), (6, 5), (10, 8)])
def test_four_fifths_is_never_less_than_that(world: Any, short_window: None, pages: int, needed: int) -> None:
    hang = threading.Event()
    served: dict[str, Any] = {url: text(n) for n, url in enumerate(URLS[: needed - 1], start=1)}
    served |= {url: lambda request: hang.wait(HANG_S) for url in URLS[needed - 1 : pages]}
    result = world(pages=served).search(limit=pages, deadline_s=3.0)
    hang.set()
    assert result.partial is True


def test_after_the_first_page_the_others_have_their_window(world: Any, short_window: None) -> None:
    hang = threading.Event()
    pages = {
        URLS[0]: text(1),
        URLS[1]: lambda request: hang.wait(HANG_S),
        URLS[2]: lambda request: hang.wait(HANG_S),
    }
    result, took = timed(lambda: world(pages=pages).search(limit=3))
    hang.set()
    assert 0.1 < took < SOON_S
    assert result.partial is True
    assert result.chunks[0].url == URLS[0]
    assert [f.kind for f in result.failed_urls] == ["pending", "pending"]


def test_a_local_index_that_answers_at_once_does_not_shut_the_web_out(world: Any, short_window: None) -> None:
    from webfetch_core.api import SearchTraits
    from webfetch_core.testing import ScriptedEngine

    local = fake_plugin("search", ScriptedEngine([URLS[0]]), "local", traits=SearchTraits(network=False))
    one = world(
        engines={"web": [Slow(0.8, [URLS[1]])]},
        pages={URLS[0]: text(1), URLS[1]: slow(0.4, 2)},
        plugins=[local],
    )
    result = one.search(limit=2)
    assert {c.url for c in result.chunks} == {URLS[0], URLS[1]}


# ---- nothing passes the deadline ----


def test_a_hanging_engine_beside_a_good_one(world: Any, short_window: None) -> None:
    one = world(engines={"alpha": [URLS[:2]], "omega": [Hang(HANG_S)]}, pages=site(1, 2))
    result, took = timed(lambda: one.search(limit=2))
    assert took < SOON_S
    assert result.partial is True
    assert attempt(result, stage="search", provider="omega").outcome == "timeout"
    assert any("omega" in note for note in result.notes)
    assert len(result.chunks) == 2


def test_a_page_that_hangs_with_nothing_else_keeps_the_deadline(world: Any) -> None:
    hang = threading.Event()
    one = world(pages={URLS[0]: lambda request: hang.wait(HANG_S)})
    result, took = timed(lambda: one.search(limit=1, deadline_s=2.0))
    hang.set()
    assert took < SOON_S
    assert (result.partial, [f.kind for f in result.failed_urls]) == (True, ["pending"])
    assert [c.text for c in result.chunks] == []  # the scripted ranker sees no query word in the snippet


def test_an_extractor_that_hangs_keeps_the_deadline(world: Any) -> None:
    one = world(pages=site(1), extract=ScriptedExtractor(Hang(HANG_S)))
    result, took = timed(lambda: one.search(limit=1, deadline_s=2.0))
    assert took < SOON_S
    assert result.partial is True
    assert attempt(result, stage="fetch", outcome="timeout").target == URLS[0]


def test_a_ranker_that_hangs_keeps_the_deadline_and_costs_its_step(world: Any) -> None:
    one = world(pages=site(1, 2), rank=ScriptedRanker(Hang(HANG_S)))
    result, took = timed(lambda: one.search(limit=2, deadline_s=2.0))
    assert took < SOON_S
    assert [c.url for c in result.chunks] == URLS[:2]
    assert attempt(result, stage="rank").outcome == "timeout"
    assert result.ranked_by == ()
    assert any("engines' order" in note for note in result.notes)


def test_engines_that_all_hang_are_a_failure_not_an_empty_web(world: Any) -> None:
    from webfetch_core import AllEnginesFailed

    one = world(engines={"alpha": [Hang(HANG_S)], "omega": [Hang(HANG_S)]})
    with pytest.raises(AllEnginesFailed) as caught:
        one.search(deadline_s=1.0)
    assert {(a.provider, a.outcome) for a in caught.value.attempts} == {
        ("alpha", "timeout"),
        ("omega", "timeout"),
    }
    assert "alpha" in str(caught.value)
    assert "omega" in str(caught.value)


def test_an_engine_that_adds_up_its_own_time_outs_is_left_at_ours(world: Any) -> None:
    from webfetch_core import AllEnginesFailed

    def chain(request: Any) -> list[str]:
        for _ in range(4):
            threading.Event().wait(0.4)
        raise Blocked("every back end answered 202")

    with pytest.raises(AllEnginesFailed) as caught:
        timed(lambda: world(engines={"chain": [chain]}).search(deadline_s=0.5))
    assert caught.value.attempts[0].outcome in ("timeout", "blocked")


def test_every_provider_has_one_attempt_though_it_finishes_after_it_was_left(
    world: Any, short_window: None
) -> None:
    begun, ranking = threading.Event(), threading.Event()

    def rank(query: str, passages: list[str]) -> list[float]:
        begun.set()
        ranking.wait(0.3)  # long enough for the late engine and page to finish
        return [1.0] * len(passages)

    one = world(
        engines={"alpha": [URLS[:2]], "omega": [lambda request: [URLS[2]] if begun.wait(HANG_S) else []]},
        pages={
            URLS[0]: text(1),
            URLS[1]: lambda request: slow(0, 2)(request) if begun.wait(HANG_S) else None,
        },
        rank=ScriptedRanker(rank),
    )
    result = one.search(limit=2)
    assert attempt(result, stage="search", provider="omega").outcome == "timeout"
    assert attempt(result, stage="fetch", target=URLS[1]).outcome == "timeout"
    assert sum(s.stage == "search" for s in result.trace) == 2


# ---- what fails is named, and others step in ----


def test_lower_ranks_fill_in_for_pages_that_fail(world: Any) -> None:
    pages: dict[str, Any] = {url: Blocked("403") for url in URLS[:5]}
    pages |= {URLS[5]: "The head of works is Ada Quill, the keeper.", **site(7, 8)}
    one = world(pages=pages)
    result = one.search("head of works", limit=3)
    assert len(one.fetched) <= 8
    assert any("Ada Quill" in c.text for c in result.chunks)
    assert [(f.url, f.kind) for f in result.failed_urls] == [(url, "blocked") for url in URLS[:5]]


def test_filling_in_ends_at_two_tries_a_page(world: Any) -> None:
    one = world(pages=dict.fromkeys(URLS, PageError("gone", kind="not_found")), network=False)
    result = one.search(limit=2)
    assert len(one.fetched) == 4
    assert len(result.failed_urls) == 4
    assert result.partial is False
    assert any("no page could be read (4 not_found)" in note for note in result.notes)


def test_no_more_pages_at_once_than_there_are_workers(world: Any) -> None:
    lock, now, most = threading.Lock(), [0], [0]

    def count(request: Any) -> Any:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        threading.Event().wait(0.02)
        with lock:
            now[0] -= 1
        return slow(0, 1)(request)

    one = world(pages=dict.fromkeys(URLS, count), fetch_workers=3)
    one.search(limit=10)
    assert most[0] <= 3


def test_pages_start_before_the_last_engine_has_answered(world: Any) -> None:
    one = world(engines={"alpha": [URLS[:1]], "omega": [Slow(0.3, [URLS[1]])]}, pages=site(1, 2))
    result = one.search(limit=2)
    started = {e.target: e.at for e in one.named("call.started") if e.stage == "fetch"}
    late = next(e.at for e in one.named("call.finished") if e.provider == "omega")
    assert started[URLS[0]] < late < started[URLS[1]]
    assert result.partial is False


def test_every_failure_of_an_engine_is_named_with_its_reason(world: Any) -> None:
    one = world(engines={"alpha": [Unavailable("HTTP 502")], "omega": [URLS[:1]]}, pages=site(1))
    result = one.search(limit=1)
    assert attempt(result, stage="search", provider="alpha").reason == "HTTP 502"
    assert any("alpha failed: HTTP 502" in note for note in result.notes)


def test_a_page_that_two_engines_found_is_loaded_and_shown_once(world: Any) -> None:
    first = [SearchHit(url="http://www.p1.example/", title="T", snippet="the lighthouse keeper snippet")]
    second = [
        SearchHit(url="https://p1.example/?utm_source=b", title="T", snippet="a lighthouse keeper snippet")
    ]
    one = world(
        engines={"omega": [first], "alpha": [Slow(0.1, second)]},
        fetch=ScriptedFetcher({"http://www.p1.example/": text(1), "https://p1.example/": text(1)}),
    )
    result = one.search(limit=1)
    assert len(one.fetched) == 1
    assert len({c.url for c in result.chunks}) == 1
    assert len(result.hits) == 1


def test_a_fault_of_ours_in_a_page_task_is_named(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **options: Any) -> Any:
        raise TypeError("got multiple values")

    monkeypatch.setattr(gather, "chunk", broken)
    result = world(pages=site(1, 2)).search(limit=2)
    assert {f.kind for f in result.failed_urls} == {"plugin_error"}
    assert all("TypeError" in f.reason for f in result.failed_urls)
    assert any("TypeError" in note for note in result.notes)


def test_a_veto_that_hangs_keeps_the_deadline(world: Any) -> None:
    from webfetch_core.api import hookimpl

    hang = threading.Event()

    class Policy:
        name = "policy"

        @hookimpl
        def webfetch_veto_url(self, url: str) -> str | None:
            hang.wait(HANG_S)
            return None

    one = world(pages=site(1), plugins=[Policy()])
    result, took = timed(lambda: one.search(limit=1, deadline_s=2.0))
    assert (took < SOON_S, result.partial) == (True, True)
    started = monotonic()
    with pytest.raises(TimedOut):
        one.wf.fetch(URLS[1], deadline_s=0.2)
    assert monotonic() - started < SOON_S
    hang.set()
    assert one.fetched == []


def test_a_cache_that_takes_long_to_open_does_not_hold_up_the_search(world: Any, until: Any) -> None:
    from webfetch_core.api import Provider
    from webfetch_core.testing import FakePlugin, MemoryCache

    going_on, store = threading.Event(), MemoryCache()

    def build(settings: Any, context: Any) -> Any:
        going_on.wait(HANG_S)
        return store

    slow_cache = FakePlugin("cache_slow", {"cache": [Provider(name="slow", build=build)]})
    one = world(pages=site(1), cache=None, plugins=[slow_cache])
    result, took = timed(lambda: one.search(limit=1, deadline_s=2.0))
    assert took < SOON_S
    assert result.chunks
    going_on.set()
    until(lambda: one.wf.host.store(0.0) is store)
    one.search(limit=1)
    assert one.search(limit=1).provenance.kind == "exact"


def test_an_extracted_document_without_an_address_has_that_of_its_page(world: Any) -> None:
    one = world(pages=site(1), extract=ScriptedExtractor(Document(url="", text=text(1))))
    assert [c.url for c in one.search(limit=1).chunks] == [URLS[0]]
