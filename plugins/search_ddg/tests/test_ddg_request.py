from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_search_ddg.request import (
    MAX_QUERY_CHARS,
    accept_language,
    allowed,
    form_fields,
    host_of_filter,
    query_text,
    region_code,
    shorten,
)

from webfetch_core.api import Freshness, SearchRequest


def test_page_one_has_query_blank_b_and_region() -> None:
    assert form_fields(SearchRequest(query=" tide \n gauge "), "wt-wt") == {
        "q": "tide gauge",
        "b": "",
        "kl": "wt-wt",
    }


@pytest.mark.parametrize(
    ("freshness", "df"),
    [(Freshness.REALTIME, "d"), (Freshness.RECENT, "m"), (Freshness.STABLE, None), (None, None)],
)
def test_freshness_is_the_time_filter(freshness: Freshness | None, df: str | None) -> None:
    assert form_fields(SearchRequest(query="x", freshness=freshness), "wt-wt").get("df") == df


@pytest.mark.parametrize(
    ("language", "country", "region"),
    [
        ("de", None, "de-de"),
        ("en", None, "us-en"),
        (None, "GB", "uk-en"),
        (None, "uk", "uk-en"),
        ("pt-BR", None, "br-pt"),
        ("pt_BR", "PT", "pt-pt"),
        ("zh-Hant-TW", None, "tw-tzh"),
        ("ja", None, "jp-jp"),
        ("fr", "CA", "ca-fr"),
        ("de", "CA", "ca-en"),
        ("uk", None, "ua-uk"),
        ("nb", None, "no-no"),
        ("ca", None, "ct-ca"),
        ("sw", None, ""),
        (None, "XX", ""),
        (None, None, ""),
    ],
)
def test_region(language: str | None, country: str | None, region: str) -> None:
    assert region_code(language, country) == region


def test_an_unknown_language_takes_the_setting() -> None:
    assert form_fields(SearchRequest(query="x", language="sw"), "de-de")["kl"] == "de-de"


@pytest.mark.parametrize(
    ("region", "header"),
    [
        ("wt-wt", "en-US,en;q=0.9"),
        ("us-en", "en-US,en;q=0.9"),
        ("uk-en", "en-GB,en;q=0.9"),
        ("de-de", "de-DE,de;q=0.9,en;q=0.5"),
        ("jp-jp", "ja-JP,ja;q=0.9,en;q=0.5"),
    ],
)
def test_accept_language(region: str, header: str) -> None:
    assert accept_language(region) == header


def test_domains_become_operators() -> None:
    assert query_text("tide", ["a.example"]) == "tide site:a.example"
    assert query_text("tide", ["a.example", "www.b.example"]) == "tide (site:a.example OR site:b.example)"
    assert query_text("tide", (), ["a.example", "b.example"]) == "tide -site:a.example -site:b.example"


def test_a_domain_cannot_smuggle_operators() -> None:
    assert query_text("tide", ["a.example OR evil"], ['b" -c']) == "tide"


def test_operators_that_do_not_fit_are_left_out_whole() -> None:
    many = [f"host{i}.example" for i in range(60)]
    assert query_text("tide", many) == "tide"
    assert len(query_text("tide", (), many)) <= MAX_QUERY_CHARS
    assert query_text("tide", (), many).endswith(".example")


def test_a_long_query_is_cut_at_a_word() -> None:
    text = "word " * 200
    assert query_text(text) == ("word " * 100).strip()  # 499 characters, as it happens
    assert query_text("words " * 200) == ("words " * 83).strip()
    assert shorten("水" * 600) == "水" * MAX_QUERY_CHARS


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("!w lake", "w lake"),
        ("\\lake", "lake"),
        ("css !important", "css important"),
        ("a != b", "a != b"),
        ("hi!", "hi!"),
    ],
)
def test_words_that_would_redirect_are_disarmed(query: str, sent: str) -> None:
    assert query_text(query) == sent


@given(
    st.text(max_size=1200),
    st.lists(st.text(max_size=30), max_size=4),
    st.lists(st.text(max_size=30), max_size=4),
)
def test_never_longer_than_the_form_takes(query: str, include: list[str], exclude: list[str]) -> None:
    assert len(query_text(query, include, exclude)) <= MAX_QUERY_CHARS


@pytest.mark.parametrize(
    ("domain", "host"),
    [
        ("a.example", "a.example"),
        ("https://www.A.example/path?x", "a.example"),
        ("*.a.example", "a.example"),
        ("a.example:8080", "a.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("", ""),
        ("no spaces.example", ""),
    ],
)
def test_host_of_filter(domain: str, host: str) -> None:
    assert host_of_filter(domain) == host


def test_filters_hold_for_subdomains_and_not_for_lookalikes() -> None:
    assert allowed("https://docs.a.example/x", ["a.example"], [])
    assert not allowed("https://nota.example/x", ["a.example"], [])
    assert not allowed("https://docs.a.example/x", [], ["www.a.example"])
    assert allowed("https://bücher.example/", ["bücher.example"], [])
    assert not allowed("https://[broken/", ["a.example"], [])
    assert not allowed("https://a.example/", ["not a host"], [])
