"""Which error an answer is, and what the rate headers say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_search_brave.rates import calls_per_s, pause_s, tiers, used_up
from webfetch_search_brave.refusal import refusal

from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    BadResponse,
    Blocked,
    QuotaExceeded,
    RateLimited,
    Unavailable,
)

NOW = 1_796_032_800.0  # 2026-11-30T10:00:00Z
BOTH_LEFT = {
    "x-ratelimit-limit": "1, 15000",
    "x-ratelimit-remaining": "0, 1000",
    "x-ratelimit-reset": "1, 1419704",
}
MONTH_OVER = {**BOTH_LEFT, "x-ratelimit-remaining": "1, 0"}


def envelope(code: str | None = None, detail: str = "Because.", **meta: Any) -> dict[str, Any]:
    return {"type": "ErrorResponse", "error": {"code": code, "detail": detail, "meta": meta}, "time": 1}


def error(status: int, data: Any = None, headers: Any = None, unread: str = "") -> Any:
    return refusal(status, headers or {}, data, now=NOW, unread=unread)


@pytest.mark.parametrize(
    ("status", "data", "kind"),
    [
        (422, envelope("SUBSCRIPTION_TOKEN_INVALID"), AuthFailed),
        (
            422,
            envelope("VALIDATION", errors=[{"loc": ["header", "x-subscription-token"], "msg": "m"}]),
            AuthFailed,
        ),
        (422, {"errors": [{"loc": ["header", "x-subscription-token"], "msg": "Field required"}]}, AuthFailed),
        (422, {"errors": [{"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "no"}]}, AuthFailed),
        (422, envelope("VALIDATION", errors=[{"loc": ["query", "count"], "msg": "too many"}]), BadQuery),
        (422, envelope("VALIDATION"), BadQuery),
        (422, {"errors": [{"loc": ["query", "q"], "msg": "too long"}]}, BadQuery),
        (422, {"error": "Invalid subscription token"}, AuthFailed),
        (400, envelope("OPTION_NOT_IN_PLAN"), AuthFailed),
        (400, envelope(None), BadQuery),
        (401, None, AuthFailed),
        (403, {"message": "no"}, AuthFailed),
        (402, envelope("PAYMENT"), QuotaExceeded),
        (429, envelope("QUOTA_LIMITED"), QuotaExceeded),
        (429, envelope("RATE_LIMITED", quota_limit=2000, quota_current=2000), QuotaExceeded),
        (429, envelope("RATE_LIMITED", quota_limit=2000, quota_current=15), RateLimited),
        (429, {}, RateLimited),
        (404, envelope("NOT_FOUND"), BadResponse),
        (301, None, BadResponse),
        (500, envelope("INTERNAL"), Unavailable),
        (503, None, Unavailable),
        (200, envelope("QUOTA_LIMITED"), QuotaExceeded),
        (200, envelope("SUBSCRIPTION_TOKEN_INVALID"), AuthFailed),
        (200, {"error": "Your account has run out of searches."}, QuotaExceeded),
        (200, {"error": {"message": "invalid API key"}}, AuthFailed),
        (200, {"error": {"message": "Too many requests"}}, RateLimited),
        (200, {"error": {"message": "strange"}}, BadResponse),
    ],
)
def test_the_code_decides_then_the_status(status: int, data: Any, kind: type[Exception]) -> None:
    found = error(status, data)
    assert type(found) is kind
    assert "Brave answered" in found.message


@pytest.mark.parametrize(
    "data", [{"type": "search", "web": {"results": []}}, {"query": {}, "error": None}, [], {}]
)
def test_what_is_no_refusal(data: Any) -> None:
    assert error(200, data) is None


def test_a_key_that_is_refused_names_its_variable() -> None:
    assert "BRAVE_API_KEY" in str(error(422, envelope("SUBSCRIPTION_TOKEN_INVALID")))
    assert "extra_snippets = false" in str(error(400, envelope("OPTION_NOT_IN_PLAN")))


def test_a_refused_query_says_what_brave_says_of_it() -> None:
    wrong = [{"loc": ["query", "count"], "msg": "Input should be at most 20"}, {"loc": 7, "msg": None}, "x"]
    found = error(422, envelope("VALIDATION", "Unable to validate &amp; so on", errors=wrong))
    assert (
        found.message == "Brave answered 422: Unable to validate & so on; count: Input should be at most 20"
    )


def test_a_web_page_in_place_of_the_api_is_a_block() -> None:
    assert type(error(403, None, {"content-type": "text/html"}, "a page")) is Blocked
    assert type(error(401, None, {"content-type": "application/json"}, "text")) is AuthFailed


def test_the_second_and_the_month_are_told_apart() -> None:
    second, month = error(429, envelope("RATE_LIMITED"), BOTH_LEFT), error(429, {}, MONTH_OVER)
    assert (type(second), second.retry_after_s) == (RateLimited, 1.0)
    assert (type(month), month.retry_after_s) == (QuotaExceeded, 1_419_704.0)


def test_a_limit_of_zero_is_no_limit() -> None:
    headers = {"x-ratelimit-limit": "20, 0", "x-ratelimit-remaining": "0, 0", "x-ratelimit-reset": "1, 0"}
    found = error(429, envelope("RATE_LIMITED"), headers)
    assert (type(found), found.retry_after_s) == (RateLimited, 1.0)
    assert calls_per_s(tiers(headers)) == 20


def test_retry_after_wins_over_the_tier_and_may_be_a_date() -> None:
    assert error(429, {}, {**BOTH_LEFT, "retry-after": "30"}).retry_after_s == 30
    assert error(429, {}, {"retry-after": "Mon, 30 Nov 2026 10:02:00 GMT"}).retry_after_s == 120
    assert error(429, {}, {"retry-after": "soon"}).retry_after_s is None
    assert error(429, {}, {"retry-after": "Mon, 30 Nov 2020 10:02:00 GMT"}).retry_after_s == 0


@pytest.mark.parametrize(
    ("headers", "pace"),
    [
        ({}, None),
        ({"x-ratelimit-limit": "1, 15000"}, 1),
        ({"x-ratelimit-limit": "50"}, 50),
        ({"x-ratelimit-policy": "20;w=1, 0;w=2592000"}, 20),
        ({"x-ratelimit-policy": "120;w=60, 15000;w=2592000", "x-ratelimit-limit": "120, 15000"}, 2),
        ({"x-ratelimit-policy": "30; w=1, 60; w=60"}, 1),
        ({"x-ratelimit-limit": "0, 0"}, None),
        ({"x-ratelimit-limit": "fast, 1"}, None),
        ({"x-ratelimit-limit": "-1, nan"}, None),
        ({"x-ratelimit-policy": "9;w=0"}, 9),
        ({"x-ratelimit-limit": "  "}, None),
    ],
)
def test_the_pace_of_a_plan(headers: dict[str, str], pace: float | None) -> None:
    assert calls_per_s(tiers(headers)) == pace


HEADER = st.text(alphabet="0123456789 ,;w=.-x", max_size=30)


@given(HEADER, HEADER, HEADER, HEADER)
def test_any_headers_are_survived(limit: str, policy: str, remaining: str, reset: str) -> None:
    names = ("limit", "policy", "remaining", "reset")
    known = tiers(
        {f"x-ratelimit-{n}": v for n, v in zip(names, (limit, policy, remaining, reset), strict=True)}
    )
    pace = calls_per_s(known)
    assert pace is None or pace > 0
    assert (pause_s(known) or 1.0) >= 1.0
    assert used_up(known) is None or used_up(known).long


ANY = st.recursive(
    st.none() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "errors", "meta", "code", "detail", "loc", "type"]), inner
        )
    ),
    max_leaves=10,
)


@given(st.sampled_from([200, 204, 301, 400, 401, 402, 403, 404, 408, 422, 425, 429, 500, 503]), ANY)
def test_any_body_is_survived(status: int, data: Any) -> None:
    assert error(status, data) is not None or status < 300
