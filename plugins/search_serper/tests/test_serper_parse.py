"""Every shape of the reply, and then some that no API should send."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_search_serper.parse import answer_of
from webfetch_search_serper.parse import parse as parse_at

from webfetch_core.api import BadResponse, SearchHit

CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "inputs"
NOW = datetime(2026, 11, 30, tzinfo=UTC)

ONE = {
    "title": "Charter &amp; votes",
    "link": "https://quill.example/charter",
    "snippet": "Three <b>are</b> elected ...",
    "date": "5 days ago",
    "position": 1,
    "sitelinks": [{"title": "x", "link": "https://quill.example/x"}],
}
TWO = {"title": "Quill 2.1", "link": "https://news.example/quill", "position": 2, "date": "vor 3 Tagen"}
BOX = {
    "title": "Quill codec",
    "answer": "The Quill Group",
    "snippet": "Maintained by\nthe Quill Group.",
    "link": "https://quill.example/about",
    "date": "Nov 3, 2026",
}
PANEL = {
    "title": "Quill",
    "type": "Audio codec",
    "website": "https://quill.example/",
    "description": "A <i>codec</i>.",
    "attributes": {"License": "BSD"},
}
STORY = {"title": "Quill wins", "link": "https://wire.example/q", "source": "Wire", "date": "2 hours ago"}


def parse(data: Any) -> list[SearchHit]:
    return parse_at(data, now=NOW)


def reply(*organic: Any, **beside: Any) -> dict[str, Any]:
    return {"searchParameters": {"q": "quill"}, "organic": list(organic), "credits": 1, **beside}


def test_organic_results() -> None:
    assert parse(reply(ONE, TWO)) == [
        SearchHit(
            url="https://quill.example/charter",
            title="Charter & votes",
            snippet="Three are elected ...",
            published="2026-11-25",
        ),
        SearchHit(url="https://news.example/quill", title="Quill 2.1", extra={"date": "vor 3 Tagen"}),
    ]


def test_a_featured_snippets_page_is_the_first_hit() -> None:
    hits = parse(reply(ONE, TWO, answerBox=BOX))
    assert [h.url for h in hits] == [BOX["link"], ONE["link"], TWO["link"]]
    assert hits[0] == SearchHit(
        url="https://quill.example/about",
        title="Quill codec",
        snippet="Maintained by the Quill Group.",
        published="2026-11-03",
        extra={"place": "answer_box", "answer": "The Quill Group"},
    )
    assert all("answer" not in h.extra for h in hits[1:])


def test_a_page_is_listed_once() -> None:
    hits = parse(reply(ONE, {**ONE, "title": "again"}, answerBox={**BOX, "link": ONE["link"]}))
    assert [(h.url, h.title) for h in hits] == [(ONE["link"], "Quill codec")]


def test_an_answer_without_a_page_is_kept_with_the_first_hit() -> None:
    hits = parse(reply(ONE, TWO, answerBox={"answer": "6 &times; 7 = 42"}, knowledgeGraph=PANEL))
    assert hits[0].url == ONE["link"]
    assert hits[0].extra == {
        "answer": "6 × 7 = 42",
        "knowledge_graph": {
            "title": "Quill",
            "type": "Audio codec",
            "description": "A codec.",
            "website": "https://quill.example/",
        },
    }
    assert "answer" not in hits[1].extra


@pytest.mark.parametrize(
    ("box", "answer"),
    [
        ({"answer": "a", "snippet": "b"}, "a"),
        ({"snippet": "b"}, "b"),
        ({"snippetHighlighted": ["c", "d", None]}, "c d"),
        ({"snippetHighlighted": "e"}, "e"),
        ({"title": "t"}, None),
        ({}, None),
        (None, None),
        ("x", None),
        ([1], None),
    ],
)
def test_the_three_forms_of_an_answer(box: Any, answer: str | None) -> None:
    assert answer_of({"answerBox": box}).get("answer") == answer


def test_top_stories_follow_and_advertisements_do_not() -> None:
    ad = {"title": "Buy", "link": "https://shop.example/"}
    asked = {"question": "?", "link": "https://faq.example/"}
    hits = parse(
        reply(ONE, topStories=[STORY], ads=[ad], peopleAlsoAsk=[asked], relatedSearches=[{"query": "q"}])
    )
    assert [h.url for h in hits] == [ONE["link"], STORY["link"]]
    assert hits[1].extra == {"place": "top_stories", "source": "Wire"}
    assert hits[1].published == "2026-11-29"


@pytest.mark.parametrize(
    "data",
    [
        *(reply(), {"organic": []}, {"organic": None, "credits": 1}, {"searchParameters": {"q": "x"}}),
        *({"answerBox": {"answer": "42"}, "organic": []}, {"knowledgeGraph": PANEL}),
    ],
)
def test_nothing_found(data: Any) -> None:
    assert parse(data) == []


@pytest.mark.parametrize(
    "data",
    [
        *(None, [], "text", 7, {}, {"results": []}, {"organic": {}}, {"organic": "x"}),
        *(reply({"title": "no link"}), reply(None), reply({"link": "/relative"}, {"link": 7})),
    ],
)
def test_another_layout_is_an_error_and_not_empty(data: Any) -> None:
    with pytest.raises(BadResponse, match="Serper's answer"):
        parse(data)


def test_missing_and_odd_fields_cost_a_field_and_not_the_search() -> None:
    rows = [
        {"link": "https://a.example/1", "title": None, "snippet": None, "date": None, "position": None},
        {"title": "lost"},
        None,
        {"link": " https://b.example/2 ", "title": ["x"], "snippet": 7, "date": {"a": 1}},
        {"link": ""},
        {"link": "/relative"},
    ]
    assert parse(reply(*rows)) == [SearchHit(url="https://a.example/1"), SearchHit(url="https://b.example/2")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["organic", "answerBox", "link", "title", "date", "answer"]), inner)
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_gives_hits_or_bad_response(data: Any) -> None:
    for wrapped in (data, reply(data), reply({"link": "https://a.example/", "date": data}, answerBox=data)):
        try:
            hits = parse(wrapped)
        except BadResponse:
            continue
        assert all(isinstance(h.title, str) and h.url.startswith("http") for h in hits)


def test_partial_rows_that_broke_others() -> None:
    folder = CASES / "C015"
    if not folder.is_dir():
        pytest.skip("no shared cases beside the repository")
    hits = parse(json.loads((folder / "response.json").read_text())["json"])
    wanted = json.loads((folder / "expected.json").read_text())["equal"]
    assert [h.url for h in hits] == wanted["urls"]
    assert [h.snippet for h in hits] == wanted["snippets"]


def test_a_url_is_not_read_as_html() -> None:
    url = "https://a.example/buy?item=1&copy=2&lt=3&amp;x=%26"
    box, story = {**BOX, "link": f"{url}#box"}, {**STORY, "link": f"{url}#story"}
    hits = parse(
        reply({"link": url}, answerBox=box, topStories=[story], knowledgeGraph={**PANEL, "website": url})
    )
    assert [hit.url for hit in hits] == [f"{url}#box", url, f"{url}#story"]
    assert hits[0].extra["knowledge_graph"]["website"] == url
