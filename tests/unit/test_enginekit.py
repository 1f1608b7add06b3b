"""Shapes that real APIs send, and what must become of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.enginekit import (
    api_key,
    error_json,
    iso_date,
    plain_text,
    result_rows,
    retry_after_s,
    rows,
    shorten,
    text_at,
    web_url,
    with_sites,
    without_secret,
)
from webfetch_core.errors import AuthFailed, BadResponse, NotConfigured, ProviderError


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("Tides &amp; <b>gauges</b>", "Tides & gauges"),
        ("rated at 5 &lt; p &lt; 9 bar", "rated at 5 < p < 9 bar"),
        ("a < b and c > d", "a < b and c > d"),
        ("&amp;lt;p&amp;gt;", "&lt;p&gt;"),
        ("it&#x27;s\n two\tlines", "it's two lines"),
        ("<!-- no --> yes", "yes"),
        (None, ""),
        (7, ""),
        (["x"], ""),
    ],
)
def test_markup_goes_and_entities_are_decoded_once(given_text: Any, shown: str) -> None:
    assert plain_text(given_text) == shown


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abc"), inner),
)


@given(JSON)
def test_any_json_can_be_looked_into(data: Any) -> None:
    assert all(isinstance(row, dict) for row in rows(data, "a", "b"))
    assert isinstance(text_at(data, "a", "b"), str)


def test_rows_takes_objects_only() -> None:
    assert rows({"web": {"results": [{"u": 1}, None, "x", {"u": 2}]}}, "web", "results") == [
        {"u": 1},
        {"u": 2},
    ]
    assert rows({"web": None}, "web", "results") == []


def test_an_error_body_that_is_no_json_object_is_empty() -> None:
    assert error_json(ProviderError("x", body=b'{"error": "no credits"}')) == {"error": "no credits"}
    assert error_json(ProviderError("x", body=b"<html>")) == {}
    assert error_json(ProviderError("x", body=b"[1]")) == {}
    assert error_json(ProviderError("x", body=b"[" * 200_000)) == {}


def test_site_operators() -> None:
    assert with_sites("tide", (), ()) == "tide"
    assert (
        with_sites("tide", ("a.example",), ("b.example", "c.example"))
        == "tide site:a.example -site:b.example -site:c.example"
    )
    assert with_sites("tide", ("a.example", "b.example"), ()) == "tide (site:a.example OR site:b.example)"


@given(
    st.text("ab ", min_size=1, max_size=30),
    st.lists(st.sampled_from(["x.example", "yy.example"]), max_size=4),
    st.integers(30, 90),
)
def test_operators_never_pass_the_limit_and_never_cut_the_query(
    query: str, domains: list[str], limit: int
) -> None:
    made = with_sites(query, domains[:2], domains[2:], limit=limit)
    assert made.startswith((query, query.strip()))
    assert len(made) <= max(limit, len(query))


def test_results_are_the_objects_of_the_list() -> None:
    row = {"url": "https://a.example/"}
    assert result_rows({"web": {"results": [None, row, {"title": "x"}]}}, "web", "results", service="S") == [
        row,
        {"title": "x"},
    ]
    assert result_rows([row], service="S") == [row]
    assert result_rows({"r": [{"link": "magnet:?xt=1"}]}, "r", service="S", url_fields=("id", "link"))


@pytest.mark.parametrize("data", [{"r": None}, {"r": []}])
def test_no_results_are_no_error(data: Any) -> None:
    assert result_rows(data, "r", service="S") == []


@pytest.mark.parametrize("data", [None, [], "r", 7, {}, {"r": {}}, {"r": "x"}, {"r": 0}])
def test_a_reply_without_a_list_has_another_layout(data: Any) -> None:
    with pytest.raises(BadResponse, match="Acme's answer has another layout: r is no list") as caught:
        result_rows(data, "r", service="Acme", fix="look there")
    assert caught.value.fix == "look there"


@pytest.mark.parametrize(
    "row", [None, "x", {}, {"url": ""}, {"url": 7}, {"url": "/a"}, {"link": "https://a/"}]
)
def test_results_that_all_lack_a_url_have_another_layout(row: Any) -> None:
    with pytest.raises(BadResponse, match="none of its 2 results has a URL"):
        result_rows({"r": [row, row]}, "r", service="Acme")


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/",
        "HTTP://a.example/b?x=1&copy=2&lt=3",
        "https://münchen.example/straße",
        "https://[2001:db8::1]/",
        "http://127.0.0.1:8080",
    ],
)
def test_a_web_url_stays_as_it_is(url: str) -> None:
    assert web_url(f" {url}\n") == url


@pytest.mark.parametrize(
    "value",
    [
        *("", "a.example", "//a.example/", "javascript:alert(1)", "mailto:a@b.example", "ftp://a.example/"),
        *(
            "http://",
            "https:///x",
            "https://[x",
            "https://a b.example/",
            "https://a.example/b\nc",
            5,
            None,
            ["x"],
        ),
    ],
)
def test_what_is_no_web_url(value: Any) -> None:
    assert web_url(value) == ""


@pytest.mark.parametrize(
    ("value", "iso"),
    [
        ("2026-08-02", "2026-08-02"),
        (" 2026-08-02 ", "2026-08-02"),
        ("2026-08-02T00:00:00.000Z", "2026-08-02"),
        ("2026-08-02T00:00:00", "2026-08-02"),
        ("2026-08-02T00:00:00+02:00", "2026-08-02T00:00:00+02:00"),
        ("2026-08-02T09:30:15.250Z", "2026-08-02T09:30:15+00:00"),
        ("2026-08-02 09:30:00", "2026-08-02T09:30:00"),
        ("Tue, 10 Nov 2026 09:00:00 GMT", "2026-11-10T09:00:00+00:00"),
        ("Tue, 10 Nov 2026 09:00:00 +0200", "2026-11-10T09:00:00+02:00"),
        ("10 Nov 2026 00:00:00 -0000", "2026-11-10"),
    ],
)
def test_dates_have_one_form(value: str, iso: str) -> None:
    assert iso_date(value) == iso
    assert iso_date(iso) == iso


@pytest.mark.parametrize(
    "value",
    [
        *("", "2 days ago", "06/11/2026", "June 2026", "2026", "20260802", "1712011231200", "2026-W10-1"),
        *("2026-13-40", "2026-08-02T25:00", "Tue, 40 Nov 2026 09:00:00 GMT", "10 Foo 2026 09:00 GMT"),
        *("9999-12-31T23:30:00-01:00", "Fri, 31 Dec 9999 23:30:00 -0100", "0001-01-01T00:00:00+01:00"),
        *(None, 1_773_685_964, ["2026-08-02"], True),
    ],
)
def test_what_names_no_day_is_no_date(value: Any) -> None:
    assert iso_date(value) is None


@given(st.text(max_size=40) | st.from_regex(r"\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d.{0,8}", fullmatch=True))
def test_any_date_is_survived(text: str) -> None:
    found = iso_date(text)
    assert found is None or iso_date(found) == found


@given(st.text(alphabet="ab é京", max_size=60), st.integers(1, 50), st.sampled_from(["…", ""]))
def test_a_cut_text_fits_and_is_a_beginning(text: str, limit: int, mark: str) -> None:
    cut = shorten(text, limit, mark=mark)
    assert len(cut) <= limit
    assert cut == text or (cut.endswith(mark) and text.startswith(cut.removesuffix(mark)))
    assert cut == text or len(cut) >= limit // 2


def test_texts_are_cut_at_a_word_unless_it_is_long() -> None:
    assert shorten("one two three", 8) == "one two…"
    assert shorten("one two three", 8, mark="") == "one two"
    assert shorten("one two", 7) == "one two"
    assert shorten("x" * 900, 400, mark="") == "x" * 400
    assert shorten("a " + "x" * 900, 10) == "a xxxxxxx…"


def test_a_key_comes_without_the_white_space_around_it() -> None:
    assert api_key({"ACME_API_KEY": " s3cret/+=\r\n"}, "ACME_API_KEY") == "s3cret/+="
    assert api_key({"ACME_API_KEY": "s3cret"}, "ACME_API_KEY", optional=True) == "s3cret"


@pytest.mark.parametrize("environ", [{}, {"ACME_API_KEY": ""}, {"ACME_API_KEY": " \n"}])
def test_a_key_that_is_not_set(environ: dict[str, str]) -> None:
    assert api_key(environ, "ACME_API_KEY", optional=True) == ""
    with pytest.raises(NotConfigured, match="ACME_API_KEY is not set") as caught:
        api_key(environ, "ACME_API_KEY")
    assert caught.value.fix == "set ACME_API_KEY to the key of your account"
    with pytest.raises(NotConfigured, match="of acme"):
        api_key(environ, "ACME_API_KEY", fix="set it to a key of acme.example")


@pytest.mark.parametrize("optional", [True, False])
@pytest.mark.parametrize("key", ["abc\ndef", "abc def", "abc\tdef", "clé-secrète", "“abcdef”", "abc\x00def"])
def test_a_key_that_no_header_takes_is_refused_unseen(key: str, optional: bool) -> None:
    with pytest.raises(AuthFailed, match="ACME_API_KEY has characters") as caught:
        api_key({"ACME_API_KEY": key}, "ACME_API_KEY", optional=optional)
    assert not any(part in str(caught.value) for part in ("abc", "def", "secr"))


def test_a_secret_is_struck_out_of_every_text() -> None:
    key = "a<b&c/d"
    data = {
        "error": f"the key {key} is {key}",
        "url": "https://a.example/?k=a%3Cb%26c%2Fd",
        "html": "<p>a&lt;b&amp;c/d</p>",
        key: [1, None, True, {"deep": (key, 2.5)}],
    }
    assert without_secret(data, f" {key} ") == {
        "error": "the key *** is ***",
        "url": "https://a.example/?k=***",
        "html": "<p>***</p>",
        "***": [1, None, True, {"deep": ["***", 2.5]}],
    }


@pytest.mark.parametrize("secret", ["", "  ", "abc"])
def test_what_is_too_short_for_a_secret_is_not_looked_for(secret: str) -> None:
    assert without_secret({"a": "x  abc"}, secret) == {"a": "x  abc"}


@given(JSON)
def test_any_json_is_struck(data: Any) -> None:
    assert "abcabc" not in json.dumps(without_secret({"x": data, "y": "abcabc"}, "abcabc"))


NOW = 1_800_000_000.0  # 15 January 2027, 08:00:00 UTC


@pytest.mark.parametrize(
    ("value", "wait_s"),
    [
        ("30", 30.0),
        (" 2 ", 2.0),
        ("1.5", 1.5),
        ("Fri, 15 Jan 2027 08:01:00 GMT", 60.0),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0.0),
        ("999999999999", 604800.0),
        *[(odd, None) for odd in ("soon", "-5", "", "٣", "1e3", "Fri, 40 Jan 2027 08:01:00 GMT", "9" * 400)],
    ],
)
def test_the_wait_in_seconds_or_until_a_date(value: str, wait_s: float | None) -> None:
    assert retry_after_s({"retry-after": value}, NOW) == wait_s


def test_the_wait_in_milliseconds_is_exacter() -> None:
    assert retry_after_s({}, NOW) is None
    assert retry_after_s({"retry-after-ms": "1500", "retry-after": "2"}, NOW) == 1.5
    assert retry_after_s({"retry-after-ms": "soon", "retry-after": "2"}, NOW) == 2.0


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_wait_is_survived(exact: str, text: str) -> None:
    found = retry_after_s({"retry-after-ms": exact, "retry-after": text}, NOW)
    assert found is None or 0 <= found <= 604800
