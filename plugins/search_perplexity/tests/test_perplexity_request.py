"""What Perplexity is asked for each request and setting."""

from __future__ import annotations

from typing import Any

import pytest
from webfetch_search_perplexity.request import endpoint, search_body
from webfetch_search_perplexity.settings import PerplexitySettings

from webfetch_core.api import Freshness, SearchRequest


def body(settings: dict[str, Any] | None = None, **request: Any) -> dict[str, Any]:
    request.setdefault("query", "ash glaze")
    return search_body(SearchRequest(**request), PerplexitySettings(**(settings or {})))


def test_a_plain_request() -> None:
    assert body() == {"query": "ash glaze", "max_results": 10}


@pytest.mark.parametrize(
    ("freshness", "word"),
    [(Freshness.REALTIME, "day"), (Freshness.RECENT, "month"), (Freshness.STABLE, None), (None, None)],
)
def test_freshness_is_a_word(freshness: Freshness | None, word: str | None) -> None:
    assert body(freshness=freshness).get("search_recency_filter") == word


def test_domains_of_one_kind_are_sent_twenty_at_most() -> None:
    many = tuple(f"d{n}.example" for n in range(25))
    assert body(include_domains=many)["search_domain_filter"] == list(many[:20])
    assert body(exclude_domains=many)["search_domain_filter"] == [f"-{d}" for d in many[:20]]
    assert body(include_domains=("a.example",), exclude_domains=many)["search_domain_filter"] == ["a.example"]


@pytest.mark.parametrize(
    ("language", "sent"),
    [("de", ["de"]), ("pt-BR", ["pt"]), ("ZH_hant", ["zh"]), ("deu", None), ("all", None), ("", None)],
)
def test_a_language_is_an_iso_code(language: str, sent: list[str] | None) -> None:
    assert body(language=language).get("search_language_filter") == sent


@pytest.mark.parametrize(("country", "sent"), [("de", "DE"), ("uk", "GB"), ("USA", None), ("", None)])
def test_a_country_that_is_not_taken_is_left_out(country: str, sent: str | None) -> None:
    assert body(country=country).get("country") == sent


def test_the_request_wins_over_the_settings() -> None:
    own = {"language": "fr", "country": "fr"}
    sent = body(own)
    assert (sent["search_language_filter"], sent["country"]) == (["fr"], "FR")
    sent = body(own, language="de", country="at")
    assert (sent["search_language_filter"], sent["country"]) == (["de"], "AT")


@pytest.mark.parametrize(("limit", "sent"), [(0, 1), (1, 1), (20, 20), (400, 20)])
def test_the_limit_is_within_perplexitys(limit: int, sent: int) -> None:
    assert body(limit=limit)["max_results"] == sent


def test_other_settings() -> None:
    sent = body({"search_type": "fast", "search_mode": "academic", "search_context_size": "low"})
    assert (sent["search_type"], sent["search_mode"], sent["search_context_size"]) == (
        "fast",
        "academic",
        "low",
    )


@pytest.mark.parametrize("base", ["https://g.example", "https://g.example/", "https://g.example/search"])
def test_the_address(base: str) -> None:
    assert endpoint(base) == "https://g.example/search"


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": ""},
        {"base_url": "api.perplexity.ai"},
        {"base_url": "https://api.perplexity.ai/?x=1"},
        {"search_type": "slow"},
        {"search_mode": "news"},
        {"search_context_size": "huge"},
        {"language": "german"},
        {"country": "USA"},
        {"calls_per_s": -1.0},
    ],
)
def test_a_wrong_setting_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}'"):
        PerplexitySettings(**wrong)
