"""What an instance is asked for each request and setting."""

from __future__ import annotations

from typing import Any

import pytest
from webfetch_search_searxng.request import accept_language, endpoint, plain_query, search_fields
from webfetch_search_searxng.settings import SearxngSettings

from webfetch_core.api import Freshness, SearchRequest


def fields(settings: dict[str, Any] | None = None, **request: Any) -> dict[str, str]:
    request.setdefault("query", "kelp yield")
    return search_fields(SearchRequest(**request), SearxngSettings(**(settings or {})))


def test_a_plain_request() -> None:
    assert fields() == {"q": "kelp yield", "format": "json", "pageno": "1"}


@pytest.mark.parametrize(
    ("freshness", "word"),
    [(Freshness.REALTIME, "day"), (Freshness.RECENT, "month"), (Freshness.STABLE, None), (None, None)],
)
def test_freshness_is_a_word(freshness: Freshness | None, word: str | None) -> None:
    assert fields(freshness=freshness).get("time_range") == word


def test_domains_are_operators_as_far_as_they_fit() -> None:
    sent = fields(include_domains=("a.example", "b.example"), exclude_domains=("c.example",))["q"]
    assert sent == "kelp yield (site:a.example OR site:b.example) -site:c.example"
    many = tuple(f"d{n}.example" for n in range(100))
    assert fields(include_domains=many)["q"] == "kelp yield"
    assert len(fields(exclude_domains=many)["q"]) <= 500


@pytest.mark.parametrize(
    ("language", "country", "sent"),
    [
        ("de", None, "de"),
        ("DE", "at", "de-AT"),
        ("pt-BR", None, "pt-BR"),
        ("pt_br", "pt", "pt-PT"),
        ("zh-Hant-TW", None, "zh-TW"),
        ("zh-Hans", None, "zh"),
        ("en", "uk", "en-GB"),
        ("en", "USA", "en"),
        ("all", "de", "all"),
        (None, "de", None),
        ("klingon", None, None),
        ("", "", None),
    ],
)
def test_the_language_has_the_form_that_instances_take(
    language: str | None, country: str | None, sent: str | None
) -> None:
    assert fields(language=language, country=country).get("language") == sent


def test_the_request_wins_over_the_settings() -> None:
    own = {"language": "fr", "country": "ca"}
    assert fields(own)["language"] == "fr-CA"
    assert fields(own, country="be")["language"] == "fr-BE"
    assert fields(own, language="nl-BE")["language"] == "nl-BE"
    assert fields({"language": "auto"})["language"] == "auto"
    assert fields({"language": "auto"}, language="de")["language"] == "de"


@pytest.mark.parametrize(("word", "number"), [("off", "0"), ("moderate", "1"), ("strict", "2"), ("", None)])
def test_safe_search(word: str, number: str | None) -> None:
    assert fields({"safe_search": word}).get("safesearch") == number


def test_categories_and_engines() -> None:
    sent = fields({"categories": ("general", "news"), "engines": ("mojeek", "bing news")})
    assert (sent["categories"], sent["engines"]) == ("general,news", "mojeek,bing news")


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        ("css !important", "css important"),
        ("!!g tide", "g tide"),
        (":fr marée", "fr marée"),
        ("p <850 bar", "p 850 bar"),
        ("a:b wow! 3 < 4 x!y", "a:b wow! 3 < 4 x!y"),
        ("site:a.example -tide", "site:a.example -tide"),
    ],
)
def test_a_query_is_no_command(query: str, plain: str) -> None:
    assert plain_query(query) == plain


@pytest.mark.parametrize(
    ("tag", "header"), [("", "en"), ("all", "en"), ("de", "de"), ("de-AT", "de-AT,de;q=0.9")]
)
def test_a_language_is_always_accepted(tag: str, header: str) -> None:
    assert accept_language(tag) == header


@pytest.mark.parametrize("base", ["http://s.lan:8080", "http://s.lan:8080/", "http://s.lan:8080/search"])
def test_the_address(base: str) -> None:
    assert endpoint(base) == "http://s.lan:8080/search"


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "searx.example.org"},
        {"base_url": "https://searx.example.org/search?q=<query>"},
        {"base_url": "https://[x"},
        {"language": "german"},
        {"country": "USA"},
        {"safe_search": "on"},
        {"categories": ("general,news",)},
        {"engines": (" ",)},
        {"api_key_header": "X Key"},
        {"calls_per_s": -1.0},
    ],
)
def test_a_wrong_setting_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}'"):
        SearxngSettings(**wrong)
