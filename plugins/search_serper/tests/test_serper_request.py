from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_search_serper.locales import google_country, google_language
from webfetch_search_serper.refusal import refusal
from webfetch_search_serper.request import body_of, endpoint
from webfetch_search_serper.settings import SerperSettings

from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    BadResponse,
    Freshness,
    QuotaExceeded,
    RateLimited,
    SearchRequest,
)


def sent(settings: SerperSettings | None = None, **fields: Any) -> dict[str, Any]:
    fields.setdefault("query", "quill codec")
    return body_of(SearchRequest(**fields), settings or SerperSettings())


def test_a_plain_request_is_the_query_alone() -> None:
    assert sent(limit=50) == {"q": "quill codec"}  # a number of results costs a second credit


def test_filters() -> None:
    everything = sent(
        SerperSettings(safe_search="active", country="us", language="en"),
        freshness=Freshness.REALTIME,
        include_domains=("a.example", "b.example"),
        exclude_domains=("c.example",),
        language="pt_BR",
        country="UK",
    )
    assert everything == {
        "q": "quill codec (site:a.example OR site:b.example) -site:c.example",
        "gl": "gb",
        "hl": "pt-br",
        "tbs": "qdr:d",
        "safe": "active",
    }
    assert sent(freshness=Freshness.RECENT)["tbs"] == "qdr:m"
    assert "tbs" not in sent(freshness=Freshness.STABLE)
    assert len(sent(include_domains=tuple(f"h{n}.example" for n in range(300)))["q"]) <= 2_048


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("de", "de"),
        ("de-AT", "de"),
        ("en-GB", "en-gb"),
        ("zh-Hant-TW", "zh-tw"),
        ("zh", "zh-cn"),
        ("he", "iw"),
        ("no", "no"),
        ("nb", "no"),
        ("es-419", "es-419"),
        ("deutsch", ""),
        ("ж", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_languages_are_googles_own(tag: str | None, code: str) -> None:
    assert google_language(tag) == code


@pytest.mark.parametrize(
    ("country", "code"), [("DE", "de"), ("uk", "gb"), ("DEU", ""), ("d1", ""), ("", ""), (None, "")]
)
def test_countries_are_two_letters(country: str | None, code: str) -> None:
    assert google_country(country) == code


@pytest.mark.parametrize("base_url", ["https://g.example", "https://g.example/", "https://g.example/search"])
def test_the_base_url_may_be_given_in_full(base_url: str) -> None:
    assert endpoint(base_url) == "https://g.example/search"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_url", "google.serper.dev"),
        ("base_url", "http://[x"),
        ("country", "Germany"),
        ("language", "deutsch"),
        ("safe_search", "strict"),
        ("calls_per_s", -1.0),
    ],
)
def test_a_wrong_setting_is_named(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=field):
        SerperSettings(**{field: value})


@pytest.mark.parametrize(
    ("status", "data", "kind"),
    [
        (403, {"message": "Unauthorized.", "statusCode": 403}, AuthFailed),
        (401, {}, AuthFailed),
        (403, None, AuthFailed),
        (400, {"message": "Not enough credits", "statusCode": 400}, QuotaExceeded),
        (402, {}, QuotaExceeded),
        (400, {"message": "Missing query parameter", "statusCode": 400}, BadQuery),
        (400, {"message": "The query credit card is refused"}, BadQuery),
        (422, {"error": {"message": "q is no text"}}, BadQuery),
        (400, None, BadQuery),
        (429, {"message": "Too many requests"}, RateLimited),
        (200, {"message": "Not enough credits", "statusCode": 400}, QuotaExceeded),
        (200, {"error": "Your account has run out of searches."}, QuotaExceeded),
        (200, {"error": "Invalid API key"}, AuthFailed),
        (200, {"error": {"message": "Too many requests"}}, RateLimited),
        (200, {"error": {"code": 9}}, BadResponse),
        (200, {"message": "hello"}, BadResponse),
    ],
)
def test_the_message_decides_then_the_status(status: int, data: Any, kind: type[Exception]) -> None:
    found = refusal(status, data)
    assert type(found) is kind
    assert "Serper answered" in str(found)


@pytest.mark.parametrize(
    ("status", "data"),
    [(200, {"organic": [], "message": "fine"}), (200, {}), (500, {"message": "credit"}), (301, None)],
)
def test_what_is_left_to_the_status(status: int, data: Any) -> None:
    assert refusal(status, data) is None


ANY = st.recursive(
    st.none() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "message", "organic", "detail"]), inner)
    ),
    max_leaves=10,
)


@given(st.sampled_from([200, 301, 400, 401, 403, 404, 429, 500]), ANY)
def test_any_body_is_survived(status: int, data: Any) -> None:
    assert refusal(status, data) is not None or status not in (400, 401, 403, 429)
