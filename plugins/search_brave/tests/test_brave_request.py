from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_search_brave.locales import COUNTRIES, LANGUAGES, country_code, search_lang
from webfetch_search_brave.request import endpoint, params_of, query_text
from webfetch_search_brave.settings import BraveSettings

from webfetch_core.api import Freshness, SearchRequest


def sent(settings: BraveSettings | None = None, **fields: Any) -> dict[str, Any]:
    fields.setdefault("query", "tide gauge")
    all_of_them = params_of(SearchRequest(**fields), settings or BraveSettings())
    return {name: value for name, value in all_of_them.items() if value is not None}


def test_a_plain_request() -> None:
    assert sent() == {
        "q": "tide gauge",
        "count": 10,
        "safesearch": "moderate",
        "result_filter": "web",
        "text_decorations": False,
    }


@pytest.mark.parametrize(
    ("freshness", "value"),
    [(None, None), (Freshness.STABLE, None), (Freshness.RECENT, "pm"), (Freshness.REALTIME, "pd")],
)
def test_freshness_becomes_a_window(freshness: Freshness | None, value: str | None) -> None:
    assert sent(freshness=freshness).get("freshness") == value


def test_settings_fill_in_what_the_request_leaves_open() -> None:
    own = BraveSettings(country="de", language="pt-PT", safe_search="strict", extra_snippets=True)
    assert {
        "country": "DE",
        "search_lang": "pt-pt",
        "safesearch": "strict",
        "extra_snippets": True,
    }.items() <= (sent(own).items())
    asked = sent(own, country="jp", language="ja")
    assert (asked["country"], asked["search_lang"]) == ("JP", "jp")
    assert sent(own, language="tlh")["search_lang"] == "pt-pt"


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("ja", "jp"),
        ("zh", "zh-hans"),
        ("zh-TW", "zh-hant"),
        ("zh_Hant_HK", "zh-hant"),
        ("zh-CN", "zh-hans"),
        ("en-GB", "en-gb"),
        ("en-AU", "en"),
        ("pt", "pt-br"),
        ("pt-PT", "pt-pt"),
        ("no", "nb"),
        ("de-AT-1996", "de"),
        ("tlh", ""),
        ("-", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_languages_are_braves_own(tag: str | None, code: str) -> None:
    assert search_lang(tag) == code


@pytest.mark.parametrize(
    ("country", "code"),
    [("de", "DE"), ("UK", "GB"), ("all", "ALL"), ("GR", "ALL"), ("USA", "ALL"), ("", ""), (None, "")],
)
def test_a_country_that_brave_lacks_is_the_world(country: str | None, code: str) -> None:
    assert country_code(country) == code


@given(st.text(max_size=12), st.text(max_size=6))
def test_nothing_outside_the_closed_lists_is_sent(language: str, country: str) -> None:
    assert search_lang(language) in LANGUAGES | {""}
    assert country_code(country) in COUNTRIES | {""}


def test_domains_become_operators() -> None:
    assert query_text("tide", ("a.example",), ()) == "tide site:a.example"
    assert query_text("tide", ("a.example", "b.example"), ("c.example",)) == (
        "tide (site:a.example OR site:b.example) -site:c.example"
    )


WORDS = st.lists(st.text(alphabet="abcdé京-\"'", min_size=1, max_size=60), min_size=1, max_size=80)
HOSTS = st.lists(st.integers(0, 10**9).map(lambda n: f"h{n}.example"), max_size=60, unique=True)


@given(WORDS, HOSTS, HOSTS)
def test_the_query_keeps_to_both_limits_and_to_whole_include_lists(
    words: list[str], include: list[str], exclude: list[str]
) -> None:
    text = query_text(" ".join(words), include, exclude)
    assert 1 <= len(text) <= 400
    assert len(text.split()) <= 50
    assert text.startswith(words[0][:400])
    written = [host for host in include if f"site:{host}" in text.replace("-site:", "")]
    assert written in ([], include)


def test_the_words_of_the_question_come_before_the_operators() -> None:
    question = " ".join(f"w{n}" for n in range(70))
    assert query_text(question, ("a.example",), ("b.example",)) == " ".join(f"w{n}" for n in range(50))
    assert query_text("x" * 900) == "x" * 400
    assert query_text("sediment " * 70) == " ".join(["sediment"] * 44)


@pytest.mark.parametrize(
    "base_url",
    ["https://g.example/res/v1", "https://g.example/res/v1/", "https://g.example/res/v1/web/search"],
)
def test_the_base_url_may_be_given_in_full(base_url: str) -> None:
    assert endpoint(base_url) == "https://g.example/res/v1/web/search"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_url", "api.search.brave.com"),
        ("base_url", "http://[x"),
        ("country", "Germany"),
        ("language", "klingon"),
        ("safe_search", "on"),
        ("calls_per_s", -1.0),
    ],
)
def test_a_wrong_setting_is_named(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=field):
        BraveSettings(**{field: value})
