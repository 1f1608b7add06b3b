"""Every shape that SearXNG's results take, of old versions and new, and shapes that they should not."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_search_searxng.parse import SNIPPET_CHARS, parse
from webfetch_search_searxng.verdict import unresponsive

from webfetch_core.api import BadResponse

FULL = {
    "url": "https://kelp.example/yield",
    "engine": "brave",
    "parsed_url": ["https", "kelp.example", "/yield", "", "", ""],
    "template": "default.html",
    "title": "Kelp farm yield tables",
    "content": "Average wet yield per metre of line.",
    "thumbnail": "",
    "publishedDate": "2026-10-02T00:00:00",
    "pubdate": "2026-10-02 00:00:00",
    "length": None,
    "engines": ["brave", "mojeek"],
    "positions": [1, 3],
    "score": 2.6666,
    "category": "general",
}


def one(**row: Any) -> Any:
    [hit] = parse({"results": [{"url": "https://kelp.example/yield", **row}]})
    return hit


def test_a_full_result() -> None:
    hit = one(**FULL)
    assert (hit.url, hit.title) == ("https://kelp.example/yield", "Kelp farm yield tables")
    assert hit.snippet == "Average wet yield per metre of line."
    assert hit.published == "2026-10-02"
    assert hit.extra == {"engines": ["brave", "mojeek"], "score": 2.6666, "category": "general"}


@pytest.mark.parametrize("more", [{}, {"number_of_results": 0}, {"number_of_results": 731}])
def test_the_number_of_results_does_not_matter(more: dict[str, Any]) -> None:
    assert len(parse({"results": [FULL], **more})) == 1


def test_a_result_of_one_engine() -> None:
    assert one(engine="bing").extra == {"engines": ["bing"]}
    assert one(engine="bing", engines=[]).extra == {"engines": ["bing"]}
    assert one(pubdate="2026-10-02 09:30:00").published == "2026-10-02T09:30:00"


def test_answers_of_both_kinds_and_info_boxes_follow_the_results() -> None:
    data = {
        "results": [FULL],
        "answers": [
            "Kelp grows up to 50 cm a day.",
            {"url": None, "engine": "duckduckgo", "answer": "Half a metre a day."},
            {"url": "https://ocean.example/kelp", "engine": "duckduckgo", "answer": "Up to 50 cm a day."},
            {"url": "https://kelp.example/yield", "answer": "It came before."},
        ],
        "infoboxes": [
            {
                "infobox": "Kelp",
                "id": "https://wiki.example/Kelp",
                "content": "A brown alga.",
                "engine": "wikidata",
            },
            {"infobox": "Kelp", "id": "Q1", "content": "No page."},
        ],
    }
    assert [(h.url, h.title, h.snippet) for h in parse(data)[1:]] == [
        ("https://ocean.example/kelp", "duckduckgo", "Up to 50 cm a day."),
        ("https://wiki.example/Kelp", "Kelp", "A brown alga."),
    ]


@pytest.mark.parametrize("data", [{"results": None}, {"results": []}])
def test_nothing_found(data: Any) -> None:
    assert parse(data) == []


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "x",
        7,
        {},
        {"results": {}},
        {"results": [None, 3, "x", []]},
        {"results": [{"url": "/relative"}]},
    ],
)
def test_another_layout_is_an_error_and_not_empty(data: Any) -> None:
    with pytest.raises(BadResponse, match="another layout"):
        parse(data)


@pytest.mark.parametrize(
    "row",
    [
        {name: None for name in FULL if name != "url"},
        {"title": 7, "content": ["x"], "publishedDate": {}, "engines": "bing", "score": "2", "category": 5},
        {"publishedDate": "yesterday", "score": True},
        {},
    ],
)
def test_nulls_odd_types_and_missing_fields_leave_the_address(row: dict[str, Any]) -> None:
    hit = one(**row)
    assert (hit.url, hit.title, hit.snippet) == ("https://kelp.example/yield", "", "")
    assert (hit.published, hit.extra) == (None, {})


def test_results_without_a_web_address_are_left_out_and_order_is_kept() -> None:
    links = (
        "https://b.example/",
        "",
        None,
        "magnet:?xt=urn:btih:0",
        "https://a.example/",
        "https://b.example/",
    )
    assert [h.url for h in parse({"results": [{"url": u} for u in links]})] == [
        "https://b.example/",
        "https://a.example/",
    ]


def test_markup_goes_and_entities_are_decoded_once() -> None:
    hit = one(title="Salt &amp; <i>kelp</i>", content="p &lt; 0.05 &amp;amp; more")
    assert (hit.title, hit.snippet) == ("Salt & kelp", "p < 0.05 &amp; more")


def test_long_texts_are_cut_at_a_word() -> None:
    snippet = one(content="kelp " * 500).snippet
    assert len(snippet) <= SNIPPET_CHARS and snippet.endswith("kelp…")


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        (
            [["google", "Suspended: CAPTCHA"], ["qwant", "timeout"]],
            {"google": "Suspended: CAPTCHA", "qwant": "timeout"},
        ),
        ([["google"], "bing", ["x", None], [None, "y"], [], {}, 5], {"google": "", "bing": "", "x": ""}),
        (None, {}),
        ("google", {}),
        ({"google": "timeout"}, {}),
    ],
)
def test_engines_that_did_not_answer(listed: Any, found: dict[str, str]) -> None:
    assert unresponsive({"unresponsive_engines": listed}) == found


_NAMES = [*FULL, "results", "answers", "infoboxes", "id", "answer", "unresponsive_engines"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(_NAMES), inner),
        max_leaves=20,
    )
)
def test_any_json_is_survived(data: Any) -> None:
    for reply in (data, {"results": [data]}, {"results": [{"url": "https://a.example/", "title": data}]}):
        with suppress(BadResponse):
            assert all(hit.url for hit in parse(reply))
        assert isinstance(unresponsive(reply), dict)


def test_a_url_is_not_read_as_html() -> None:
    url = "https://a.example/buy?item=1&copy=2&lt=3&amp;x=%26"
    data = {
        "results": [{"url": url}],
        "answers": [{"url": f"{url}#answer"}],
        "infoboxes": [{"id": f"{url}#box"}],
    }
    assert [hit.url for hit in parse(data)] == [url, f"{url}#answer", f"{url}#box"]
