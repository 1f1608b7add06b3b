"""The engine over real sockets, against a simulated Exa."""

from __future__ import annotations

import io
import itertools
import json
import logging
import string
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from webfetch_search_exa.plugin import webfetch_search_engines
from webfetch_search_exa.settings import ExaSettings

from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    BadResponse,
    Freshness,
    NotConfigured,
    ProviderError,
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
from webfetch_core.testing.engines.exa import ExaSimulator
from webfetch_core.testing.engines.script import OK
from webfetch_core.testing.site import Reply

CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "inputs"
KEY = "9d1c2f4e-loom-4b7a-weft-0a1b2c3d4e5f"
PAGES = [
    CorpusDocument(
        url=f"https://loom{n}.example/warp", title=f"Warp {n}", text=f"Warp tension {n} grams", published=day
    )
    for n, day in enumerate(("2023-12-31", "2023-12-20", "2020-01-01", ""))
]


@pytest.fixture
def exa() -> Iterator[ExaSimulator]:
    with ExaSimulator(PAGES, key=KEY) as simulated:
        yield simulated


@contextmanager
def opened(exa: ExaSimulator, *, key: str = KEY, clock: Any = None, **options: Any) -> Iterator[Any]:
    [provider] = webfetch_search_engines()
    chosen = ExaSettings(base_url=exa.endpoint, **options)
    context = FakeContext("search_exa", settings=chosen, clock=clock, environ={"EXA_API_KEY": key})
    with loopback_http(context.clock, trusted=[(exa.host, exa.port)], secrets=[key]) as http:
        yield provider.build(chosen, context.having(http=http))


def ask(exa: ExaSimulator, query: str = "warp tension", **more: Any) -> list[SearchHit]:
    own = {name: more.pop(name) for name in ("key", "clock", "contents", "search_type") if name in more}
    with opened(exa, **own) as engine:
        found: list[SearchHit] = engine.search(SearchRequest(query=query, **more))
        return found


def test_one_post_with_the_key_in_its_header(exa: ExaSimulator) -> None:
    hits = ask(exa, limit=2, contents="text")
    assert len(hits) == 2 and all(h.snippet.startswith("Warp tension") for h in hits)
    [received] = exa.requests
    assert (received.method, received.path, received.query) == ("POST", "/search", "")
    assert received.headers["x-api-key"] == KEY and KEY.encode() not in received.body
    assert exa.queries[0].limit == 2


def test_the_clock_of_the_host_dates_the_filter(exa: ExaSimulator) -> None:
    clock = FakeClock()  # at the beginning of 2024
    assert [h.url for h in ask(exa, clock=clock, freshness=Freshness.REALTIME)] == [
        "https://loom0.example/warp"
    ]
    assert len(ask(exa, clock=clock, freshness=Freshness.RECENT)) == 2
    assert len(ask(exa, clock=clock, freshness=Freshness.STABLE)) == 4
    assert exa.outcomes == [OK] * 3


def test_domains_and_country_arrive(exa: ExaSimulator) -> None:
    assert [h.url for h in ask(exa, include_domains=("loom2.example",))] == ["https://loom2.example/warp"]
    assert len(ask(exa, exclude_domains=("loom2.example",), country="de")) == 3
    assert exa.queries[1].country == "DE"
    both = ask(exa, include_domains=("loom1.example",), exclude_domains=("loom2.example",))
    assert [h.url for h in both] == ["https://loom1.example/warp"]


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        ("auth", AuthFailed, "set EXA_API_KEY"),
        ("forbidden", AuthFailed, "Your plan does not include this feature"),
        ("quota", QuotaExceeded, "used up the credits"),
        ("budget", QuotaExceeded, "reached its budget"),
        ("rate_limited", RateLimited, "requests per second"),
        ("bad_query", BadQuery, "query: must be a text"),
        ("server_error", Unavailable, "Something went wrong"),
        ("html_instead_of_json", BadResponse, "502 Bad Gateway"),
        ("truncated_json", BadResponse, "no JSON"),
        ("cut_off", ProviderError, ""),
    ],
)
def test_every_fault_is_told_apart(exa: ExaSimulator, fault: str, kind: type[Exception], says: str) -> None:
    exa.fault = fault
    with pytest.raises(kind) as caught:
        ask(exa)
    assert says in str(caught.value)
    # A bad query is no fault of its engine, so no ProviderError: it never counts against the breaker.
    assert isinstance(caught.value, ProviderError) is not (kind is BadQuery)


@pytest.mark.parametrize("fault", ["hang", "slow_drip"])
def test_the_deadline_holds(exa: ExaSimulator, fault: str) -> None:
    exa.fault = fault
    began = monotonic()
    with pytest.raises(TimedOut):
        ask(exa, deadline=began + 0.2)
    assert monotonic() - began < 20  # the simulator hangs far longer


@pytest.mark.parametrize("fault", ["empty", "silent_block"])
def test_nothing_found(exa: ExaSimulator, fault: str) -> None:
    exa.fault = fault
    assert ask(exa) == []


def test_results_that_lack_fields_do_not_stop_the_others(exa: ExaSimulator) -> None:
    exa.fault = "missing_fields"
    urls = [h.url for h in ask(exa)]
    assert len(urls) >= 4 and all(urls)


def test_what_exa_refuses_is_told_in_its_words_and_noted_without_the_key(
    exa: ExaSimulator, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with pytest.raises(BadQuery, match="type: must be one of auto"):
        ask(exa, search_type="keyword")
    assert "request.refused" in caplog.text and "keyword" in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ({"error": "Invalid API key", "tag": "INVALID_API_KEY"}, AuthFailed),
        ({"error": "no more", "tag": "NO_MORE_CREDITS"}, QuotaExceeded),
        ({"error": "odd", "tag": "INVALID_URLS"}, BadQuery),
        ({"error": "odd"}, BadResponse),
        ({"error": True}, BadResponse),
        ({"results": "many"}, BadResponse),
        ({"results": {"0": {}}}, BadResponse),
        ({"results": [{"title": "no address"}]}, BadResponse),
        ({"data": []}, BadResponse),
    ],
)
def test_an_error_in_a_200_is_an_error(exa: ExaSimulator, reply: Any, kind: type[Exception]) -> None:
    body = json.dumps(reply).encode()
    exa.script(Reply(body=body, headers={"Content-Type": "application/json"}))
    with pytest.raises(kind) as caught:
        ask(exa)
    assert str(caught.value).strip()


@pytest.mark.parametrize("body", [b'{"results": []}', b'{"results": null}'])
def test_an_empty_list_is_no_error(exa: ExaSimulator, body: bytes) -> None:
    exa.script(Reply(body=body, headers={"Content-Type": "application/json"}))
    assert ask(exa) == []


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (422, b'{"error": "url could not be processed"}', BadQuery),
        (403, b'{"error": {"message": "nested"}}', AuthFailed),
        (404, b'{"error": "no such path"}', BadResponse),
        (400, b"<html>proxy</html>", BadResponse),
        (302, b"", BadResponse),
        (503, b"<html>down</html>", Unavailable),
    ],
)
def test_other_statuses(exa: ExaSimulator, status: int, body: bytes, kind: type[Exception]) -> None:
    exa.script(Reply(status=status, body=body))
    with pytest.raises(kind):
        ask(exa)


def test_the_wait_that_is_named_is_passed_on(exa: ExaSimulator) -> None:
    exa.script(Reply(status=429, body=b'{"error": "slow down"}', headers={"Retry-After": "17"}))
    with pytest.raises(RateLimited) as caught:
        ask(exa)
    assert caught.value.retry_after_s == 17.0


def test_a_pace_that_cannot_be_kept_is_nobodys_fault(exa: ExaSimulator) -> None:
    with opened(exa) as engine:
        engine._context.http.pace(0.1)
        request = SearchRequest(query="warp", deadline=monotonic() + 1)
        engine.search(request)
        with pytest.raises(ProviderError) as caught:
            engine.search(request)
    assert caught.value.kind == "busy"


def test_no_request_for_an_empty_query_or_without_a_usable_key(exa: ExaSimulator) -> None:
    with pytest.raises(BadQuery):
        ask(exa, " \n")
    with pytest.raises(NotConfigured, match="EXA_API_KEY is not set"):
        ask(exa, key="  ")
    for broken in ("two\nlines", "two words", "schlüssel"):
        with pytest.raises(AuthFailed, match="EXA_API_KEY has characters") as caught:
            ask(exa, key=broken)
        assert broken not in str(caught.value)
    assert exa.requests == []


def test_a_key_with_blanks_around_it_is_taken(exa: ExaSimulator) -> None:
    assert ask(exa, key=f" {KEY}\n")


_KEYS = st.text(alphabet=string.ascii_letters + string.digits + "-_<>&;", min_size=16, max_size=40)


@contextmanager
def everything_logged() -> Iterator[io.StringIO]:
    logged, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(logged), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield logged
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=_KEYS, status=st.sampled_from([400, 401, 402, 403, 404, 422, 429, 500]))
def test_a_key_that_is_echoed_never_shows(exa: ExaSimulator, key: str, status: int) -> None:
    echoes = [
        {"error": f"the key {key} is wrong", "tag": "INVALID_API_KEY"},
        {"error": {"message": f"{key}"}},
        {"message": f"bad: {key}"},
        {"error": f"no {key}", "tag": "INVALID_REQUEST_BODY"},
        f"plain {key}",
    ]
    for echo, answered in itertools.product(echoes, (200, status)):
        body = echo.encode() if isinstance(echo, str) else json.dumps(echo).encode()
        exa.script(Reply(status=answered, body=body, headers={"Content-Type": "application/json"}))
        with everything_logged() as logged, pytest.raises(WebfetchError) as caught:
            ask(exa, key=key)
        told = "".join(traceback.format_exception(caught.value))
        assert key not in told + repr(caught.value) + repr(vars(caught.value)) + logged.getvalue(), echo


def replayed(case: str) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = CASES / case
    if not folder.is_dir():
        pytest.skip("no shared cases beside the repository")
    [file] = [f for f in folder.glob("*.json") if f.name != "expected.json"]
    return json.loads(file.read_text()), json.loads((folder / "expected.json").read_text())


def test_a_cut_reply_that_broke_another_engine(exa: ExaSimulator) -> None:
    case, expected = replayed("C021")
    exa.script(
        Reply(body=case["exchanges"][0]["body"].encode(), headers={"Content-Type": "application/json"})
    )
    with pytest.raises(ProviderError) as caught:
        ask(exa)
    assert caught.value.kind in expected["error_kind"]


def test_a_refusal_whose_reason_another_client_lost(exa: ExaSimulator) -> None:
    case, expected = replayed("C310")
    reason = case["json"]["detail"]["error"]
    body = json.dumps({"error": reason, "tag": "INVALID_REQUEST_BODY"}).encode()
    exa.script(Reply(status=case["status"], body=body))
    with pytest.raises(BadQuery) as caught:
        ask(exa)
    assert all(part in str(caught.value) for part in expected["must_contain"])
