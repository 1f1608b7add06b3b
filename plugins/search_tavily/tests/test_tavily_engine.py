"""The engine over real sockets, against a simulator of Tavily."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from webfetch_search_tavily import plugin
from webfetch_search_tavily.engine import TavilyEngine
from webfetch_search_tavily.settings import TavilySettings

from webfetch_core import AllEnginesFailed, Webfetch
from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    BadResponse,
    Freshness,
    NotConfigured,
    QuotaExceeded,
    RateLimited,
    SearchHit,
    SearchRequest,
    TimedOut,
    Unavailable,
    WebfetchError,
)
from webfetch_core.testing import FakeContext, LoopbackService, ScriptedEngine, fake_plugin, loopback_http
from webfetch_core.testing.engines.corpus import CorpusDocument
from webfetch_core.testing.engines.messages import json_reply, text_reply
from webfetch_core.testing.engines.tavily import TavilySimulator

CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "inputs"
KEY = "tvly-4f1d0c7b9e5a"
PAGES = [
    CorpusDocument(
        url=f"https://h{n}.example/otter",
        title=f"Otter census {n}",
        text=f"The otter census, part {n}, is taken by night.",
        published=f"2026-0{n}-10",
    )
    for n in range(1, 8)
]


@pytest.fixture
def sim() -> Iterator[TavilySimulator]:
    with TavilySimulator(PAGES, key=KEY) as made:
        yield made


Make = Callable[..., TavilyEngine]


@pytest.fixture
def make(sim: TavilySimulator) -> Iterator[Make]:
    context = FakeContext("search_tavily", environ={"TAVILY_API_KEY": f" {KEY}\n"})
    with loopback_http(context.clock, trusted=[(sim.host, sim.port)], secrets=[KEY]) as http:

        def make(**own: Any) -> TavilyEngine:
            own.setdefault("base_url", sim.endpoint)
            return TavilyEngine(TavilySettings(**own), context.having(http=http))

        yield make


def ask(
    engine: TavilyEngine, query: str = "otter census", seconds: float = 5.0, **more: Any
) -> list[SearchHit]:
    return engine.search(SearchRequest(query=query, deadline=time.monotonic() + seconds, **more))


def test_one_post_with_the_key_in_its_header(sim: TavilySimulator, make: Make) -> None:
    hits = ask(make(), limit=3)
    assert [h.url for h in hits] == [f"https://h{n}.example/otter" for n in (1, 2, 3)]
    assert (hits[0].title, hits[0].published) == ("Otter census 1", None)
    assert hits[0].extra["score"] > 0
    [received] = sim.requests
    assert (received.method, received.target) == ("POST", "/search")
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert KEY.encode() not in received.body


def test_filters_are_its_own_parameters(sim: TavilySimulator, make: Make) -> None:
    ask(make(), freshness=Freshness.RECENT, exclude_domains=("h3.example",), language="de", country="AT")
    [query] = sim.queries
    assert (query.query, query.freshness, query.country) == ("otter census", "month", "austria")
    assert query.exclude == ("h3.example",)
    assert [h.url for h in ask(make(), include_domains=("h2.example",))] == ["https://h2.example/otter"]


def test_everything_that_can_be_asked_is_taken(sim: TavilySimulator, make: Make) -> None:
    for depth in ("basic", "advanced", "fast", "ultra-fast"):
        for topic in ("general", "news", "finance"):
            engine = make(depth=depth, topic=topic, country="de", safe_search=True)
            ask(engine, "otter " * 200, limit=100, country="us", include_domains=("h1.example",))
            ask(engine, country="xx", freshness=Freshness.REALTIME)
    assert set(sim.outcomes) == {"ok"}


def test_news_have_dates(make: Make) -> None:
    assert ask(make(topic="news"))[0].published == "2026-01-10"


def test_the_wait_that_is_asked_for(sim: TavilySimulator, make: Make) -> None:
    for fault, wait in (("rate_limited", 7.0), ("keyless_limit", 3600.0)):
        sim.script(fault)
        with pytest.raises((RateLimited, QuotaExceeded)) as caught:
            ask(make())
        assert caught.value.retry_after_s == pytest.approx(wait, abs=7)


def test_a_refused_request_is_logged_without_the_key(
    sim: TavilySimulator, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    sim.fault = "bad_query"
    with caplog.at_level(logging.WARNING), pytest.raises(BadQuery):
        ask(make(), f"otter {KEY}")
    assert "'topic': 'general'" in caplog.text and "'query': 'otter ***'" in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("fault", ["empty", "silent_block"])
def test_nothing_found_is_empty(sim: TavilySimulator, make: Make, fault: str) -> None:
    sim.fault = fault
    assert ask(make()) == []


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        ("auth", AuthFailed, "TAVILY_API_KEY"),
        ("quota", QuotaExceeded, "plan's set usage limit"),
        ("pay_as_you_go_limit", QuotaExceeded, "pay-as-you-go limit"),
        ("rate_limited", RateLimited, "excessive requests"),
        ("keyless_limit", QuotaExceeded, "daily limit"),
        ("bad_query", BadQuery, "Query is missing"),
        ("invalid_fields", BadQuery, "max_results: Input should be a valid integer"),
        ("server_error", Unavailable, "Internal server error"),
        ("error_in_200", QuotaExceeded, "run out of credits"),
        ("html_instead_of_json", BadResponse, "no JSON"),
        ("truncated_json", BadResponse, "no JSON"),
    ],
)
def test_faults(sim: TavilySimulator, make: Make, fault: str, kind: type[Exception], says: str) -> None:
    sim.fault = fault
    with pytest.raises(kind, match=says):
        ask(make())
    assert len(sim.requests) == 1


def test_a_connection_that_breaks_off_is_an_error(sim: TavilySimulator, make: Make) -> None:
    sim.fault = "cut_off"
    with pytest.raises((Unavailable, BadResponse)):
        ask(make())


@pytest.mark.parametrize("fault", ["hang", "slow_drip"])
def test_the_deadline_holds(sim: TavilySimulator, make: Make, fault: str) -> None:
    sim.fault = fault
    began = time.monotonic()
    with pytest.raises(TimedOut):
        ask(make(), seconds=0.3)
    assert time.monotonic() - began < 20  # the simulator hangs far longer


def test_results_that_lack_fields(sim: TavilySimulator, make: Make) -> None:
    sim.fault = "missing_fields"
    hits = ask(make())
    assert [h.url for h in hits][:2] == ["https://h1.example/otter", "https://h3.example/otter"]
    assert (hits[0].title, hits[0].snippet, hits[1].title) == ("", "", "")


def test_a_gateways_refusals(sim: TavilySimulator, make: Make) -> None:
    sim.script(text_reply("<p>slow down</p>", 429, "text/html"), text_reply("gone", 404), text_reply("", 302))
    with pytest.raises(RateLimited):
        ask(make())
    for _ in range(2):
        with pytest.raises(BadResponse):
            ask(make())


@pytest.mark.parametrize("query", ["", " \t"])
def test_an_empty_query_is_refused_before_any_call(sim: TavilySimulator, make: Make, query: str) -> None:
    with pytest.raises(BadQuery):
        ask(make(), query)
    assert sim.requests == []


def test_without_a_key_that_a_header_takes_no_call_is_made(sim: TavilySimulator) -> None:
    with loopback_http(FakeContext("search_tavily").clock, trusted=[(sim.host, sim.port)]) as http:
        for key, kind in ((" ", NotConfigured), ("abc\ndef", AuthFailed), ("clé-secrète", AuthFailed)):
            context = FakeContext("search_tavily", environ={"TAVILY_API_KEY": key})
            with pytest.raises(kind, match="TAVILY_API_KEY") as caught:
                ask(TavilyEngine(TavilySettings(base_url=sim.endpoint), context.having(http=http)))
            assert key.strip() == "" or key not in str(caught.value)
    assert sim.requests == []


@given(
    key=st.text(alphabet="ABCdef0123456789-_.+/=", min_size=16, max_size=40),
    status=st.sampled_from([200, 302, 400, 401, 402, 403, 404, 422, 429, 500, 503]),
    shape=st.sampled_from(["detail", "list", "error", "keyless", "text", "cut"]),
)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_key_never_shows(
    sim: TavilySimulator, caplog: pytest.LogCaptureFixture, key: str, status: int, shape: str
) -> None:
    said = f"the key {key} is {key}"
    body: dict[str, Any] = {
        "detail": {"detail": {"error": said}},
        "list": {"detail": [{"loc": ["body", key], "msg": said}]},
        "error": {"error": said},
        "keyless": {"error": {"code": f"{key}_limit", "message": said}},
    }
    text = f'{{"message": "{said}' if shape == "cut" else f"<p>{said}</p>"
    sim.script(json_reply(body[shape], status) if shape in body else text_reply(text, status))
    context = FakeContext("search_tavily", environ={"TAVILY_API_KEY": key})
    caplog.clear()
    with loopback_http(context.clock, trusted=[(sim.host, sim.port)], secrets=[key]) as http:
        engine = TavilyEngine(TavilySettings(base_url=sim.endpoint), context.having(http=http))
        with caplog.at_level(logging.DEBUG), pytest.raises(WebfetchError) as caught:
            ask(engine)
    assert key not in f"{caught.value} {caught.value!r} {caught.value.fix} {engine!r} {caplog.text}"


def test_the_declaration() -> None:
    [provider] = plugin.webfetch_search_engines()
    assert (provider.name, provider.priority, provider.traits.usd_per_1k) == ("tavily", 40, 8.0)
    assert provider.requires[0].missing({}) and not provider.requires[0].missing({"TAVILY_API_KEY": "x"})


# ---- in a host: what broke others, and twins of our own ----


def case(name: str, file: str) -> Any:
    folder = CASES / name
    if not folder.is_dir():
        pytest.skip("no shared cases beside the repository")
    return json.loads((folder / file).read_text())


def host(wf: Callable[..., Webfetch], base_url: str, *others: Any, key: str = KEY) -> Webfetch:
    table = {"search_tavily": {"base_url": base_url}}
    return wf(plugin, *others, plugins=table, environ={"TAVILY_API_KEY": key})


def failures(wf: Webfetch, times: int = 5) -> list[str]:
    """How each of some searches ended, the breaker's doing included."""
    outcomes = []
    for n in range(times):
        with pytest.raises(AllEnginesFailed) as caught:
            wf.search(f"otter {n}")
        outcomes += [a.outcome for a in caught.value.attempts if a.stage == "search"]
    return outcomes


def test_a_wrong_key_is_an_error_that_names_its_variable(wf: Callable[..., Webfetch]) -> None:
    answer, expected = case("C013", "response.json"), case("C013", "expected.json")
    key = answer["env"]["TAVILY_API_KEY"]
    with LoopbackService() as service:
        service.answer(answer["json"], status=answer["status"])
        wf_ = host(wf, service.base_url, key=key)
        with pytest.raises(AllEnginesFailed) as caught:
            wf_.search("otter")
        assert caught.value.attempts[0].outcome in expected["error_kind"]
        assert all(part in str(caught.value) for part in expected["must_contain"])
        told = f"{caught.value} {caught.value.attempts!r}"
        assert not any(part in told for part in expected["must_not_contain"])
        assert failures(wf_, 2) == ["benched"] * 2
        assert len(service.requests) == 1


def test_the_reason_of_a_refused_request_is_told(wf: Callable[..., Webfetch]) -> None:
    answer, expected = case("C310", "response.json"), case("C310", "expected.json")
    with LoopbackService() as service:
        service.answer(answer["json"], status=answer["status"])
        wf_ = host(wf, service.base_url)
        with pytest.raises(AllEnginesFailed) as caught:
            wf_.search("otter")
        assert all(part in str(caught.value) for part in expected["must_contain"])
        assert set(failures(wf_)) == set(expected["error_kind"])  # and never "benched"


def test_half_an_answer_is_no_answer(wf: Callable[..., Webfetch]) -> None:
    exchange, expected = case("C021", "http.json")["exchanges"][0], case("C021", "expected.json")
    with LoopbackService() as service:
        service.answer(exchange["body"].encode(), content_type=exchange["headers"]["Content-Type"])
        outcomes = failures(host(wf, service.base_url))
    assert outcomes == [*expected["error_kind"] * 3, "benched", "benched"]


def test_a_refusal_inside_a_200_keeps_its_reason(wf: Callable[..., Webfetch]) -> None:
    answer, expected = case("C011", "response.json"), case("C011", "expected.json")
    with LoopbackService() as service:
        service.answer(answer["json"])
        wf_ = host(wf, service.base_url)
        with pytest.raises(AllEnginesFailed) as caught:
            wf_.search("otter")
    assert caught.value.attempts[0].outcome in expected["error_kind"]
    assert all(part in str(caught.value) for part in expected["must_contain"])


def test_a_setting_that_the_service_refuses_is_not_held_against_it(
    sim: TavilySimulator, wf: Callable[..., Webfetch]
) -> None:
    peer = fake_plugin("search", ScriptedEngine(["https://peer.example/"]), "peer")
    wf_ = host(wf, sim.endpoint, peer)
    sim.script(*["invalid_fields"] * 4)
    for n in range(4):
        outcomes = {a.provider: a.outcome for a in wf_.search(f"otter {n}").attempts if a.stage == "search"}
        assert outcomes == {"peer": "ok", "tavily": "bad_query"}
    assert {h.engine for h in wf_.search("otter census").hits} >= {"tavily"}


def test_a_filter_that_it_lacks_is_said(sim: TavilySimulator, wf: Callable[..., Webfetch]) -> None:
    result = host(wf, sim.endpoint).search("otter census", language="de", country="de")
    [reason] = [a.reason for a in result.attempts if a.stage == "search"]
    assert "language" in reason and "country" not in reason
