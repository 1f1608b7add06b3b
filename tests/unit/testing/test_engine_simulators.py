"""What every simulated engine has: a corpus, a script, faults, a rate, a quota, pages, and a record."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.testing.clock import FakeClock
from webfetch_core.testing.engines import NAMES, simulator
from webfetch_core.testing.engines.base import (
    CorpusDocument,
    EngineSimulator,
    RateState,
    Received,
    Reply,
    SimulatedHit,
    SimulatedQuery,
    json_reply,
    query_fields,
    split_sites,
    whole,
)

STATUS = {"auth": 401, "quota": 402, "rate_limited": 429, "bad_query": 400, "server_error": 500}
NOW = FakeClock().time()  # 2024-01-01


class Acme(EngineSimulator):
    """An engine that does not exist."""

    name = "acme"
    routes = ("/search",)
    base_path = "/search"
    key_env = "ACME_API_KEY"
    faults = ("empty", "silent_block", *STATUS)

    def parse_request(self, received: Received) -> SimulatedQuery:
        sent = query_fields(received)
        words, include, exclude = split_sites(sent.get("q", ""))
        return SimulatedQuery(
            query=words,
            limit=whole(sent.get("n")),
            freshness=sent.get("t", ""),
            include=include,
            exclude=exclude,
            language=sent.get("lang", ""),
            key=received.headers.get("x-key", ""),
            params=sent,
        )

    def hits_reply(self, hits: Sequence[SimulatedHit], query: SimulatedQuery) -> Reply:
        return json_reply({"results": [{"url": h.url, "title": h.title} for h in hits]})

    def fault_reply(self, kind: str, query: SimulatedQuery) -> Reply:
        if kind in STATUS:
            return json_reply({"error": kind}, STATUS[kind])
        return self.hits_reply([], query)

    def rate_headers(self, state: RateState) -> Mapping[str, str]:
        if state.limit is None:
            return {}
        wait = {"Retry-After": f"{state.reset_s:g}"} if state.refused else {}
        return {"X-Remaining": str(state.remaining), **wait}


DOCUMENTS = [
    CorpusDocument(url=f"https://n{n}.example/a", title=f"Apple {n}", text=f"An apple, number {n}.")
    for n in range(40)
]


@pytest.fixture
def made() -> Iterator[Any]:
    """A maker of started simulators that are closed at the end."""
    started: list[EngineSimulator] = []

    def make(documents: Sequence[CorpusDocument] = DOCUMENTS, **options: Any) -> EngineSimulator:
        started.append(Acme(documents, **options))
        started[-1].start()
        return started[-1]

    yield make
    for one in started:
        one.close()


def ask(
    engine: EngineSimulator, q: str, key: str = "k", path: str | None = None, **fields: str
) -> tuple[int, dict[str, str], Any]:
    query = "&".join(f"{k}={quote(v)}" for k, v in {"q": q, **fields}.items())
    connection = http.client.HTTPConnection(engine.host, engine.port, timeout=5)
    try:
        connection.request("GET", path or f"{engine.base_path}?{query}", headers={"X-Key": key})
        reply = connection.getresponse()
        body = reply.read()
        kind = reply.getheader("Content-Type", "")
        return (
            reply.status,
            {k.lower(): v for k, v in reply.getheaders()},
            json.loads(body) if kind == "application/json" else body,
        )
    finally:
        connection.close()


def urls(data: Any) -> list[str]:
    return [row["url"] for row in data["results"]]


# ---- answers ----------------------------------------------------------------------------------------


def test_it_answers_from_its_corpus_and_records_what_was_asked(made: Any) -> None:
    engine = made()
    status, _, data = ask(engine, "number 7", n="3")
    assert status == 200 and urls(data)[0] == "https://n7.example/a" and len(urls(data)) == 3
    assert engine.queries[0].query == "number 7" and engine.queries[0].limit == 3
    assert engine.outcomes == ["ok"] and engine.requests[0].path == "/search"
    assert len(urls(ask(engine, "apple")[2])) == engine.default_limit
    assert len(urls(ask(engine, "apple", n="500")[2])) == engine.max_limit
    assert urls(ask(engine, "zebra")[2]) == []


def test_domains_dates_and_languages_are_filters(made: Any) -> None:
    page = CorpusDocument
    engine = made(
        [
            page(url="https://a.example/", text="tide", published="2023-12-31T20:00:00Z"),
            page(url="https://www.b.example/", text="tide", published="2023-12-20", language="de"),
            page(url="https://c.example/", text="tide", published="2022-01-01", language="en"),
            page(url="https://notb.example/", text="tide"),
        ],
        clock=FakeClock(),
    )
    found = lambda q="tide", **fields: [u[8:] for u in urls(ask(engine, q, **fields)[2])]  # noqa: E731
    assert len(found()) == 4
    assert found("tide site:b.example") == ["www.b.example/"]
    assert found("(tide) (site:a.example OR site:c.example)") == ["a.example/", "c.example/"]
    assert found("tide -site:b.example -site:a.example") == ["c.example/", "notb.example/"]
    assert found(t="day") == ["a.example/"]
    assert found(t="month") == ["a.example/", "www.b.example/"]
    assert found(lang="de-AT") == ["a.example/", "notb.example/", "www.b.example/"]


def test_coverage_is_a_share_of_the_corpus_that_the_seed_chooses(made: Any) -> None:
    chosen = [{d.url for d in made(coverage=0.5, seed=s).indexed.documents} for s in (1, 1, 2)]
    assert chosen[0] == chosen[1] != chosen[2]
    assert 10 <= len(chosen[0]) <= 30
    assert made(coverage=0.0).indexed.documents == () and len(made(coverage=1.0).indexed.documents) == 40


def test_noise_gives_each_seed_its_own_order(made: Any) -> None:
    order = [urls(ask(made(noise=0.5, seed=s), "apple")[2]) for s in (1, 1, 2)]
    assert order[0] == order[1] != order[2]


# ---- scripts and faults -----------------------------------------------------------------------------


def test_a_script_is_played_once_and_then_the_corpus_answers(made: Any) -> None:
    engine = made().script(
        "rate_limited", "ok", ["https://x.example/"], [SimulatedHit(url="https://y.example/", title="Y")]
    )
    engine.script(json_reply({"odd": 1}, 418))
    got = [ask(engine, "apple") for _ in range(6)]
    assert [status for status, _, _ in got] == [429, 200, 200, 200, 418, 200]
    assert urls(got[2][2]) == ["https://x.example/"] and got[3][2]["results"][0]["title"] == "Y"
    assert engine.outcomes == ["rate_limited", "ok", "ok", "ok", "reply", "ok"]


def test_a_standing_fault_lasts_until_it_is_taken_away(made: Any) -> None:
    engine = made(fault="silent_block")
    assert urls(ask(engine, "apple")[2]) == [] and engine.outcomes == ["silent_block"]
    engine.fault = None
    assert urls(ask(engine, "apple")[2])


@pytest.mark.parametrize(("fault", "status"), STATUS.items())
def test_engine_faults_have_their_status(made: Any, fault: str, status: int) -> None:
    assert ask(made(fault=fault), "apple")[0] == status


def test_a_gateway_page_comes_in_place_of_json(made: Any) -> None:
    status, headers, body = ask(made(fault="html_instead_of_json"), "apple")
    assert status == 200 and headers["content-type"] == "text/html" and b"Bad Gateway" in body


def test_truncated_json_is_whole_http_and_half_json(made: Any) -> None:
    engine = made(fault="truncated_json")
    with pytest.raises(json.JSONDecodeError):
        ask(engine, "apple")
    engine.fault = "cut_off"
    with pytest.raises(http.client.IncompleteRead):
        ask(engine, "apple")


def test_a_hang_ends_with_the_server(made: Any) -> None:
    engine = made(fault="hang")
    ended = threading.Event()

    def client() -> None:
        with pytest.raises((http.client.HTTPException, OSError)):
            ask(engine, "apple")
        ended.set()

    threading.Thread(target=client, daemon=True).start()
    assert not ended.wait(0.1)
    engine.close()
    assert ended.wait(60)


def test_a_drip_and_a_delay_take_their_time(made: Any) -> None:
    clock = FakeClock()
    engine = made(fault="slow_drip", clock=clock)
    reply = engine._answer(Received(method="GET", path="/search", query="q=apple", headers={"x-key": "k"}))
    assert reply.drip == (8, 0.1)
    late = made(delay_s=0.25)
    reply = late._answer(Received(method="GET", path="/search", query="q=apple", headers={"x-key": "k"}))
    assert reply.delay_s == 0.25 and reply.status == 200


def test_missing_fields_leave_the_rest_of_the_results_whole(made: Any) -> None:
    rows = ask(made(fault="missing_fields"), "number 7")[2]["results"]
    assert rows[0] == {"url": "https://n7.example/a"}
    assert "url" not in rows[1] and rows[1]["title"]
    assert rows[2]["url"] and rows[2]["title"] is None
    assert rows[3] is None and all(row["url"] and row["title"] for row in rows[4:])
    assert len(ask(made([], fault="missing_fields"), "zebra")[2]["results"]) == 5


def test_failures_come_at_their_rate_and_the_same_for_the_same_seed(made: Any) -> None:
    runs = []
    for seed in (5, 5, 6):
        engine = made(failure_rate=0.3, failures=("server_error", "auth"), seed=seed)
        for _ in range(60):
            ask(engine, "apple")
        runs.append(engine.outcomes)
    assert runs[0] == runs[1] != runs[2]
    assert 8 <= sum(o != "ok" for o in runs[0]) <= 30 and set(runs[0]) == {"ok", "server_error", "auth"}


# ---- keys and limits --------------------------------------------------------------------------------


def test_a_key_is_wanted_and_when_one_is_named_that_one(made: Any) -> None:
    any_key, one_key = made(), made(key="right")
    assert [ask(any_key, "apple", key=k)[0] for k in ("", "x")] == [401, 200]
    assert [ask(one_key, "apple", key=k)[0] for k in ("", "x", "right")] == [401, 401, 200]


def test_the_rate_slides_and_refused_requests_do_not_count(made: Any) -> None:
    clock = FakeClock()
    engine = made(rate=2, clock=clock)
    assert [ask(engine, "apple")[1]["x-remaining"] for _ in range(2)] == ["1", "0"]
    clock.advance(0.75)
    status, headers, _ = ask(engine, "apple")
    assert (status, headers["retry-after"], headers["x-remaining"]) == (429, "0.25", "0")
    clock.advance(0.25)
    assert ask(engine, "apple")[0] == 200


def test_a_rate_below_one_is_one_request_in_so_many_seconds(made: Any) -> None:
    clock = FakeClock()
    engine = made(rate=0.5, clock=clock)
    statuses = []
    for _ in range(4):
        statuses.append(ask(engine, "apple")[0])
        clock.advance(1)
    assert statuses == [200, 429, 200, 429]


def test_a_quota_is_used_up(made: Any) -> None:
    engine = made(quota=2)
    assert [ask(engine, "apple")[0] for _ in range(4)] == [200, 200, 402, 402]


def test_a_scripted_limit_shows_in_the_headers_though_none_is_set(made: Any) -> None:
    headers = ask(made(fault="rate_limited"), "apple")[1]
    assert headers["x-remaining"] == "0" and headers["retry-after"] == "1"


def test_an_empty_query_is_refused(made: Any) -> None:
    engine = made()
    assert ask(engine, "  ")[0] == 400 and engine.outcomes == ["bad_query"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fault": "no_such"}, "no fault 'no_such'"),
        ({"failures": ("no_such",)}, "no fault 'no_such'"),
        ({"coverage": 1.5}, "coverage is between 0 and 1"),
        ({"failure_rate": -0.1}, "failure rate is between 0 and 1"),
        ({"rate": 0}, "rate is above 0"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Acme(DOCUMENTS, **options)


def test_limits_and_keys_that_an_engine_has_not_are_refused() -> None:
    from webfetch_core.testing.engines.ddg import DdgSimulator

    for options, said in (({"quota": 3}, "ddg has no quota"), ({"key": "x"}, "ddg takes no key")):
        with pytest.raises(ValueError, match=said):
            DdgSimulator(**options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"there are: .*silent_block"):
        Acme().script("ok", "truncated")


def test_a_fault_of_the_simulator_itself_is_shown(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Acme, "hits_reply", lambda *_: 1 / 0)
    engine = made()
    status, _, body = ask(engine, "apple")
    assert status == 500 and b"ZeroDivisionError" in body and engine.outcomes == ["crashed"]


# ---- pages ------------------------------------------------------------------------------------------


def test_hits_lead_to_its_own_pages_when_told(made: Any) -> None:
    document = CorpusDocument(url="https://n.example/a b?x=1", title="A & B", text="An apple.\nIts <core>.")
    engine = made([document], local_pages=True)
    (url,) = urls(ask(engine, "apple")[2])
    assert url.startswith(engine.base_url + "/pages/n.example/a%20b") and engine.serves_pages
    status, headers, body = ask(engine, "", path=url.removeprefix(engine.base_url))
    assert status == 200 and headers["content-type"].startswith("text/html")
    assert b"<h1>A &amp; B</h1>" in body and b"<p>Its &lt;core&gt;.</p>" in body
    assert len(engine.queries) == 1 and len(engine.requests) == 2


def test_two_engines_share_the_pages_of_one(made: Any) -> None:
    first = made(local_pages=True)
    second = made(pages_url=first.base_url, coverage=0.9, seed=1)
    found = [set(urls(ask(e, "apple", n="20")[2])) for e in (first, second)]
    assert found[0] & found[1] and all(u.startswith(first.base_url) for u in found[1])


def test_other_paths_can_be_scripted_and_else_are_not_found(made: Any) -> None:
    engine = made()
    engine.add("/robots.txt", "User-agent: *", headers={"Content-Type": "text/plain"})
    assert ask(engine, "", path="/robots.txt")[2] == b"User-agent: *"
    assert ask(engine, "", path="/elsewhere")[0] == 404
    engine.queue("/search", Reply(status=503))
    assert [ask(engine, "apple")[0] for _ in range(2)] == [503, 200]


# ---- the registry and the operators -----------------------------------------------------------------


def test_every_module_of_an_engine_is_found_by_its_name() -> None:
    assert "ddg" in NAMES and not {"base", "corpus", "script"} & set(NAMES)
    for name in NAMES:
        found = simulator(name)
        assert found.name == name and any(r.startswith(found.base_path) for r in found.routes), name
        assert len(set(found.all_faults())) == len(found.all_faults())


def test_a_module_of_ones_own_is_found_by_its_path() -> None:
    assert simulator("webfetch_core.testing.engines.ddg").name == "ddg"
    with pytest.raises(ValueError, match=r"no simulator 'altavista'; there are: .*ddg"):
        simulator("altavista")
    with pytest.raises(ValueError, match=r"no module 'no_such\.simulator'"):
        simulator("no_such.simulator")
    with pytest.raises(ValueError, match="has no subclass of EngineSimulator"):
        simulator("webfetch_core.testing.clock")


@pytest.mark.parametrize(
    ("query", "words", "include", "exclude"),
    [
        ("tide gauge", "tide gauge", (), ()),
        ("what is (a AND b)", "what is (a AND b)", (), ()),
        ("tide site:a.example", "tide", ("a.example",), ()),
        ("(tide gauge) AND (site:a.example OR site:b.example)", "tide gauge", ("a.example", "b.example"), ()),
        ("tide NOT site:c.example", "tide", (), ("c.example",)),
        ("tide (site:A.example) -site:c.example", "tide", ("a.example",), ("c.example",)),
        ("the website:history", "the website:history", (), ()),
    ],
)
def test_operators_are_taken_out_of_the_words(
    query: str, words: str, include: tuple[str, ...], exclude: tuple[str, ...]
) -> None:
    assert split_sites(query) == (words, include, exclude)


@given(st.text(max_size=60))
def test_any_text_can_be_a_query(text: str) -> None:
    words, include, exclude = split_sites(text)
    assert words == text or include or exclude
    assert isinstance(Acme(DOCUMENTS[:3]).search(SimulatedQuery(query=words)), list)
