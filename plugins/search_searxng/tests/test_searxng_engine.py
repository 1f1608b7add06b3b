"""The engine over real sockets, against a simulated instance."""

from __future__ import annotations

import io
import itertools
import json
import logging
import string
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from webfetch_search_searxng import plugin
from webfetch_search_searxng.settings import SearxngSettings

from webfetch_core import AllEnginesFailed, Webfetch
from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    BadResponse,
    Blocked,
    EnvKey,
    Freshness,
    ProviderError,
    RateLimited,
    SearchHit,
    SearchRequest,
    TimedOut,
    Unavailable,
    WebfetchError,
)
from webfetch_core.testing import FakeClock, FakeContext, loopback_http
from webfetch_core.testing.engines.corpus import CorpusDocument
from webfetch_core.testing.engines.script import OK
from webfetch_core.testing.engines.searxng import SearxngSimulator
from webfetch_core.testing.site import Reply

CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "inputs"
KEY = "gateway-4b7a9d1c2f4e0a1b2c3d"
PAGES = [
    CorpusDocument(
        url=f"https://kelp{n}.example/yield", title=f"Kelp {n}", text=f"Kelp yield {n} tons", published=day
    )
    for n, day in enumerate(("2023-12-31", "2023-12-20", "2020-01-01", ""))
]


@pytest.fixture
def instance() -> Iterator[SearxngSimulator]:
    with SearxngSimulator(PAGES) as simulated:
        yield simulated


@contextmanager
def opened(instance: SearxngSimulator, *, key: str = "", clock: Any = None, **options: Any) -> Iterator[Any]:
    [provider] = plugin.webfetch_search_engines()
    chosen = SearxngSettings(**{"base_url": instance.endpoint, **options})
    context = FakeContext("search_searxng", settings=chosen, clock=clock, environ={"SEARXNG_API_KEY": key})
    with loopback_http(context.clock, trusted=[(instance.host, instance.port)], secrets=[key]) as http:
        yield provider.build(chosen, context.having(http=http))


def ask(instance: SearxngSimulator, query: str = "kelp yield", **more: Any) -> list[SearchHit]:
    own = {
        name: more.pop(name)
        for name in ("key", "clock", "base_url", "api_key_header", "categories")
        if name in more
    }
    with opened(instance, **own) as engine:
        found: list[SearchHit] = engine.search(SearchRequest(query=query, **more))
        return found


def test_one_get_with_what_a_bot_filter_wants_to_see(instance: SearxngSimulator) -> None:
    hits = ask(instance, limit=2, language="de", country="at")
    assert len(hits) == 2 and all(h.snippet.startswith("Kelp yield") for h in hits)
    [received] = instance.requests
    assert (received.method, received.path) == ("GET", "/search")
    assert received.headers["accept"] == "application/json"
    assert received.headers["accept-language"] == "de-AT,de;q=0.9"
    assert "authorization" not in received.headers
    assert (instance.queries[0].language, instance.queries[0].country) == ("de", "AT")


def test_the_address_may_name_the_path(instance: SearxngSimulator) -> None:
    assert ask(instance, base_url=instance.url("/search"))
    assert instance.requests[0].path == "/search"


@pytest.mark.parametrize(
    ("options", "header", "sent"),
    [({}, "authorization", f"Bearer {KEY}"), ({"api_key_header": "X-API-Key"}, "x-api-key", KEY)],
)
def test_a_gateways_key(instance: SearxngSimulator, options: dict[str, str], header: str, sent: str) -> None:
    assert ask(instance, key=f" {KEY}\n", **options)
    assert instance.requests[0].headers[header] == sent and KEY not in instance.requests[0].query


def test_filters_arrive() -> None:
    with SearxngSimulator(PAGES, clock=FakeClock()) as instance:  # at the beginning of 2024
        recent = [
            ask(instance, freshness=f) for f in (Freshness.REALTIME, Freshness.RECENT, Freshness.STABLE)
        ]
        assert [len(hits) for hits in recent] == [1, 2, 4]
        assert [h.url for h in ask(instance, include_domains=("kelp2.example",))] == [
            "https://kelp2.example/yield"
        ]
        assert len(ask(instance, exclude_domains=("kelp2.example",))) == 3
        ask(instance, categories=("general", "news"))
        assert instance.queries[-1].params["categories"] == "general,news"
        assert instance.outcomes == [OK] * 6


def test_commands_in_a_query_do_nothing(instance: SearxngSimulator) -> None:
    assert ask(instance, "!!g kelp")
    assert instance.outcomes == [OK]


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        ("json_disabled", BadResponse, "add json to search.formats in the instance's settings.yml"),
        ("json_disabled", BadResponse, "public instances refuse JSON on purpose: run your own"),
        ("auth", AuthFailed, "set SEARXNG_API_KEY"),
        ("rate_limited", RateLimited, "server.limiter to false"),
        ("bad_query", BadQuery, "No query"),
        ("server_error", Unavailable, "search error"),
        ("engines_blocked", Blocked, "google: Suspended: CAPTCHA, qwant: access denied"),
        ("engines_down", Unavailable, "bing: timeout, mojeek: HTTP error"),
        ("html_instead_of_json", BadResponse, "add json to search.formats"),
        ("truncated_json", BadResponse, "no JSON"),
        ("cut_off", ProviderError, ""),
    ],
)
def test_every_fault_is_told_apart(
    instance: SearxngSimulator, fault: str, kind: type[Exception], says: str
) -> None:
    instance.fault = fault
    with pytest.raises(kind) as caught:
        ask(instance)
    assert says in str(caught.value)
    # A bad query is no fault of its engine, so no ProviderError: it never counts against the breaker.
    assert isinstance(caught.value, ProviderError) is not (kind is BadQuery)


@pytest.mark.parametrize("fault", ["hang", "slow_drip"])
def test_the_deadline_holds(instance: SearxngSimulator, fault: str) -> None:
    instance.fault = fault
    began = monotonic()
    with pytest.raises(TimedOut):
        ask(instance, deadline=began + 0.2)
    assert monotonic() - began < 20  # the simulator hangs far longer


@pytest.mark.parametrize("fault", ["empty", "silent_block"])
def test_nothing_found(instance: SearxngSimulator, fault: str) -> None:
    instance.fault = fault
    assert ask(instance) == []


def test_results_that_lack_fields_do_not_stop_the_others(instance: SearxngSimulator) -> None:
    instance.fault = "missing_fields"
    urls = [h.url for h in ask(instance)]
    assert len(urls) >= 4 and all(urls)


def test_engines_that_did_not_answer_do_not_matter_beside_results(instance: SearxngSimulator) -> None:
    instance.unresponsive = {"google": "Suspended: CAPTCHA"}
    assert len(ask(instance)) == 4
    with pytest.raises(Blocked, match="google"):
        ask(instance, "rowan")


def test_walls_and_other_faults_together_are_an_outage(instance: SearxngSimulator) -> None:
    instance.unresponsive = {"google": "Suspended: CAPTCHA", "bing": "timeout"}
    with pytest.raises(Unavailable, match=r"google.*bing"):
        ask(instance, "rowan")


def test_an_answer_without_a_page_is_no_outage(instance: SearxngSimulator) -> None:
    data = {"results": [], "answers": ["50 cm a day"], "unresponsive_engines": [["bing", "timeout"]]}
    instance.script(Reply(body=json.dumps(data).encode()))
    assert ask(instance) == []


def test_a_refusal_is_told_in_its_words_and_noted_without_the_key(
    instance: SearxngSimulator, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    instance.script(Reply(status=400, body=b'{"error": "Invalid value hour for parameter time_range"}'))
    with pytest.raises(BadQuery, match="Invalid value hour for parameter time_range"):
        ask(instance, "kelp of rowan", key=KEY)
    assert "request.refused" in caplog.text and "kelp of rowan" in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    "reply",
    [
        {"error": "search error"},
        {"results": "many"},
        {"results": {"0": {}}},
        {"results": [{"title": "no address"}]},
        {"suggestions": []},
    ],
)
def test_a_200_that_is_no_result_is_an_error(instance: SearxngSimulator, reply: Any) -> None:
    instance.script(Reply(body=json.dumps(reply).encode()))
    with pytest.raises(BadResponse):
        ask(instance)


@pytest.mark.parametrize(
    "reply", [{"results": []}, {"results": None}, {"results": [{"url": "magnet:?xt=urn:btih:0"}]}]
)
def test_nothing_for_the_web_is_no_error(instance: SearxngSimulator, reply: Any) -> None:
    instance.script(Reply(body=json.dumps(reply).encode()))
    assert ask(instance) == []


@pytest.mark.parametrize(
    ("status", "body", "kind", "says"),
    [
        (403, b"", BadResponse, "add json"),
        (403, b'{"error": "key"}', AuthFailed, "SEARXNG_API_KEY"),
        (403, b"<html><script src='/cdn-cgi/challenge-platform/x'></script></html>", Blocked, "wall"),
        (404, b"<html>not here</html>", BadResponse, "check plugins.search_searxng.base_url"),
        (400, b"<html>proxy</html>", BadResponse, "400"),
        (301, b"", BadResponse, "redirect"),
        (502, b"<html>down</html>", Unavailable, "502"),
        (200, b"  <!doctype html>", BadResponse, "add json"),
        (200, b"ok", BadResponse, "no JSON"),
    ],
)
def test_other_replies(
    instance: SearxngSimulator, status: int, body: bytes, kind: type[Exception], says: str
) -> None:
    instance.script(Reply(status=status, body=body))
    with pytest.raises(kind, match=says):
        ask(instance)


@pytest.mark.parametrize(
    ("body", "headers", "wait_s"),
    [
        (b"Too Many Requests", {}, 3600.0),
        (b"Too Many Requests", {"Retry-After": "20"}, 20.0),
        (b"<html>429 Too Many Requests</html>", {}, None),
        (b"<html>429 Too Many Requests</html>", {"Retry-After": "17"}, 17.0),
    ],
)
def test_the_limiter_of_an_instance_wants_an_hour(
    instance: SearxngSimulator, body: bytes, headers: dict[str, str], wait_s: float | None
) -> None:
    instance.script(Reply(status=429, body=body, headers=headers))
    with pytest.raises(RateLimited) as caught:
        ask(instance)
    assert caught.value.retry_after_s == wait_s


def test_a_pace_that_cannot_be_kept_is_nobodys_fault(instance: SearxngSimulator) -> None:
    with opened(instance) as engine:
        engine._context.http.pace(0.1)
        request = SearchRequest(query="kelp", deadline=monotonic() + 1)
        engine.search(request)
        with pytest.raises(ProviderError) as caught:
            engine.search(request)
    assert caught.value.kind == "busy"


def test_no_request_for_an_empty_query_or_with_a_broken_key(instance: SearxngSimulator) -> None:
    for nothing in (" \n", "", "  "):
        with pytest.raises(BadQuery):
            ask(instance, nothing)
    for broken in ("two\nlines", "two words", "schlüssel"):
        with pytest.raises(AuthFailed, match="SEARXNG_API_KEY has characters") as caught:
            ask(instance, key=broken)
        assert broken not in str(caught.value)
    assert instance.requests == []


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
def test_a_key_that_is_echoed_never_shows(instance: SearxngSimulator, key: str, status: int) -> None:
    echoes = [
        {"error": f"the key {key} is wrong"},
        {"error": {"message": f"{key}"}},
        {"message": f"bad: {key}"},
        f"<html>{key}</html>",
        {"results": [], "unresponsive_engines": [["x", f"wants {key}"]]},
        f"plain {key}",
    ]
    for echo, answered in itertools.product(echoes, (200, status)):
        body = echo.encode() if isinstance(echo, str) else json.dumps(echo).encode()
        instance.script(Reply(status=answered, body=body, headers={"Content-Type": "application/json"}))
        with everything_logged() as logged, pytest.raises(WebfetchError) as caught:
            ask(instance, key=key)
        told = "".join(traceback.format_exception(caught.value))
        assert key not in told + repr(caught.value) + repr(vars(caught.value)) + logged.getvalue(), echo


@pytest.mark.parametrize("status", [200, 404, 500])
def test_no_half_of_a_key_shows_where_a_body_is_cut(instance: SearxngSimulator, status: int) -> None:
    for length in range(150, 205, 5):
        instance.script(Reply(status=status, body=b"x" * length + KEY.encode()))
        with pytest.raises(ProviderError) as caught:
            ask(instance, key=KEY)
        assert KEY[:4] not in str(caught.value)


@pytest.mark.parametrize("status", [200, 400, 401, 404, 500])
def test_a_gateways_key_does_not_leave_a_host(
    instance: SearxngSimulator, wf: Callable[..., Webfetch], status: int
) -> None:
    table = {"search_searxng": {"base_url": instance.endpoint}}
    host = wf(plugin, plugins=table, environ={"SEARXNG_API_KEY": KEY})
    for words in (f"the key {KEY}", "x" * 285 + KEY):
        instance.script(Reply(status=status, body=json.dumps({"error": words}).encode()))
        with everything_logged() as logged, pytest.raises(AllEnginesFailed) as caught:
            host.search(f"kelp {status} {len(words)}")
        told = f"{caught.value} {caught.value.attempts!r} {logged.getvalue()}"
        assert KEY[:12] not in told


def test_the_key_is_optional() -> None:
    [provider] = plugin.webfetch_search_engines()
    assert [r.missing({}) for r in provider.requires if isinstance(r, EnvKey)] == [None]


def test_without_an_instance_it_is_off_and_nobody_asks_it(
    instance: SearxngSimulator, wf: Callable[..., Webfetch]
) -> None:
    with pytest.raises(AllEnginesFailed, match="no search engine is ready: searxng: no SearXNG instance"):
        wf(plugin).search("kelp")
    assert wf(plugin, plugins={"search_searxng": {"base_url": instance.endpoint}}).search("kelp").hits


def replayed(case: str) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = CASES / case
    if not folder.is_dir():
        pytest.skip("no shared cases beside the repository")
    [file] = [f for f in folder.glob("*.json") if f.name != "expected.json"]
    return json.loads(file.read_text()), json.loads((folder / "expected.json").read_text())


def test_a_cut_reply_that_broke_another_engine(instance: SearxngSimulator) -> None:
    case, expected = replayed("C021")
    instance.script(
        Reply(body=case["exchanges"][0]["body"].encode(), headers={"Content-Type": "application/json"})
    )
    with pytest.raises(ProviderError) as caught:
        ask(instance)
    assert caught.value.kind in expected["error_kind"]


@pytest.mark.parametrize("case", ["C019"])
def test_an_instance_without_json_that_broke_others(instance: SearxngSimulator, case: str) -> None:
    given_, expected = replayed(case)
    exchange = given_["exchanges"][0]
    instance.script(
        Reply(status=exchange["status"], headers=exchange["headers"], body=exchange["body"].encode())
    )
    with pytest.raises(ProviderError) as caught:
        ask(instance)
    told = "".join(traceback.format_exception(caught.value))
    assert caught.value.kind in expected["error_kind"]
    assert all(part in told for part in expected["must_contain"])
    assert not any(part in str(caught.value) for part in expected["must_not_contain"])


def test_a_refusal_whose_reason_another_client_lost(instance: SearxngSimulator) -> None:
    case, expected = replayed("C310")
    reason = case["json"]["detail"]["error"]
    body = json.dumps({"error": reason}).encode()
    instance.script(Reply(status=case["status"], body=body))
    with pytest.raises(BadQuery) as caught:
        ask(instance)
    assert all(part in str(caught.value) for part in expected["must_contain"])
