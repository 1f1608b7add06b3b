"""Every shape that Perplexity's results take, and shapes that they should not."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_search_perplexity.parse import SNIPPET_CHARS, parse

from webfetch_core.api import BadResponse

FULL = {
    "title": "Glaze chemistry notes",
    "url": "https://kiln.example/glaze",
    "snippet": "# Glazes\n\nA glaze is a glass. " + "Silica melts with a flux. " * 100,
    "date": "2026-06-11",
    "last_updated": "2026-10-30",
}


def one(**row: Any) -> Any:
    [hit] = parse({"results": [{"url": "https://kiln.example/glaze", **row}]})
    return hit


def test_a_full_result() -> None:
    hit = one(**FULL)
    assert (hit.url, hit.title) == ("https://kiln.example/glaze", "Glaze chemistry notes")
    assert hit.snippet.startswith("# Glazes A glaze is a glass. Silica melts")
    assert len(hit.snippet) <= SNIPPET_CHARS and hit.snippet.endswith("…")
    assert hit.published == "2026-06-11"
    assert hit.extra == {"last_updated": "2026-10-30"}


def test_the_last_change_dates_a_page_without_another_date() -> None:
    assert one(date=None, last_updated="2026-10-30").published == "2026-10-30"
    assert one(date="2026-06-11", last_updated=None).extra == {}


@pytest.mark.parametrize("data", [{"results": None}, {"results": []}, {"results": [[]]}])
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
        {"results": [None, 3, "x", [None]]},
        {"results": [{"url": "/relative"}]},
    ],
)
def test_another_layout_is_an_error_and_not_empty(data: Any) -> None:
    with pytest.raises(BadResponse, match="another layout"):
        parse(data)


def test_lists_in_the_list_are_flattened() -> None:
    grouped = [
        [{"url": "https://a.example/"}],
        [{"url": "https://b.example/"}, {"url": "https://a.example/"}],
    ]
    assert [h.url for h in parse({"results": grouped})] == ["https://a.example/", "https://b.example/"]


@pytest.mark.parametrize(
    "row",
    [
        {"title": None, "snippet": None, "date": None, "last_updated": None},
        {"title": 7, "snippet": ["x"], "date": 20260611, "last_updated": {}},
        {"date": "June 2026"},
        {},
    ],
)
def test_nulls_odd_types_and_missing_fields_leave_the_address(row: dict[str, Any]) -> None:
    hit = one(**row)
    assert (hit.url, hit.title, hit.snippet) == ("https://kiln.example/glaze", "", "")
    assert (hit.published, hit.extra) == (None, {})


def test_results_without_an_address_are_left_out_and_order_is_kept() -> None:
    rows = [{"url": u} for u in ("https://b.example/", "", None, "ftp://x.example/", "https://a.example/")]
    assert [h.url for h in parse({"results": rows})] == ["https://b.example/", "https://a.example/"]


def test_markup_goes_and_entities_are_decoded_once() -> None:
    hit = one(title="Salt &amp; <i>glaze</i>", snippet="p &lt; 0.05 &amp;amp; more")
    assert (hit.title, hit.snippet) == ("Salt & glaze", "p < 0.05 &amp; more")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*FULL, "results"]), inner),
        max_leaves=20,
    )
)
def test_any_json_is_survived(data: Any) -> None:
    for reply in (data, {"results": [data]}, {"results": [{"url": "https://a.example/", "title": data}]}):
        with suppress(BadResponse):
            assert all(hit.url for hit in parse(reply))


def test_a_url_is_not_read_as_html() -> None:
    url = "https://a.example/buy?item=1&copy=2&lt=3&amp;x=%26"
    assert one(url=url).url == url
