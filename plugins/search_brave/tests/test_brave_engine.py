"""The engine over real sockets, against a simulator of Brave."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from webfetch_search_brave import plugin
from webfetch_search_brave.engine import BraveEngine
from webfetch_search_brave.settings import BraveSettings

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
from webfetch_core.testing import FakeContext, loopback_http
from webfetch_core.testing.engines.brave import BraveSimulator
from webfetch_core.testing.engines.corpus import CorpusDocument
from webfetch_core.testing.engines.messages import json_reply, text_reply

KEY = "BSA-4f1d0c7b9e"
PAGES = [
    CorpusDocument(
        url=f"https://h{n}.example/tide",
        title=f"Tide gauge & datum {n}",
        text=f"A tide gauge is read at slack water. Gauge {n} drifts < {n} mm. "
        + "It is levelled in spring. " * 9
        + "Then the staff is read.",
        published=f"2026-0{n}-10",
        language="en",
    )
    for n in range(1, 8)
]


@pytest.fixture
def sim() -> Iterator[BraveSimulator]:
    with BraveSimulator(PAGES, key=KEY) as made:
        yield made


Make = Callable[..., BraveEngine]


@pytest.fixture
def make(sim: BraveSimulator) -> Iterator[Make]:
    context = FakeContext("search_brave", environ={"BRAVE_API_KEY": f" {KEY}\n"})
    with loopback_http(context.clock, trusted=[(sim.host, sim.port)], secrets=[KEY]) as http:

        def make(sleep: Callable[[float], None] = time.sleep, **own: Any) -> BraveEngine:
            own.setdefault("base_url", sim.endpoint)
            return BraveEngine(BraveSettings(**own), context.having(http=http), sleep)

        yield make


def ask(engine: BraveEngine, query: str = "tide gauge", seconds: float = 5.0, **more: Any) -> list[SearchHit]:
    return engine.search(SearchRequest(query=query, deadline=time.monotonic() + seconds, **more))


def test_one_call_with_the_key_in_its_header(sim: BraveSimulator, make: Make) -> None:
    hits = ask(make(), limit=3)
    assert [h.url for h in hits] == [f"https://h{n}.example/tide" for n in (1, 2, 3)]
    assert hits[0].title == "Tide gauge & datum 1"
    assert hits[0].snippet.startswith("A tide gauge is read at slack water. Gauge 1 drifts < 1 mm.")
    assert hits[0].published == "2026-01-10"
    [received] = sim.requests
    assert (received.method, received.path) == ("GET", "/res/v1/web/search")
    assert received.headers["x-subscription-token"] == KEY
    assert KEY not in received.target
    assert sim.queries[0].limit == 3


def test_filters_arrive_in_braves_own_form(sim: BraveSimulator, make: Make) -> None:
    hits = ask(
        make(),
        freshness=Freshness.RECENT,
        include_domains=("h2.example", "h3.example"),
        exclude_domains=("h3.example",),
        language="en-AU",
        country="au",
    )
    assert hits == []  # none is of the last month
    [query] = sim.queries
    assert (query.freshness, query.country, query.language) == ("month", "AU", "en")
    assert (query.include, query.exclude) == (("h2.example", "h3.example"), ("h3.example",))
    assert [h.url for h in ask(make(), include_domains=("h2.example",))] == ["https://h2.example/tide"]


def test_everything_that_can_be_asked_is_taken(sim: BraveSimulator, make: Make) -> None:
    engine = make(country="DE", language="zh", safe_search="strict", extra_snippets=True)
    for language in ("ja", "pt", "xx", None):
        for country in ("GR", "us", None):
            ask(engine, "gauge " * 200, language=language, country=country, limit=100)
    assert set(sim.outcomes) == {"ok"}


def test_further_excerpts(sim: BraveSimulator, make: Make) -> None:
    assert " … Then the staff is read." in ask(make(extra_snippets=True))[0].snippet
    sim.plan_has_extra_snippets = False
    with pytest.raises(AuthFailed, match=r"extra_snippets = false"):
        ask(make(extra_snippets=True))


@pytest.mark.parametrize("fault", ["empty", "silent_block"])
def test_nothing_found_is_empty(sim: BraveSimulator, make: Make, fault: str) -> None:
    sim.fault = fault
    assert ask(make()) == []


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        ("auth", AuthFailed, "BRAVE_API_KEY"),
        ("quota", QuotaExceeded, "quota limit exceeded"),
        ("payment_required", QuotaExceeded, "spend limit"),
        ("bad_query", BadQuery, "Unable to validate request parameter"),
        ("option_not_in_plan", AuthFailed, "extra_snippets"),
        ("server_error", Unavailable, "Internal server error"),
        ("error_in_200", QuotaExceeded, "quota limit exceeded"),
        ("html_instead_of_json", BadResponse, "no JSON"),
        ("truncated_json", BadResponse, "no JSON"),
    ],
)
def test_faults(sim: BraveSimulator, make: Make, fault: str, kind: type[Exception], says: str) -> None:
    sim.fault = fault
    with pytest.raises(kind, match=says):
        ask(make())
    assert len(sim.requests) == 1


def test_a_connection_that_breaks_off_is_an_error(sim: BraveSimulator, make: Make) -> None:
    sim.fault = "cut_off"
    with pytest.raises((Unavailable, BadResponse)):
        ask(make())


@pytest.mark.parametrize("fault", ["hang", "slow_drip"])
def test_the_deadline_holds(sim: BraveSimulator, make: Make, fault: str) -> None:
    sim.fault = fault
    began = time.monotonic()
    with pytest.raises(TimedOut):
        ask(make(), seconds=0.3)
    assert time.monotonic() - began < 20  # the simulator hangs far longer


def test_results_that_lack_fields(sim: BraveSimulator, make: Make) -> None:
    sim.fault = "missing_fields"
    hits = ask(make())
    assert [h.url for h in hits][:2] == ["https://h1.example/tide", "https://h3.example/tide"]
    assert (hits[0].title, hits[0].snippet, hits[1].title) == ("", "", "")


def test_the_months_quota_says_when_it_ends(sim: BraveSimulator, make: Make) -> None:
    sim.fault = "quota"
    with pytest.raises(QuotaExceeded) as caught:
        ask(make())
    assert caught.value.retry_after_s == pytest.approx(1_209_600, abs=60)


def test_a_call_that_came_too_early_is_made_once_more(sim: BraveSimulator, make: Make) -> None:
    slept: list[float] = []
    sim.script("rate_limited", "ok")
    assert ask(make(slept.append))
    assert slept == [1.0]
    sim.script("rate_limited", "rate_limited")
    with pytest.raises(RateLimited) as caught:
        ask(make(slept.append))
    assert caught.value.retry_after_s == 1.0
    assert sim.outcomes == ["rate_limited", "ok", "rate_limited", "rate_limited"]


def test_no_second_call_without_the_time_for_it(sim: BraveSimulator, make: Make) -> None:
    sim.fault = "rate_limited"
    with pytest.raises(RateLimited):
        ask(make(), seconds=0.8)
    sim.fault = None
    sim.script(json_reply({"error": {"code": "RATE_LIMITED"}}, 429, {"Retry-After": "60"}))
    with pytest.raises(RateLimited) as caught:
        ask(make())
    assert caught.value.retry_after_s == 60
    assert len(sim.requests) == 2


class PaceRecorder:
    """The client, with the paces that it was told."""

    def __init__(self, http: Any) -> None:
        self.http, self.paces = http, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.http, name)

    def pace(self, calls_per_s: float | None) -> None:
        self.paces.append(calls_per_s)


def test_the_pace_is_learnt_from_answers_and_refusals(sim: BraveSimulator, make: Make) -> None:
    engine = make()
    engine._http = http = PaceRecorder(engine._http)
    ask(engine)
    sim.reply_tiers = False
    ask(engine)
    sim.reply_tiers = True
    sim.fault = "auth"
    with pytest.raises(AuthFailed):
        ask(engine)
    assert http.paces == [50, 50]


def test_a_pace_of_the_operators_stays(sim: BraveSimulator, make: Make) -> None:
    engine = make(calls_per_s=3.0)
    engine._http = http = PaceRecorder(engine._http)
    ask(engine)
    assert http.paces == []


@pytest.mark.parametrize("query", ["", " \t"])
def test_an_empty_query_is_refused_before_any_call(sim: BraveSimulator, make: Make, query: str) -> None:
    with pytest.raises(BadQuery):
        ask(make(), query)
    assert sim.requests == []


def test_without_a_key_that_a_header_takes_no_call_is_made(sim: BraveSimulator) -> None:
    with loopback_http(FakeContext("search_brave").clock, trusted=[(sim.host, sim.port)]) as http:
        for key, kind in ((" ", NotConfigured), ("abc\ndef", AuthFailed), ("clé-secrète", AuthFailed)):
            context = FakeContext("search_brave", environ={"BRAVE_API_KEY": key})
            with pytest.raises(kind, match="BRAVE_API_KEY") as caught:
                ask(BraveEngine(BraveSettings(base_url=sim.endpoint), context.having(http=http)))
            assert key.strip() == "" or key not in str(caught.value)
    assert sim.requests == []


def test_a_refused_request_is_logged_without_the_key(
    sim: BraveSimulator, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    sim.fault = "bad_query"
    with caplog.at_level(logging.DEBUG, "webfetch"), pytest.raises(BadQuery):
        ask(make(), f"tide {KEY}")
    [line] = [r.getMessage() for r in caplog.records if r.name.startswith("webfetch")]
    assert "'count': 10" in line and "'q': 'tide ***'" in line


@given(
    key=st.text(alphabet="ABCdef0123456789-_.+/=", min_size=16, max_size=40),
    status=st.sampled_from([200, 302, 400, 401, 402, 403, 404, 422, 429, 500, 503]),
    shape=st.sampled_from(["code", "meta", "errors", "text", "string", "cut"]),
)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_key_never_shows(
    sim: BraveSimulator, caplog: pytest.LogCaptureFixture, key: str, status: int, shape: str
) -> None:
    said = f"the token {key} is {key}"
    body = {
        "code": {"error": {"code": f"X{key}", "detail": said}},
        "meta": {"error": {"code": "VALIDATION", "meta": {"errors": [{"loc": ["query", key], "msg": said}]}}},
        "errors": {"errors": [{"code": "RATE_LIMITED", "detail": said}]},
        "string": {"error": said},
    }
    text = f'{{"error": "{said}' if shape == "cut" else f"<p>{said}</p>"
    sim.script(*[json_reply(body[shape], status) if shape in body else text_reply(text, status)] * 2)
    context = FakeContext("search_brave", environ={"BRAVE_API_KEY": key})
    caplog.clear()
    with loopback_http(context.clock, trusted=[(sim.host, sim.port)], secrets=[key]) as http:
        engine = BraveEngine(BraveSettings(base_url=sim.endpoint), context.having(http=http), lambda _: None)
        with caplog.at_level(logging.DEBUG), pytest.raises(WebfetchError) as caught:
            ask(engine)
    assert key not in f"{caught.value} {caught.value!r} {caught.value.fix} {engine!r} {caplog.text}"


def test_the_declaration() -> None:
    [provider] = plugin.webfetch_search_engines()
    assert (provider.name, provider.priority, provider.traits.usd_per_1k) == ("brave", 50, 5.0)
    assert provider.requires[0].missing({}) and not provider.requires[0].missing({"BRAVE_API_KEY": "x"})
