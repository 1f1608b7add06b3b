"""The engine over real sockets, against a simulated Perplexity."""

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
from webfetch_search_perplexity.plugin import webfetch_search_engines
from webfetch_search_perplexity.settings import PerplexitySettings

from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    BadResponse,
    Blocked,
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
from webfetch_core.testing.engines.perplexity import PerplexitySimulator
from webfetch_core.testing.engines.script import OK
from webfetch_core.testing.site import Reply

CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "inputs"
KEY = "pplx-4b7a9d1c2f4e0a1b2c3d4e5f"
PAGES = [
    CorpusDocument(
        url=f"https://kiln{n}.example/ash", title=f"Ash {n}", text=f"Ash glaze {n} grams", published=day
    )
    for n, day in enumerate(("2023-12-31", "2023-12-20", "2020-01-01", ""))
]


@pytest.fixture
def api() -> Iterator[PerplexitySimulator]:
    with PerplexitySimulator(PAGES, key=KEY) as simulated:
        yield simulated


@contextmanager
def opened(api: PerplexitySimulator, *, key: str = KEY, clock: Any = None, **options: Any) -> Iterator[Any]:
    [provider] = webfetch_search_engines()
    chosen = PerplexitySettings(base_url=api.endpoint, **options)
    context = FakeContext(
        "search_perplexity", settings=chosen, clock=clock, environ={"PERPLEXITY_API_KEY": key}
    )
    with loopback_http(context.clock, trusted=[(api.host, api.port)], secrets=[key]) as http:
        yield provider.build(chosen, context.having(http=http))


def ask(api: PerplexitySimulator, query: str = "ash glaze", **more: Any) -> list[SearchHit]:
    own = {name: more.pop(name) for name in ("key", "clock", "search_type") if name in more}
    with opened(api, **own) as engine:
        found: list[SearchHit] = engine.search(SearchRequest(query=query, **more))
        return found


def test_one_post_with_the_key_in_its_header(api: PerplexitySimulator) -> None:
    hits = ask(api, limit=2)
    assert len(hits) == 2 and all(h.snippet.startswith("Ash glaze") for h in hits)
    [received] = api.requests
    assert (received.method, received.path, received.query) == ("POST", "/search", "")
    assert received.headers["authorization"] == f"Bearer {KEY}" and KEY.encode() not in received.body
    assert api.queries[0].limit == 2


def test_filters_arrive() -> None:
    clock = FakeClock()  # at the beginning of 2024
    with PerplexitySimulator(PAGES, clock=clock) as api:
        recent = [ask(api, freshness=f) for f in (Freshness.REALTIME, Freshness.RECENT, Freshness.STABLE)]
        assert [len(hits) for hits in recent] == [1, 2, 4]
        assert [h.url for h in ask(api, include_domains=("kiln2.example",))] == ["https://kiln2.example/ash"]
        assert len(ask(api, exclude_domains=("kiln2.example",), country="de", language="pt-BR")) == 3
        assert (api.queries[-1].country, api.queries[-1].language) == ("DE", "pt")
        both = ask(api, include_domains=("kiln1.example",), exclude_domains=("kiln2.example",))
        assert [h.url for h in both] == ["https://kiln1.example/ash"]
        assert api.outcomes == [OK] * 6


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        ("auth", AuthFailed, "set PERPLEXITY_API_KEY"),
        ("quota", QuotaExceeded, "exceeded your current quota"),
        ("no_credit", QuotaExceeded, "no credits left"),
        ("rate_limited", RateLimited, "Request rate limit exceeded"),
        ("bad_query", BadQuery, "query must be a text"),
        ("validation", BadQuery, "query: Field required"),
        ("server_error", Unavailable, "Internal server error"),
        ("html_instead_of_json", BadResponse, "502 Bad Gateway"),
        ("truncated_json", BadResponse, "no JSON"),
        ("cut_off", ProviderError, ""),
    ],
)
def test_every_fault_is_told_apart(
    api: PerplexitySimulator, fault: str, kind: type[Exception], says: str
) -> None:
    api.fault = fault
    with pytest.raises(kind) as caught:
        ask(api)
    assert says in str(caught.value)
    # A bad query is no fault of its engine, so no ProviderError: it never counts against the breaker.
    assert isinstance(caught.value, ProviderError) is not (kind is BadQuery)


@pytest.mark.parametrize("fault", ["hang", "slow_drip"])
def test_the_deadline_holds(api: PerplexitySimulator, fault: str) -> None:
    api.fault = fault
    began = monotonic()
    with pytest.raises(TimedOut):
        ask(api, deadline=began + 0.2)
    assert monotonic() - began < 20  # the simulator hangs far longer


@pytest.mark.parametrize("fault", ["empty", "silent_block"])
def test_nothing_found(api: PerplexitySimulator, fault: str) -> None:
    api.fault = fault
    assert ask(api) == []


def test_results_that_lack_fields_do_not_stop_the_others(api: PerplexitySimulator) -> None:
    api.fault = "missing_fields"
    urls = [h.url for h in ask(api)]
    assert len(urls) >= 4 and all(urls)


def test_a_refusal_is_told_in_its_words_and_noted_without_the_key(
    api: PerplexitySimulator, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    error = {"error": {"message": "search_mode sec needs another plan", "type": "invalid_request_error"}}
    api.script(Reply(status=400, body=json.dumps(error).encode()))
    with pytest.raises(BadQuery, match="search_mode sec needs another plan"):
        ask(api, "ash of rowan")
    assert "request.refused" in caplog.text and "ash of rowan" in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ({"error": {"message": "no", "type": "invalid_api_key", "code": 401}}, AuthFailed),
        ({"error": {"message": "no", "code": 401}}, AuthFailed),
        ({"error": {"message": "no", "code": "insufficient_quota"}}, QuotaExceeded),
        ({"error": {"message": "no", "type": "rate_limit_exceeded"}}, RateLimited),
        ({"error": {"message": "no", "code": 503}}, Unavailable),
        ({"error": "odd"}, BadResponse),
        ({"error": True}, BadResponse),
        ({"results": "many"}, BadResponse),
        ({"results": {"0": {}}}, BadResponse),
        ({"results": [{"title": "no address"}]}, BadResponse),
        ({"choices": []}, BadResponse),
    ],
)
def test_an_error_in_a_200_is_an_error(api: PerplexitySimulator, reply: Any, kind: type[Exception]) -> None:
    body = json.dumps(reply).encode()
    api.script(Reply(body=body, headers={"Content-Type": "application/json"}))
    with pytest.raises(kind) as caught:
        ask(api)
    assert str(caught.value).strip()


@pytest.mark.parametrize("results", [[], None, [[]]])
def test_an_empty_list_is_no_error(api: PerplexitySimulator, results: Any) -> None:
    api.script(Reply(body=json.dumps({"results": results}).encode()))
    assert ask(api) == []


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, b"<html>", AuthFailed),
        (402, b"", QuotaExceeded),
        (402, b'{"error": {"message": "pay"}}', QuotaExceeded),
        (403, b"<html>access denied</html>", Blocked),
        (403, b'{"error": {"message": "not allowed"}}', AuthFailed),
        (404, b'{"error": {"message": "no such path"}}', BadResponse),
        (400, b"<html>proxy</html>", BadResponse),
        (400, b'{"detail": "query is too long"}', BadQuery),
        (429, b"", RateLimited),
        (429, b'{"error": {"message": "slow down, or see your billing tier"}}', RateLimited),
        (302, b"", BadResponse),
        (409, b"", Unavailable),
        (503, b"<html>down</html>", Unavailable),
    ],
)
def test_other_statuses(api: PerplexitySimulator, status: int, body: bytes, kind: type[Exception]) -> None:
    api.script(Reply(status=status, body=body))
    with pytest.raises(kind):
        ask(api)


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"Retry-After": "17"}, 17.0),
        ({"Retry-After": "Mon, 01 Jan 2024 00:01:30 GMT"}, 90.0),
        ({"Retry-After": "Mon, 01 Jan 2023 00:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-5"}, None),
        ({"retry-after-ms": "x", "Retry-After": "3"}, 3.0),
        ({}, None),
    ],
)
def test_the_wait_that_is_named_is_passed_on(
    api: PerplexitySimulator, headers: dict[str, str], wait_s: float | None
) -> None:
    api.script(Reply(status=429, body=b'{"error": {"message": "slow down"}}', headers=headers))
    with pytest.raises(RateLimited) as caught:
        ask(api, clock=FakeClock())  # at the beginning of 2024
    assert caught.value.retry_after_s == wait_s


def test_a_pace_that_cannot_be_kept_is_nobodys_fault(api: PerplexitySimulator) -> None:
    with opened(api) as engine:
        engine._context.http.pace(0.1)
        request = SearchRequest(query="ash", deadline=monotonic() + 1)
        engine.search(request)
        with pytest.raises(ProviderError) as caught:
            engine.search(request)
    assert caught.value.kind == "busy"


def test_no_request_for_an_empty_query_or_without_a_usable_key(api: PerplexitySimulator) -> None:
    with pytest.raises(BadQuery):
        ask(api, " \n")
    with pytest.raises(NotConfigured, match="PERPLEXITY_API_KEY is not set"):
        ask(api, key="  ")
    for broken in ("two\nlines", "two words", "schlüssel"):
        with pytest.raises(AuthFailed, match="PERPLEXITY_API_KEY has characters") as caught:
            ask(api, key=broken)
        assert broken not in str(caught.value)
    assert api.requests == []


def test_a_key_with_blanks_around_it_is_taken(api: PerplexitySimulator) -> None:
    assert ask(api, key=f" {KEY}\n")


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
def test_a_key_that_is_echoed_never_shows(api: PerplexitySimulator, key: str, status: int) -> None:
    echoes = [
        {"error": {"message": f"the key {key} is wrong", "type": "invalid_api_key"}},
        {"error": f"{key}"},
        {"detail": [{"loc": ["header", "authorization"], "msg": f"bad: {key}"}]},
        {"message": f"no {key}"},
        f"plain {key}",
    ]
    for echo, answered in itertools.product(echoes, (200, status)):
        body = echo.encode() if isinstance(echo, str) else json.dumps(echo).encode()
        api.script(Reply(status=answered, body=body, headers={"Content-Type": "application/json"}))
        with everything_logged() as logged, pytest.raises(WebfetchError) as caught:
            ask(api, key=key)
        told = "".join(traceback.format_exception(caught.value))
        assert key not in told + repr(caught.value) + repr(vars(caught.value)) + logged.getvalue(), echo


def replayed(case: str) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = CASES / case
    if not folder.is_dir():
        pytest.skip("no shared cases beside the repository")
    [file] = [f for f in folder.glob("*.json") if f.name != "expected.json"]
    return json.loads(file.read_text()), json.loads((folder / "expected.json").read_text())


def test_a_cut_reply_that_broke_another_engine(api: PerplexitySimulator) -> None:
    case, expected = replayed("C021")
    api.script(
        Reply(body=case["exchanges"][0]["body"].encode(), headers={"Content-Type": "application/json"})
    )
    with pytest.raises(ProviderError) as caught:
        ask(api)
    assert caught.value.kind in expected["error_kind"]


def test_a_refusal_whose_reason_another_client_lost(api: PerplexitySimulator) -> None:
    case, expected = replayed("C310")
    reason = case["json"]["detail"]["error"]
    body = json.dumps({"error": {"message": reason}}).encode()
    api.script(Reply(status=case["status"], body=body))
    with pytest.raises(BadQuery) as caught:
        ask(api)
    assert all(part in str(caught.value) for part in expected["must_contain"])
