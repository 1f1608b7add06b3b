"""Every shape that Exa's results take, and shapes that they should not."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_search_exa.parse import SNIPPET_CHARS, parse

from webfetch_core.api import BadResponse

FULL = {
    "id": "https://loom.example/warp",
    "url": "https://loom.example/warp",
    "title": "Warp tension guide",
    "publishedDate": "2026-08-02T00:00:00.000Z",
    "author": "A weaver",
    "image": "https://loom.example/w.png",
    "favicon": "https://loom.example/f.ico",
    "text": "Start at 180 g. Raise it slowly.",
    "highlights": ["Start at 180 g per end.", "Raise it slowly."],
    "highlightScores": [0.46, 0.4],
    "summary": "How to set tension.",
}


def one(**row: Any) -> Any:
    [hit] = parse({"results": [{"url": "https://loom.example/warp", **row}]})
    return hit


def test_a_full_result() -> None:
    hit = one(**FULL)
    assert (hit.url, hit.title) == ("https://loom.example/warp", "Warp tension guide")
    assert hit.snippet == "Start at 180 g per end. … Raise it slowly."
    assert hit.published == "2026-08-02"
    assert hit.extra == {"id": "https://loom.example/warp", "author": "A weaver"}


def test_the_snippet_is_highlights_else_summary_else_text() -> None:
    assert one(**{**FULL, "highlights": []}).snippet == "How to set tension."
    assert one(**{**FULL, "highlights": None, "summary": ""}).snippet == "Start at 180 g. Raise it slowly."
    assert one(highlights="one passage").snippet == "one passage"
    assert one(highlights=["a", None, 7, "", "b"]).snippet == "a … b"
    assert one().snippet == ""


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
        {"title": None, "publishedDate": None, "author": None, "highlights": None, "text": None},
        {"title": 7, "publishedDate": 1754092800, "author": [], "highlights": {}, "summary": {"a": 1}},
        {},
    ],
)
def test_nulls_odd_types_and_missing_fields_leave_the_address(row: dict[str, Any]) -> None:
    hit = one(**row)
    assert (hit.url, hit.title, hit.snippet, hit.published) == ("https://loom.example/warp", "", "", None)


def test_the_id_stands_in_for_a_missing_address() -> None:
    assert [h.url for h in parse({"results": [{"id": "https://a.example/", "url": None}]})] == [
        "https://a.example/"
    ]


def test_results_without_an_address_are_left_out_and_order_is_kept() -> None:
    rows = [{"url": u} for u in ("https://b.example/", "", None, "ftp://x.example/", "https://a.example/")]
    assert [h.url for h in parse({"results": rows})] == ["https://b.example/", "https://a.example/"]


def test_a_page_comes_once_in_its_best_place() -> None:
    rows = [{"url": "https://a.example/", "title": t} for t in ("first", "second")]
    assert [h.title for h in parse({"results": rows})] == ["first"]


def test_markup_goes_and_entities_are_decoded_once() -> None:
    hit = one(title="Salt &amp; <i>glaze</i>", highlights=["p &lt; 0.05 &amp;amp; more"])
    assert (hit.title, hit.snippet) == ("Salt & glaze", "p < 0.05 &amp; more")


def test_a_score_is_kept_where_there_is_one() -> None:
    assert one(score=0.25).extra == {"score": 0.25}
    assert one(score=True).extra == {} == one(score="0.2").extra


def test_long_passages_are_cut_at_a_word() -> None:
    snippet = one(highlights=["kelp " * 500]).snippet
    assert len(snippet) <= SNIPPET_CHARS and snippet.endswith("kelp…")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*FULL, "results", "score"]), inner),
        max_leaves=20,
    )
)
def test_any_json_is_survived(data: Any) -> None:
    for reply in (data, {"results": [data]}, {"results": [{"url": "https://a.example/", "title": data}]}):
        with suppress(BadResponse):
            assert all(hit.url for hit in parse(reply))


def test_a_url_is_not_read_as_html() -> None:
    url = "https://a.example/buy?item=1&copy=2&lt=3&amp;x=%26"
    hit = one(url=url, id=url)
    assert (hit.url, hit.extra["id"]) == (url, url)
    assert one(url=None, id=url).url == url
