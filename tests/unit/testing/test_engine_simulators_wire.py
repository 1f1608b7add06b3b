"""Every fault of every simulated engine over a real socket: the status, headers and body that its API has."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
from attrs import field, frozen

from webfetch_core.testing.engines import NAMES, simulator
from webfetch_core.testing.engines.base import CorpusDocument, EngineSimulator

DOCUMENTS = [
    CorpusDocument(
        url=f"https://n{n}.example/a?b=1&c=2",
        title=f"Tide & <gauge> {n}",
        text=f"The tide gauge number {n} drifts. It is read weekly.",
        published=f"2026-11-{n + 10}T08:00:00Z",
    )
    for n in range(6)
]


@frozen(kw_only=True)
class Wire:
    """How an engine is asked for ``tide``, and where its results are."""

    path: str
    sends: Mapping[str, Any]
    how: str = "json"
    key: tuple[str, str] | None = None
    results: Callable[[Any], Any] = field()


WIRES = {
    "brave": Wire(
        path="/res/v1/web/search", sends={"q": "tide"}, how="get", key=("X-Subscription-Token", "{}"),
        results=lambda data: [(r["url"], r["title"], r["description"]) for r in data["web"]["results"]],
    ),
    "ddg": Wire(
        path="/html/", sends={"q": "tide", "b": "", "kl": "wt-wt"}, how="form", results=lambda _: None,
    ),
    "exa": Wire(
        path="/search", sends={"query": "tide", "contents": {"highlights": True}}, key=("x-api-key", "{}"),
        results=lambda data: [(r["url"], r["title"], r["highlights"][0]) for r in data["results"]],
    ),
    "perplexity": Wire(
        path="/search", sends={"query": "tide"}, key=("Authorization", "Bearer {}"),
        results=lambda data: [(r["url"], r["title"], r["snippet"]) for r in data["results"]],
    ),
    "searxng": Wire(
        path="/search", sends={"q": "tide", "format": "json"}, how="get",
        results=lambda data: [(r["url"], r["title"], r["content"]) for r in data["results"]],
    ),
    "serper": Wire(
        path="/search", sends={"q": "tide"}, key=("X-API-KEY", "{}"),
        results=lambda data: [(r["link"], r["title"], r["snippet"]) for r in data["organic"]],
    ),
    "tavily": Wire(
        path="/search", sends={"query": "tide"}, key=("Authorization", "Bearer {}"),
        results=lambda data: [(r["url"], r["title"], r["content"]) for r in data["results"]],
    ),
}  # fmt: skip

Check = Callable[[Any, Mapping[str, str]], Any]


def _brave(code: str) -> Check:
    return lambda data, _: data["type"] == "ErrorResponse" and data["error"]["code"] == code


def _says(*path: Any, value: Any) -> Check:
    def check(data: Any, _: Mapping[str, str]) -> bool:
        for step in path:
            data = data[step]
        return bool(data == value if not isinstance(value, type) else isinstance(data, value))

    return check


def _empty(name: str) -> Check:
    return _says(name, value=[])


# Engine and fault: the status, and what must hold of body and headers.
EXPECTED: Mapping[str, Mapping[str, tuple[int, Check]]] = {
    "brave": {
        "empty": (200, lambda data, _: data["type"] == "search" and "web" not in data),
        "silent_block": (200, lambda data, _: "web" not in data),
        "auth": (422, _brave("SUBSCRIPTION_TOKEN_INVALID")),
        "quota": (429, lambda _, h: h["x-ratelimit-remaining"].split(", ")[1] == "0"),
        "rate_limited": (
            429,
            lambda data, h: data["error"]["code"] == "RATE_LIMITED"
            and h["x-ratelimit-remaining"].split(", ")[0] == "0"
            and int(h["x-ratelimit-reset"].split(", ")[0]) == 1,
        ),
        "bad_query": (422, lambda data, _: data["error"]["meta"]["errors"][0]["loc"] == ["query", "q"]),
        "server_error": (500, lambda data, _: data["type"] == "ErrorResponse"),
        "payment_required": (402, lambda data, _: data["type"] == "ErrorResponse"),
        "option_not_in_plan": (400, _brave("OPTION_NOT_IN_PLAN")),
        "error_in_200": (200, lambda data, _: data["type"] == "ErrorResponse"),
    },
    "ddg": {
        "empty": (200, lambda page, _: 'class="no-results"' in page and "result__a" not in page),
        "silent_block": (202, lambda page, _: 'id="challenge-form"' in page and "anomaly-modal" in page),
        "challenge_200": (200, lambda page, _: "anomaly.js" in page and "result__a" not in page),
        "empty_202": (202, lambda page, _: page == ""),
        "forbidden": (403, lambda page, _: "result__a" not in page),
        "rate_limited": (429, lambda page, _: "result__a" not in page),
        "server_error": (500, lambda page, _: "result__a" not in page),
        "layout_drift": (200, lambda page, _: "n1.example" in page and "result__a" not in page),
    },
    "exa": {
        "empty": (200, _empty("results")),
        "silent_block": (200, _empty("results")),
        "auth": (401, _says("tag", value="INVALID_API_KEY")),
        "quota": (402, _says("tag", value="NO_MORE_CREDITS")),
        "budget": (402, _says("tag", value="API_KEY_BUDGET_EXCEEDED")),
        "forbidden": (403, _says("error", value=str)),
        "rate_limited": (429, lambda data, h: list(data) == ["error"] and "retry-after" not in h),
        "bad_query": (400, _says("tag", value="INVALID_REQUEST_BODY")),
        "server_error": (500, _says("error", value=str)),
    },
    "perplexity": {
        "empty": (200, _empty("results")),
        "silent_block": (200, _empty("results")),
        "auth": (401, _says("error", "type", value="invalid_api_key")),
        "quota": (401, _says("error", "message", value=str)),
        "no_credit": (401, _says("error", "message", value=str)),
        "rate_limited": (
            429,
            lambda data, h: data["error"]["type"] == "rate_limit_exceeded"
            and int(h["retry-after-ms"]) <= 1000 * int(h["retry-after"]),
        ),
        "bad_query": (400, _says("error", "code", value=400)),
        "validation": (422, _says("detail", value=list)),
        "server_error": (500, _says("error", "code", value=500)),
    },
    "searxng": {
        "empty": (200, lambda data, _: data["results"] == [] == data["unresponsive_engines"]),
        "silent_block": (200, _empty("results")),
        "engines_blocked": (200, lambda data, _: not data["results"] and data["unresponsive_engines"][0][1]),
        "engines_down": (200, lambda data, _: not data["results"] and data["unresponsive_engines"][0][1]),
        "json_disabled": (403, lambda page, h: "<h1>Forbidden</h1>" in page and "html" in h["content-type"]),
        "auth": (401, _says("error", value=str)),
        "rate_limited": (429, lambda text, h: text == "Too Many Requests" and "retry-after" not in h),
        "bad_query": (400, _says("error", value="No query")),
        "server_error": (500, _says("error", value="search error")),
    },
    "serper": {
        "empty": (200, _empty("organic")),
        "silent_block": (200, _empty("organic")),
        "auth": (403, lambda data, _: data == {"message": "Unauthorized.", "statusCode": 403}),
        "quota": (400, lambda data, _: data == {"message": "Not enough credits", "statusCode": 400}),
        "rate_limited": (429, lambda data, h: data["statusCode"] == 429 and "retry-after" not in h),
        "bad_query": (400, _says("statusCode", value=400)),
        "server_error": (500, _says("statusCode", value=500)),
        "error_in_200": (200, _says("message", value="Not enough credits")),
    },
    "tavily": {
        "empty": (200, _empty("results")),
        "silent_block": (200, _empty("results")),
        "auth": (401, _says("detail", "error", value="Unauthorized: missing or invalid API key.")),
        "quota": (432, _says("detail", "error", value=str)),
        "pay_as_you_go_limit": (433, _says("detail", "error", value=str)),
        "rate_limited": (429, lambda data, h: data["detail"]["error"] and int(h["retry-after"]) > 0),
        "keyless_limit": (429, _says("error", "retry_after_seconds", value=3600)),
        "bad_query": (400, _says("detail", "error", value=str)),
        "invalid_fields": (422, _says("detail", value=list)),
        "server_error": (500, _says("detail", "error", value=str)),
        "error_in_200": (200, _says("detail", "error", value=str)),
    },
}  # fmt: skip
FAULTS = [(name, fault) for name, faults in EXPECTED.items() for fault in faults]


def ask(engine: EngineSimulator, key: str = "a-key", **also: Any) -> tuple[int, dict[str, str], Any]:
    wire = WIRES[engine.name]
    headers = {wire.key[0]: wire.key[1].format(key)} if wire.key and key else {}
    sends, path, body = {**wire.sends, **also}, wire.path, None
    if wire.how == "get":
        path += f"?{urlencode(sends)}"
    elif wire.how == "form":
        body, headers["Content-Type"] = urlencode(sends), "application/x-www-form-urlencoded"
    else:
        body, headers["Content-Type"] = json.dumps(sends), "application/json"
    connection = http.client.HTTPConnection(engine.host, engine.port, timeout=5)
    try:
        connection.request("GET" if body is None else "POST", path, body, headers)
        reply = connection.getresponse()
        text = reply.read().decode()
        given = {k.lower(): v for k, v in reply.getheaders()}
    finally:
        connection.close()
    return reply.status, given, json.loads(text) if "json" in given["content-type"] else text


def test_every_engine_and_fault_is_in_the_table() -> None:
    assert set(NAMES) == set(WIRES) == set(EXPECTED)
    for name in NAMES:
        assert set(EXPECTED[name]) == set(simulator(name).faults), name


@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_a_fault_is_worded_as_the_engine_words_it(name: str, fault: str) -> None:
    status, holds = EXPECTED[name][fault]
    with simulator(name)(DOCUMENTS, fault=fault) as engine:
        got, headers, body = ask(engine)
        assert got == status, body
        assert holds(body, headers), (body, headers)
        assert engine.outcomes == [fault]


@pytest.mark.parametrize("name", sorted(WIRES))
def test_results_carry_address_title_and_text(name: str) -> None:
    with simulator(name)(DOCUMENTS) as engine:
        status, headers, body = ask(engine)
        assert status == 200 and engine.outcomes == ["ok"] and engine.queries[0].query == "tide"
        if name == "ddg":
            assert "uddg=https%3A%2F%2Fn1.example%2Fa%3Fb%3D1%26c%3D2&amp;" in body
            assert "Tide &amp; &lt;gauge&gt; 1" in body.replace("<b>", "").replace("</b>", "")
            assert headers["content-type"].startswith("text/html")
            return
        rows = WIRES[name].results(body)
        assert {url for url, _, _ in rows} <= {d.url for d in DOCUMENTS} and len(rows) >= 5
        assert all("gauge" in title and "drifts" in text for _, title, text in rows)


@pytest.mark.parametrize("name", sorted(n for n in WIRES if WIRES[n].key))
def test_a_key_is_read_from_its_own_header(name: str) -> None:
    with simulator(name)(DOCUMENTS, key="right") as engine:
        assert [ask(engine, key=k)[0] for k in ("right", "wrong", "")] == [
            200,
            EXPECTED[name]["auth"][0],
            EXPECTED[name]["auth"][0],
        ]
        assert [q.key for q in engine.queries] == ["right", "wrong", ""]


def test_brave_words_a_missing_key_as_a_missing_header() -> None:
    with simulator("brave")(DOCUMENTS) as engine:
        status, _, data = ask(engine, key="")
    assert status == 422 and data["error"]["code"] == "VALIDATION"
    assert data["error"]["meta"]["errors"][0]["loc"] == ["header", "x-subscription-token"]


@pytest.mark.parametrize("name", sorted(WIRES))
def test_one_request_too_many_is_refused_in_the_engines_own_way(name: str) -> None:
    with simulator(name)(DOCUMENTS, rate=0.01) as engine:
        assert ask(engine)[0] == 200
        status, headers, body = ask(engine)
        assert status == EXPECTED[name]["rate_limited"][0] == 429 and body
        if name == "brave":
            assert 98 <= int(headers["x-ratelimit-reset"].split(", ")[0]) <= 100
        elif name == "tavily":
            assert 98 <= int(headers["retry-after"]) <= 100
        elif name == "perplexity":
            assert 98 <= int(headers["retry-after"]) <= 100 and int(headers["retry-after-ms"]) >= 98_000


@pytest.mark.parametrize("name", sorted(WIRES))
def test_results_that_lack_fields_still_come(name: str) -> None:
    with simulator(name)(DOCUMENTS, fault="missing_fields") as engine:
        status, _, body = ask(engine)
        assert status == 200 and body


@pytest.mark.parametrize("name", sorted(n for n in WIRES if n != "ddg"))
def test_nothing_found_and_wire_faults_hold_for_every_json_engine(name: str) -> None:
    with simulator(name)() as engine:
        nothing = ask(engine)[2]
        engine.fault = "empty"
        assert ask(engine)[2].keys() == nothing.keys()
        engine.fault = "truncated_json"
        with pytest.raises(json.JSONDecodeError):
            ask(engine)
        engine.fault = "html_instead_of_json"
        assert "502 Bad Gateway" in ask(engine)[2]


GARBAGE = [
    b"",
    b"\xff\xfe\x00",
    b"[]",
    b"null",
    b"{",
    b'{"query": 1, "q": {}, "num": [], "max_results": "x", "numResults": null, "contents": 7}',
    b'{"query": ["a", 2], "q": "tide", "page": -3, "num": -1, "tbs": 5, "hl": 7, "include_domains": "a.b"}',
    b'{"query": "tide", "time_range": [], "country": 3, "search_domain_filter": [1], "api_key": 5}',
    b'{"query": "tide", "startPublishedDate": 5, "topic": {}, "search_recency_filter": 1, "type": {}}',
    b'{"query": "tide", "search_depth": [], "max_results": Infinity, "page": 1e99}',
    b"q=%ff%00&s=-5&df=x..y&kl=----&pageno=0&format=json",
    b"q=" + b"site: -site: ( OR )".replace(b" ", b"+") * 40,
]


@pytest.mark.parametrize("body", GARBAGE)
@pytest.mark.parametrize("name", sorted(WIRES))
def test_a_misshapen_request_gets_an_answer(name: str, body: bytes) -> None:
    wire = WIRES[name]
    headers = {wire.key[0]: wire.key[1].format("k")} if wire.key else {}
    with simulator(name)(DOCUMENTS) as engine:
        for path in (wire.path, f"{wire.path}?{body.decode('latin-1').translate(_NO_BLANKS)}"):
            connection = http.client.HTTPConnection(engine.host, engine.port, timeout=5)
            try:
                connection.request("POST", path, body, headers)
                assert 200 <= connection.getresponse().status < 500, (name, path)
            finally:
                connection.close()
        assert len(engine.outcomes) == 2 and "crashed" not in engine.outcomes


_NO_BLANKS = {n: f"%{n:02X}" for n in (*range(0x21), *range(0x7F, 0x100))}
