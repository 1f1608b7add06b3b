"""What Exa is asked for each request and setting."""

from __future__ import annotations

from typing import Any

import pytest
from webfetch_search_exa.request import endpoint, search_body
from webfetch_search_exa.settings import ExaSettings

from webfetch_core.api import Freshness, SearchRequest

NOW = 1_796_025_600.0  # 2026-11-30T08:00:00Z


def body(settings: dict[str, Any] | None = None, **request: Any) -> dict[str, Any]:
    request.setdefault("query", "warp tension")
    return search_body(SearchRequest(**request), ExaSettings(**(settings or {})), NOW)


def test_a_plain_request() -> None:
    assert body() == {
        "query": "warp tension",
        "type": "auto",
        "numResults": 10,
        "contents": {"highlights": {"maxCharacters": 1000}},
    }


@pytest.mark.parametrize(
    ("freshness", "since"),
    [
        (Freshness.REALTIME, "2026-11-29T08:00:00.000Z"),
        (Freshness.RECENT, "2026-10-31T08:00:00.000Z"),
        (Freshness.STABLE, None),
        (None, None),
    ],
)
def test_freshness_is_a_date(freshness: Freshness | None, since: str | None) -> None:
    assert body(freshness=freshness).get("startPublishedDate") == since


def test_one_list_of_domains_is_sent() -> None:
    assert body(include_domains=("a.example", "b.example"))["includeDomains"] == ["a.example", "b.example"]
    assert body(exclude_domains=("c.example",))["excludeDomains"] == ["c.example"]
    both = body(include_domains=("a.example",), exclude_domains=("b.a.example",))
    assert both["includeDomains"] == ["a.example"] and "excludeDomains" not in both


@pytest.mark.parametrize(
    ("country", "sent"), [("de", "DE"), ("UK", "GB"), ("USA", None), ("", None), ("1x", None), (None, None)]
)
def test_a_country_that_exa_does_not_take_is_left_out(country: str | None, sent: str | None) -> None:
    assert body(country=country).get("userLocation") == sent


def test_the_requests_country_wins_over_the_setting() -> None:
    assert body({"country": "fr"})["userLocation"] == "FR"
    assert body({"country": "fr"}, country="at")["userLocation"] == "AT"


def test_a_language_is_never_sent() -> None:
    assert body(language="de") == body()


@pytest.mark.parametrize(("limit", "sent"), [(0, 1), (1, 1), (37, 37), (400, 100)])
def test_the_limit_is_within_exas(limit: int, sent: int) -> None:
    assert body(limit=limit)["numResults"] == sent


def test_contents_by_setting() -> None:
    assert body({"contents": "text"})["contents"] == {"text": {"maxCharacters": 1000}}
    assert body({"contents": "summary"})["contents"] == {"summary": True}
    assert "contents" not in body({"contents": "none", "max_age_hours": 3})
    assert body({"max_age_hours": 0})["contents"]["maxAgeHours"] == 0


def test_other_settings() -> None:
    sent = body({"search_type": "deep-lite", "category": "news", "moderation": True})
    assert (sent["type"], sent["category"], sent["moderation"]) == ("deep-lite", "news", True)


@pytest.mark.parametrize("base", ["https://g.example", "https://g.example/", "https://g.example/search"])
def test_the_address(base: str) -> None:
    assert endpoint(base) == "https://g.example/search"


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": ""},
        {"base_url": "api.exa.ai"},
        {"base_url": "https://api.exa.ai/?x=1"},
        {"base_url": "https://[x"},
        {"search_type": "Auto!"},
        {"contents": "everything"},
        {"max_age_hours": -2},
        {"country": "USA"},
        {"calls_per_s": -1.0},
    ],
)
def test_a_wrong_setting_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}'"):
        ExaSettings(**wrong)
