"""Every shape of the reply, and then some that no API should send."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_search_tavily.parse import parse

from webfetch_core.api import BadResponse, SearchHit

ROW = {
    "url": "https://fen.example/census",
    "title": "Otter census &amp; map",
    "content": "Counts rose to 412 <b>adults</b> [...] within 5 &lt; n km",
    "score": 0.8731,
    "raw_content": None,
    "published_date": "Tue, 10 Nov 2026 09:00:00 GMT",
    "favicon": "https://fen.example/f.ico",
}


def reply(*rows: Any, **more: Any) -> dict[str, Any]:
    beside = {
        "query": "x",
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "response_time": "1.21",
    }
    return {**beside, "results": list(rows), **more}


def test_a_whole_result() -> None:
    assert parse(reply(ROW, answer="412", images=[{"url": "https://fen.example/i.png"}])) == [
        SearchHit(
            url="https://fen.example/census",
            title="Otter census & map",
            snippet="Counts rose to 412 adults [...] within 5 < n km",
            published="2026-11-10T09:00:00+00:00",
            extra={"score": 0.8731},
        )
    ]


@pytest.mark.parametrize("data", [reply(), {"results": []}, {"results": None}])
def test_nothing_found(data: Any) -> None:
    assert parse(data) == []


@pytest.mark.parametrize(
    "data",
    [
        *(None, [], "text", 7, {}, {"query": "x"}, {"results": {}}, {"results": "x"}),
        *(reply({"title": "no URL"}), reply(None), reply({"url": "/relative"}, {"url": 7})),
    ],
)
def test_another_layout_is_an_error_and_not_empty(data: Any) -> None:
    with pytest.raises(BadResponse, match="Tavily's answer"):
        parse(data)


def test_missing_and_odd_fields_cost_a_field_and_not_the_search() -> None:
    rows = [
        {"url": "https://a.example/1", "title": None, "content": None, "score": None, "published_date": None},
        {"title": "lost"},
        None,
        {"url": " https://b.example/2 ", "title": ["x"], "content": 7, "score": "high", "published_date": 7},
        {"url": ""},
        {"url": "https://d.example/4", "score": float("nan"), "published_date": "last week"},
        {"url": "https://e.example/5", "score": True},
    ]
    assert parse(reply(*rows)) == [
        SearchHit(url="https://a.example/1"),
        SearchHit(url="https://b.example/2"),
        SearchHit(url="https://d.example/4", extra={"date": "last week"}),
        SearchHit(url="https://e.example/5"),
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["results", "url", "title", "score", "published_date"]), inner)
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_gives_hits_or_bad_response(data: Any) -> None:
    for wrapped in (
        data,
        reply(data),
        reply({"url": "https://a.example/", "published_date": data, "score": data}),
    ):
        try:
            hits = parse(wrapped)
        except BadResponse:
            continue
        assert all(isinstance(h.title, str) and h.url.startswith("http") for h in hits)


def test_a_url_is_not_read_as_html() -> None:
    url = "https://a.example/buy?item=1&copy=2&lt=3&amp;x=%26"
    assert [hit.url for hit in parse(reply({"url": url}))] == [url]
