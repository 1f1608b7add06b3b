"""The engine in a host: pacing, cool-downs and the breaker. What broke others, and twins of our own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from webfetch_search_brave import plugin

from webfetch_core import AllEnginesFailed, SearchResult, Webfetch
from webfetch_core.testing import FakeClock, LoopbackService, ScriptedEngine, fake_plugin
from webfetch_core.testing.engines.brave import BraveSimulator
from webfetch_core.testing.engines.corpus import CorpusDocument

CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "inputs"
PAGES = [
    CorpusDocument(url="https://a.example/", title="a1 b2 c3", text="a1 b2 c3 pizza Tarn tide sediment x y z")
]
KEY = "BSA-4f1d0c7b9e"

Hosts = Callable[..., Webfetch]


def case(name: str, file: str = "script.json") -> Any:
    folder = CASES / name
    if not folder.is_dir():
        pytest.skip("no shared cases beside the repository")
    return json.loads((folder / file).read_text())


def host(
    wf: Hosts, base_url: str, *others: Any, table: dict[str, Any] | None = None, **more: Any
) -> Webfetch:
    more.setdefault("environ", {"BRAVE_API_KEY": KEY})
    return wf(plugin, *others, plugins={"search_brave": {"base_url": base_url, **(table or {})}}, **more)


@contextmanager
def brave(**options: Any) -> Iterator[BraveSimulator]:
    with BraveSimulator(PAGES, key=KEY, **options) as sim:
        yield sim


def together(wf: Webfetch, queries: Sequence[str], deadline_s: float) -> tuple[list[SearchResult], float]:
    """Search for all at once; the results in the order of their ends, and the seconds that it took."""
    results: list[SearchResult] = []
    threads = [
        threading.Thread(target=lambda q=q: results.append(wf.search(q, deadline_s=deadline_s)))
        for q in queries
    ]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return results, time.monotonic() - began


# ---- pace ----


@pytest.mark.slow
def test_parallel_searches_on_a_plan_of_one_a_second(wf: Hosts) -> None:
    script, bounds = case("C007"), case("C007", "expected.json")["bounds"]
    with brave(rate=1) as sim:
        queries = [call["query"] for call in script["calls"]]
        results, took = together(host(wf, sim.endpoint), queries, script["deadline_s"])
        assert len([r for r in results if r.hits]) == bounds["ok_calls"]
        assert sim.outcomes.count("rate_limited") <= bounds["max_429_seen"]
        assert took <= bounds["total_s_max"]


def test_parallel_searches_are_spaced_by_the_plan(wf: Hosts) -> None:
    with brave(rate=8) as sim:
        wf_ = host(wf, sim.endpoint)
        wf_.search("tide")
        results, took = together(wf_, [f"tide {n}" for n in range(4)], 8.0)
        assert len([r for r in results if r.hits]) == 4
        assert sim.outcomes.count("rate_limited") <= 1
        assert 0.3 <= took < 3.0  # an eighth of a second between two


@pytest.mark.slow
def test_one_search_is_one_call(wf: Hosts) -> None:
    script, bounds = case("C305"), case("C305", "expected.json")["bounds"]
    with brave(rate=1) as sim:
        wf_ = host(wf, sim.endpoint)
        [call] = script["calls"]
        assert wf_.search(call["query"], deadline_s=script["deadline_s"]).hits
        assert len(sim.requests) == 1
        for n in range(1, call["inner_requests"]):  # as many as another client would make for one search
            assert wf_.search(f"{call['query']} {n}", deadline_s=script["deadline_s"]).hits
        assert sim.outcomes.count("rate_limited") <= bounds["max_429_seen"]


def test_a_faster_plan_is_used_as_soon_as_it_is_known(wf: Hosts) -> None:
    answer, script = case("C306", "response.json"), case("C306")
    bounds = case("C306", "expected.json")["bounds"]
    with LoopbackService() as service:
        service.answer(answer["json"], status=answer["status"], headers=answer["headers"])
        wf_ = host(wf, f"{service.base_url}/res/v1")
        wf_.search("w0 first")
        queries = [f"w{n} tide" for n in range(script["parallel_calls"])]
        results, took = together(wf_, queries, script["deadline_s"])
        assert len(results) == bounds["ok_calls"]
        assert all(r.attempts[0].outcome in ("ok", "empty") for r in results)
        assert took <= bounds["total_s_max"]


def test_the_operators_pace_overrules_the_plan(wf: Hosts) -> None:
    with brave() as sim:
        wf_ = host(wf, sim.endpoint, table={"calls_per_s": 0})
        _, took = together(wf_, [f"tide {n}" for n in range(5)], 3.0)
        assert sim.outcomes == ["ok"] * 5
        assert took < 3.0


# ---- cool-downs ----


def test_a_cool_down_that_is_a_date_is_kept(wf: Hosts) -> None:
    script, expected = case("C009"), case("C009", "expected.json")
    clock = FakeClock(epoch=datetime.fromisoformat(script["now"]).timestamp())
    with LoopbackService() as service:
        service.answer({}, status=script["response"]["status"], headers=script["response"]["headers"])
        wf_ = host(wf, f"{service.base_url}/res/v1", clock=clock)
        start = clock.monotonic()
        for call in script["calls"]:
            clock.advance(start + call["t"] - clock.monotonic())
            began = time.monotonic()
            with pytest.raises(AllEnginesFailed) as caught:
                wf_.search(call["query"], deadline_s=script["deadline_s"])
            assert time.monotonic() - began < expected["bounds"]["call_s_max"]
            [attempt] = [a for a in caught.value.attempts if a.stage == "search"]
            assert attempt.outcome in (*expected["error_kind"], "benched")
        assert len(service.requests) == expected["bounds"]["requests_sent"]


@pytest.mark.parametrize(
    ("fault", "early_s", "late_s"),
    [("quota", 1_200_000, 20_000), ("auth", 3_500, 200)],
)
def test_a_refusal_that_lasts_is_not_tried_again(wf: Hosts, fault: str, early_s: int, late_s: int) -> None:
    clock = FakeClock()
    with brave(clock=clock) as sim:
        sim.fault = fault
        wf_ = host(wf, sim.endpoint, clock=clock)
        for wait, calls in ((0, 1), (early_s, 1), (late_s, 2)):
            clock.advance(wait)
            with pytest.raises(AllEnginesFailed):
                wf_.search("tide")
            assert len(sim.requests) == calls


def test_a_bad_query_is_not_held_against_the_engine(wf: Hosts) -> None:
    with brave() as sim:
        wf_ = host(wf, sim.endpoint, table={"calls_per_s": 0})
        sim.script(*["bad_query"] * 4)
        for n in range(4):
            with pytest.raises(AllEnginesFailed) as caught:
                wf_.search(f"tide {n}")
            assert caught.value.attempts[0].outcome == "bad_query"
        assert wf_.search("tide").hits


def test_server_errors_open_the_breaker_and_a_probe_closes_it(wf: Hosts) -> None:
    clock = FakeClock()
    with brave(clock=clock) as sim:
        wf_ = host(wf, sim.endpoint, clock=clock, table={"calls_per_s": 0})
        sim.fault = "server_error"
        for n in range(5):
            with pytest.raises(AllEnginesFailed):
                wf_.search(f"tide {n}")
        assert len(sim.requests) == 3
        sim.fault = None
        clock.advance(301)
        assert wf_.search("tide").hits


# ---- queries ----


def test_a_query_that_is_too_long_is_cut_for_this_engine_alone(wf: Hosts) -> None:
    call = case("C023", "call.json")
    peer = ScriptedEngine(["https://peer.example/"])
    with brave() as sim:
        result = host(wf, sim.endpoint, fake_plugin("search", peer, "peer")).search(call["query"])
        assert len(sim.requests) == 1
        assert len(sim.queries[0].params["q"]) <= call["limits"]["brave"]
        assert peer.calls[0][0].query == call["query"]
        assert {a.outcome for a in result.attempts if a.stage == "search"} == {"ok"}


def test_more_than_fifty_words_are_cut_too(wf: Hosts) -> None:
    with brave() as sim:
        assert host(wf, sim.endpoint).search(" ".join(f"x{n}" for n in range(60)) + " tide") is not None
        assert len(sim.queries[0].params["q"].split()) == 50
        assert sim.outcomes == ["ok"]


def test_the_key_is_in_no_attempt(wf: Hosts) -> None:
    with LoopbackService() as service:
        service.answer({"error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": f"{KEY}?"}}, status=422)
        with pytest.raises(AllEnginesFailed) as caught:
            host(wf, f"{service.base_url}/res/v1").search("tide")
        assert "BRAVE_API_KEY" in str(caught.value)
        assert KEY not in f"{caught.value} {caught.value.attempts!r}"
