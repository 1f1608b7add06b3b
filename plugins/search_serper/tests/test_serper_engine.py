"""The engine over real sockets, against a simulator of Serper."""

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
from webfetch_search_serper import plugin
from webfetch_search_serper.engine import SerperEngine
from webfetch_search_serper.settings import SerperSettings

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
from webfetch_core.testing import FakeClock, FakeContext, loopback_http
from webfetch_core.testing.engines.corpus import CorpusDocument
from webfetch_core.testing.engines.messages import json_reply, text_reply
from webfetch_core.testing.engines.serper import SerperSimulator

CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "inputs"
KEY = "4f1d0c7b9e5a"
PAGES = [
    CorpusDocument(
        url=f"https://h{n}.example/quill",
        title=f"Quill codec {n}",
        text=f"The quill codec, part {n}, is read at a low delay.",
        published=f"2026-0{n}-10",
    )
    for n in range(1, 8)
]


@pytest.fixture
def sim() -> Iterator[SerperSimulator]:
    with SerperSimulator(PAGES, key=KEY) as made:
        yield made


Make = Callable[..., SerperEngine]


@pytest.fixture
def make(sim: SerperSimulator) -> Iterator[Make]:
    context = FakeContext("search_serper", environ={"SERPER_API_KEY": f" {KEY}\n"})
    with loopback_http(context.clock, trusted=[(sim.host, sim.port)], secrets=[KEY]) as http:

        def make(**own: Any) -> SerperEngine:
            own.setdefault("base_url", sim.endpoint)
            return SerperEngine(SerperSettings(**own), context.having(http=http))

        yield make


def ask(
    engine: SerperEngine, query: str = "quill codec", seconds: float = 5.0, **more: Any
) -> list[SearchHit]:
    return engine.search(SearchRequest(query=query, deadline=time.monotonic() + seconds, **more))


def test_one_post_with_the_key_in_its_header(sim: SerperSimulator, make: Make) -> None:
    hits = ask(make(), limit=3)
    assert [h.url for h in hits] == [f"https://h{n}.example/quill" for n in (1, 2, 3)]
    assert (hits[0].title, hits[0].published) == ("Quill codec 1", "2026-01-10")
    [received] = sim.requests
    assert (received.method, received.target) == ("POST", "/search")
    assert received.headers["x-api-key"] == KEY
    assert json.loads(received.body) == {"q": "quill codec"}


def test_filters_arrive_in_googles_form(sim: SerperSimulator, make: Make) -> None:
    ask(make(), freshness=Freshness.RECENT, exclude_domains=("h3.example",), language="en-GB", country="UK")
    [query] = sim.queries
    assert (query.freshness, query.country, query.params["hl"]) == ("month", "gb", "en-gb")
    assert query.exclude == ("h3.example",)
    assert [h.url for h in ask(make(), include_domains=("h2.example",))] == ["https://h2.example/quill"]


def test_what_stands_beside_the_results(sim: SerperSimulator, make: Make) -> None:
    box = {"title": "Quill", "answer": "A group", "link": "https://box.example/", "snippet": "It is a group."}
    sim.beside = {"answerBox": box, "ads": [{"title": "Buy", "link": "https://shop.example/"}]}
    hits = ask(make(), limit=2)
    assert [h.url for h in hits] == ["https://box.example/", "https://h1.example/quill"]
    assert hits[0].extra == {"place": "answer_box", "answer": "A group"}


def test_relative_dates_count_from_the_contexts_clock(sim: SerperSimulator, make: Make) -> None:
    engine = make()
    now = FakeClock(epoch=1_796_032_800.0)  # 2026-11-30T10:00:00Z
    engine._context = engine._context.having(clock=now)
    sim.script(json_reply({"organic": [{"link": "https://a.example/", "date": "11 hours ago"}]}))
    assert ask(engine)[0].published == "2026-11-29"


@pytest.mark.parametrize("fault", ["empty", "silent_block"])
def test_nothing_found_is_empty(sim: SerperSimulator, make: Make, fault: str) -> None:
    sim.fault = fault
    assert ask(make()) == []


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        ("auth", AuthFailed, "SERPER_API_KEY"),
        ("quota", QuotaExceeded, "Not enough credits"),
        ("rate_limited", RateLimited, "Too many requests"),
        ("bad_query", BadQuery, "Missing query parameter"),
        ("server_error", Unavailable, "Internal server error"),
        ("error_in_200", QuotaExceeded, "Not enough credits"),
        ("html_instead_of_json", BadResponse, "no JSON"),
        ("truncated_json", BadResponse, "no JSON"),
    ],
)
def test_faults(sim: SerperSimulator, make: Make, fault: str, kind: type[Exception], says: str) -> None:
    sim.fault = fault
    with pytest.raises(kind, match=says):
        ask(make())
    assert len(sim.requests) == 1


def test_a_connection_that_breaks_off_is_an_error(sim: SerperSimulator, make: Make) -> None:
    sim.fault = "cut_off"
    with pytest.raises((Unavailable, BadResponse)):
        ask(make())


@pytest.mark.parametrize("fault", ["hang", "slow_drip"])
def test_the_deadline_holds(sim: SerperSimulator, make: Make, fault: str) -> None:
    sim.fault = fault
    began = time.monotonic()
    with pytest.raises(TimedOut):
        ask(make(), seconds=0.3)
    assert time.monotonic() - began < 20  # the simulator hangs far longer


def test_results_that_lack_fields(sim: SerperSimulator, make: Make) -> None:
    sim.fault = "missing_fields"
    hits = ask(make())
    assert [h.url for h in hits][:2] == ["https://h1.example/quill", "https://h3.example/quill"]
    assert (hits[0].title, hits[0].snippet, hits[1].title) == ("", "", "")


def test_a_gateways_refusals(sim: SerperSimulator, make: Make) -> None:
    sim.script(text_reply("<p>slow down</p>", 429, "text/html"), text_reply("gone", 404), text_reply("", 302))
    with pytest.raises(RateLimited):
        ask(make())
    for _ in range(2):
        with pytest.raises(BadResponse):
            ask(make())


@pytest.mark.parametrize("query", ["", " \t"])
def test_an_empty_query_is_refused_before_any_call(sim: SerperSimulator, make: Make, query: str) -> None:
    with pytest.raises(BadQuery):
        ask(make(), query)
    assert sim.requests == []


def test_without_a_key_that_a_header_takes_no_call_is_made(sim: SerperSimulator) -> None:
    with loopback_http(FakeContext("search_serper").clock, trusted=[(sim.host, sim.port)]) as http:
        for key, kind in ((" ", NotConfigured), ("abc\ndef", AuthFailed), ("clé-secrète", AuthFailed)):
            context = FakeContext("search_serper", environ={"SERPER_API_KEY": key})
            with pytest.raises(kind, match="SERPER_API_KEY") as caught:
                ask(SerperEngine(SerperSettings(base_url=sim.endpoint), context.having(http=http)))
            assert key.strip() == "" or key not in str(caught.value)
    assert sim.requests == []


@given(
    key=st.text(alphabet="ABCdef0123456789-_.+/=", min_size=16, max_size=40),
    status=st.sampled_from([200, 302, 400, 401, 402, 403, 404, 422, 429, 500, 503]),
    shape=st.sampled_from(["message", "error", "object", "text", "cut"]),
)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_key_never_shows(
    sim: SerperSimulator, caplog: pytest.LogCaptureFixture, key: str, status: int, shape: str
) -> None:
    said = f"the key {key} is {key}"
    body: dict[str, Any] = {
        "message": {"message": said, "statusCode": status},
        "error": {"error": said},
        "object": {"error": {"message": said, "code": key}},
    }
    text = f'{{"message": "{said}' if shape == "cut" else f"<p>{said}</p>"
    sim.script(json_reply(body[shape], status) if shape in body else text_reply(text, status))
    context = FakeContext("search_serper", environ={"SERPER_API_KEY": key})
    caplog.clear()
    with loopback_http(context.clock, trusted=[(sim.host, sim.port)], secrets=[key]) as http:
        engine = SerperEngine(SerperSettings(base_url=sim.endpoint), context.having(http=http))
        with caplog.at_level(logging.DEBUG), pytest.raises(WebfetchError) as caught:
            ask(engine)
    assert key not in f"{caught.value} {caught.value!r} {caught.value.fix} {engine!r} {caplog.text}"


def test_the_declaration() -> None:
    [provider] = plugin.webfetch_search_engines()
    assert (provider.name, provider.priority, provider.traits.usd_per_1k) == ("serper", 45, 1.0)
    assert provider.requires[0].missing({}) and not provider.requires[0].missing({"SERPER_API_KEY": "x"})


# ---- in a host ----


def test_credits_that_are_used_up_bench_the_engine_at_once(
    sim: SerperSimulator, wf: Callable[..., Webfetch]
) -> None:
    clock = FakeClock()
    tables = {"search_serper": {"base_url": sim.endpoint}}
    host = wf(plugin, plugins=tables, environ={"SERPER_API_KEY": KEY}, clock=clock)
    sim.fault = "quota"
    for advance, calls in ((0, 1), (3_000, 1), (700, 2)):
        clock.advance(advance)
        with pytest.raises(AllEnginesFailed, match="Not enough credits"):
            host.search("quill")
        assert len(sim.requests) == calls


def test_a_refusal_inside_a_200_that_broke_others(make: Make, sim: SerperSimulator) -> None:
    folder = CASES / "C011"
    if not folder.is_dir():
        pytest.skip("no shared cases beside the repository")
    expected = json.loads((folder / "expected.json").read_text())
    answer = json.loads((folder / "response.json").read_text())
    sim.script(json_reply(answer["json"], answer["status"]))
    with pytest.raises(QuotaExceeded) as caught:
        ask(make())
    assert caught.value.kind in expected["error_kind"]
    assert all(text in str(caught.value) for text in expected["must_contain"])
    assert not any(text in str(caught.value) for text in expected["must_not_contain"])
