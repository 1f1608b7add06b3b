from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_search_tavily.countries import NAMES, country_name
from webfetch_search_tavily.refusal import refusal
from webfetch_search_tavily.request import body_of, endpoint
from webfetch_search_tavily.settings import TavilySettings

from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    BadResponse,
    Freshness,
    QuotaExceeded,
    RateLimited,
    SearchRequest,
)


def sent(settings: TavilySettings | None = None, **fields: Any) -> dict[str, Any]:
    fields.setdefault("query", "otter census")
    return body_of(SearchRequest(**fields), settings or TavilySettings())


def hosts(count: int) -> tuple[str, ...]:
    return tuple(f"h{n}.example" for n in range(count))


def test_a_plain_request() -> None:
    assert sent() == {"query": "otter census", "max_results": 10, "search_depth": "basic", "topic": "general"}
    assert sent(limit=100)["max_results"] == 20


def test_filters() -> None:
    everything = sent(
        freshness=Freshness.REALTIME,
        include_domains=("a.example",),
        exclude_domains=("b.example",),
        language="de",
        country="de",
    )
    assert everything["time_range"] == "day"
    assert (everything["include_domains"], everything["exclude_domains"]) == (["a.example"], ["b.example"])
    assert everything["country"] == "germany"
    assert "language" not in everything
    assert sent(freshness=Freshness.RECENT)["time_range"] == "month"
    assert "time_range" not in sent(freshness=Freshness.STABLE)


def test_lists_that_are_too_long() -> None:
    assert len(sent(include_domains=hosts(300))["include_domains"]) == 300
    assert "include_domains" not in sent(include_domains=hosts(301))
    assert sent(exclude_domains=hosts(200))["exclude_domains"] == list(hosts(150))


def test_settings() -> None:
    own = TavilySettings(depth="advanced", topic="news", country="at", safe_search=True, chunks_per_source=2)
    assert sent(own, country="de") == {
        "query": "otter census",
        "max_results": 10,
        "search_depth": "advanced",
        "topic": "news",  # whose results have no country
        "chunks_per_source": 2,
        "safe_search": True,
    }
    assert sent(TavilySettings(country="at"))["country"] == "austria"
    assert sent(TavilySettings(country="at"), country="xx")["country"] == "austria"
    assert "country" not in sent(country="xx")


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("US", "united states"),
        ("uk", "united kingdom"),
        ("KR", "south korea"),
        ("BA", "bosnia and herzegovina"),
        ("USA", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_countries_have_tavilys_names(code: str | None, name: str) -> None:
    assert country_name(code) == name


def test_the_table_of_countries_is_whole() -> None:
    assert len(NAMES) > 150 and len(set(NAMES.values())) == len(NAMES)
    assert all(
        re.fullmatch("[a-z]{2}", code) and re.fullmatch("[a-z]+( [a-z]+)*", n) for code, n in NAMES.items()
    )


@pytest.mark.parametrize("base_url", ["https://g.example", "https://g.example/", "https://g.example/search"])
def test_the_base_url_may_be_given_in_full(base_url: str) -> None:
    assert endpoint(base_url) == "https://g.example/search"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_url", "api.tavily.com"),
        ("base_url", "http://[x"),
        ("depth", "deep"),
        ("topic", "sport"),
        ("country", "Germany"),
        ("chunks_per_source", 4),
        ("calls_per_s", -1.0),
    ],
)
def test_a_wrong_setting_is_named(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=field):
        TavilySettings(**{field: value})


def keyless(**error: Any) -> dict[str, Any]:
    return {"error": {"code": "keyless_limit", "message": "Enough.", **error}}


@pytest.mark.parametrize(
    ("status", "data", "kind"),
    [
        (401, {"detail": {"error": "Unauthorized: missing or invalid API key."}}, AuthFailed),
        (403, None, AuthFailed),
        (432, {"detail": {"error": "over your plan"}}, QuotaExceeded),
        (433, {}, QuotaExceeded),
        (402, {}, QuotaExceeded),
        (429, {"detail": {"error": "excessive requests"}}, RateLimited),
        (429, keyless(window="day"), QuotaExceeded),
        (429, keyless(window="minute"), RateLimited),
        (400, {"detail": {"error": "Query is too long."}}, BadQuery),
        (400, {"detail": "text"}, BadQuery),
        (422, {"detail": [{"loc": ["body", "query"], "msg": "Field required"}]}, BadQuery),
        (200, {"detail": {"error": "Your account has run out of searches."}}, QuotaExceeded),
        (200, {"error": "invalid API key"}, AuthFailed),
        (200, {"error": {"message": "Too many requests"}}, RateLimited),
        (200, {"error": {"n": 1}}, BadResponse),
        (202, {"detail": "accepted"}, BadResponse),
    ],
)
def test_the_status_decides_and_a_code_before_it(status: int, data: Any, kind: type[Exception]) -> None:
    found = refusal(status, data)
    assert type(found) is kind
    assert "Tavily answered" in str(found)


def test_waiting_times() -> None:
    assert refusal(429, {}, retry_after_s=7.0).retry_after_s == 7.0
    assert refusal(429, keyless(window="day", retry_after_seconds=3600)).retry_after_s == 3600
    for odd in ("soon", None, True, -1, float("inf"), float("nan")):
        assert refusal(429, keyless(retry_after_seconds=odd)).retry_after_s is None


def test_a_list_of_fields_is_put_into_words() -> None:
    data = {
        "detail": [{"loc": ["body", "max_results"], "msg": "not a number"}, {"msg": "no"}, None, {"loc": 3}]
    }
    assert refusal(422, data).message == "Tavily answered 422: max_results: not a number; no"


@pytest.mark.parametrize(
    ("status", "data"),
    [(200, {"results": [], "detail": "fine"}), (200, {}), (500, {"detail": {"error": "x"}}), (301, None)],
)
def test_what_is_left_to_the_status(status: int, data: Any) -> None:
    assert refusal(status, data) is None


ANY = st.recursive(
    st.none() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "results", "detail", "loc", "code", "retry_after_seconds"]),
            inner,
        )
    ),
    max_leaves=10,
)


@given(st.sampled_from([200, 301, 400, 401, 403, 404, 429, 432, 500]), ANY)
def test_any_body_is_survived(status: int, data: Any) -> None:
    assert refusal(status, data) is not None or status not in (400, 401, 403, 429, 432)
