"""Every shape of the reply, and then some that no API should send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_search_brave.parse import parse

from webfetch_core.api import BadResponse, SearchHit

CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "inputs"

ROW = {
    "type": "search_result",
    "title": "Reading a Tide Gauge &amp; Its Datum | Quay Log",
    "url": "https://quaylog.example/tide?a=1&b=2",
    "description": "Crews <strong>read</strong> the gauge; drift over 4 mm &#x27;counts&#x27;.",
    "page_age": "2026-09-14T08:31:00",
    "age": "September 14, 2026",
    "profile": {"name": "Quay Log", "url": "https://quaylog.example/"},
    "language": "en",
    "extra_snippets": ["Means &amp; dates.", "Datum <b>shifts</b> are logged.", None, 7],
}


def reply(*rows: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": "search",
        "query": {"original": "x"},
        "web": {"type": "search", "results": list(rows)},
        **more,
    }


def test_a_whole_result() -> None:
    assert parse(reply(ROW)) == [
        SearchHit(
            url="https://quaylog.example/tide?a=1&b=2",
            title="Reading a Tide Gauge & Its Datum | Quay Log",
            snippet="Crews read the gauge; drift over 4 mm 'counts'.",
            published="2026-09-14T08:31:00",
            extra={"site_name": "Quay Log", "language": "en"},
        )
    ]


def test_further_excerpts_follow_when_they_were_asked_for() -> None:
    [hit] = parse(reply(ROW), extra_snippets=True)
    assert hit.snippet == (
        "Crews read the gauge; drift over 4 mm 'counts'. … Means & dates. … Datum shifts are logged."
    )
    [alone] = parse(
        reply({"url": "https://a.example/", "extra_snippets": ["one", "one"]}), extra_snippets=True
    )
    assert alone.snippet == "one"


@pytest.mark.parametrize(
    "data",
    [
        {"type": "search", "query": {"original": "x"}},
        {"type": "search", "query": {"original": "x"}, "web": None},
        {"query": {}, "web": {}},
        {"web": {"results": None}},
        {"web": {"results": []}},
        {"type": "search", "news": {"results": [{"title": "n", "url": "https://n.example/"}]}},
    ],
)
def test_nothing_found(data: Any) -> None:
    assert parse(data) == []


@pytest.mark.parametrize(
    "data",
    [
        *(None, [], "text", 7, {}, {"message": "hello"}, {"web": []}, {"web": "x"}, {"web": {"results": {}}}),
        *(reply({"title": "no URL"}), reply(None, "x"), reply({"url": "/relative"}, {"url": 7})),
    ],
)
def test_another_layout_is_an_error_and_not_empty(data: Any) -> None:
    with pytest.raises(BadResponse, match="Brave's answer"):
        parse(data)


def test_missing_and_odd_fields_cost_a_field_and_not_the_search() -> None:
    rows = [
        {"url": "https://a.example/1", "title": None, "description": None, "page_age": None, "profile": None},
        {"title": "lost"},
        None,
        {
            "url": " HTTPS://b.example/2 ",
            "title": ["x"],
            "description": {"a": 1},
            "page_age": 7,
            "age": "May 2026",
        },
        {"url": "ftp://c.example/"},
        {"url": "", "title": "lost too"},
        {"url": "https://d.example/4", "title": "D", "extra_snippets": "not a list", "profile": "x"},
    ]
    hits = parse(reply(*rows), extra_snippets=True)
    assert [(h.url, h.title, h.snippet, h.published) for h in hits] == [
        ("https://a.example/1", "", "", None),
        ("HTTPS://b.example/2", "", "", None),
        ("https://d.example/4", "D", "", None),
    ]
    assert hits[1].extra == {"age": "May 2026"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["web", "results", "url", "title", "profile", "page_age", "type"]), inner
        )
    ),
    max_leaves=12,
)


@given(JSON, st.booleans())
def test_any_json_gives_hits_or_bad_response(data: Any, extra: bool) -> None:
    for wrapped in (data, reply(data), reply({"url": "https://a.example/", "title": data, "page_age": data})):
        try:
            hits = parse(wrapped, extra_snippets=extra)
        except BadResponse:
            continue
        assert all(isinstance(h.title, str) and h.url.lower().startswith("http") for h in hits)


def test_markup_that_broke_others() -> None:
    folder = CASES / "C017"
    if not folder.is_dir():
        pytest.skip("no shared cases beside the repository")
    hits = parse(json.loads((folder / "response.json").read_text())["json"])
    wanted = json.loads((folder / "expected.json").read_text())["equal"]
    assert [h.title for h in hits] == wanted["titles"]
    assert [h.snippet for h in hits] == wanted["snippets"]


def test_text_with_signs_that_look_like_markup_stays() -> None:
    row = {
        "url": "https://a.example/",
        "title": "Q&amp;A: x &lt; y",
        "description": "if 3 &lt; n &lt; 5 <b>then</b>",
    }
    [hit] = parse(reply(row))
    assert (hit.title, hit.snippet) == ("Q&A: x < y", "if 3 < n < 5 then")


def test_a_url_is_not_read_as_html() -> None:
    url = "https://a.example/buy?item=1&copy=2&lt=3&amp;x=%26"
    assert [hit.url for hit in parse(reply({"url": url}))] == [url]
