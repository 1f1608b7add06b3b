"""Records survive the way to JSON and back, whatever is in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve, fields
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core import models
from webfetch_core.models import (
    SCHEMA_VERSION,
    Attempt,
    Chunk,
    Document,
    FailedUrl,
    Freshness,
    Page,
    Provenance,
    ProvenanceKind,
    SearchHit,
    SearchResult,
    Span,
)
from webfetch_core.wire import converter, dumps, from_plain, to_plain

TEXT = st.text(max_size=20)
NUMBER = st.floats(-1e6, 1e6)
HIT = st.builds(
    SearchHit,
    url=TEXT,
    title=TEXT,
    snippet=TEXT,
    rank=st.integers(0, 99),
    published=st.none() | TEXT,
    score=NUMBER,
    engines=st.dictionaries(TEXT, st.integers(1, 9), max_size=3),
    extra=st.dictionaries(
        TEXT, st.none() | st.booleans() | st.integers() | TEXT | st.lists(TEXT, max_size=2), max_size=3
    ),
)
CHUNK = st.builds(
    Chunk, text=TEXT, url=TEXT, heading_path=st.lists(TEXT, max_size=3).map(tuple), score=NUMBER
)
RESULT = st.builds(
    SearchResult,
    query=TEXT,
    chunks=st.lists(CHUNK, max_size=3).map(tuple),
    hits=st.lists(HIT, max_size=3).map(tuple),
    attempts=st.lists(
        st.builds(Attempt, stage=TEXT, provider=TEXT, outcome=TEXT, cost_usd=NUMBER), max_size=2
    ).map(tuple),
    failed_urls=st.lists(st.builds(FailedUrl, url=TEXT, kind=TEXT), max_size=2).map(tuple),
    provenance=st.builds(Provenance, kind=st.sampled_from(ProvenanceKind), age_s=NUMBER),
    freshness=st.sampled_from(Freshness),
    partial=st.booleans(),
    trace=st.lists(st.builds(Span, stage=TEXT, name=TEXT, start_s=NUMBER, end_s=NUMBER), max_size=2).map(
        tuple
    ),
    notes=st.lists(TEXT, max_size=2).map(tuple),
    ranked_by=st.lists(TEXT, max_size=2).map(tuple),
)


@given(RESULT)
def test_a_result_comes_back_as_it_went(result: SearchResult) -> None:
    assert from_plain(to_plain(result), SearchResult) == result
    assert from_plain(json.loads(dumps(result)), SearchResult) == result


@given(
    st.builds(
        Document, url=TEXT, text=TEXT, metadata=st.dictionaries(TEXT, TEXT), links=st.lists(TEXT).map(tuple)
    )
)
def test_a_document_comes_back_as_it_went(document: Document) -> None:
    assert from_plain(json.loads(dumps(document)), Document) == document


@given(st.binary(max_size=50))
def test_bytes_travel_as_text(body: bytes) -> None:
    page = Page(url="u", body=body, headers={"etag": "x"})
    assert from_plain(json.loads(dumps(page)), Page) == page


def test_json_says_its_version_first_and_keeps_other_scripts_readable() -> None:
    text = dumps(Chunk(text="灯台", url="u"))
    assert text.startswith(f'{{"schema_version": {SCHEMA_VERSION}, "text": "灯台"')
    assert dumps([Chunk(text="t", url="u")]).startswith('[{"text"')
    assert "\n  " in dumps(Chunk(text="t", url="u"), indent=2)


def test_what_is_plain_is_only_plain() -> None:
    def check(value: Any) -> None:
        assert type(value) in (dict, list, str, int, float, bool, type(None))
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(inner)

    check(to_plain(SearchResult(query="q", hits=(SearchHit(url="u", engines={"a": 1}),))))
    assert to_plain(Provenance(kind=ProvenanceKind.STALE))["kind"] == "stale"


def test_a_newer_writer_may_say_more_and_an_older_one_less() -> None:
    plain = to_plain(Chunk(text="t", url="u", title="T"))
    assert from_plain({**plain, "colour": "red"}, Chunk).title == "T"
    del plain["title"]
    assert from_plain(plain, Chunk).title == ""


@pytest.mark.parametrize("damage", [{"text": "t"}, {}, [], None, "text"])
def test_what_is_no_record_raises(damage: Any) -> None:
    with pytest.raises(Exception):  # noqa: B017  (cattrs' own groups; those who read rows catch them all)
        from_plain(damage, Chunk)


def test_mappings_do_not_share_the_data_they_came_from() -> None:
    plain = to_plain(SearchHit(url="u", engines={"a": 1}))
    hit = from_plain(plain, SearchHit)
    plain["engines"]["b"] = 2
    assert dict(hit.engines) == {"a": 1}
    assert isinstance(hit.engines, Mapping)


def test_every_record_is_frozen_slotted_and_keyword_only() -> None:
    records = [r for r in vars(models).values() if isinstance(r, type) and hasattr(r, "__attrs_attrs__")]
    assert len(records) > 10
    for record in records:
        assert "__dict__" not in dir(record), record
        assert all(a.kw_only for a in fields(record)), record
    with pytest.raises(AttributeError):
        Chunk(text="t", url="u").text = "x"  # type: ignore[misc]
    assert evolve(Chunk(text="t", url="u"), text="x").text == "x"


def test_there_is_one_converter() -> None:
    assert converter() is converter()
