"""Shapes that real APIs send, and what must become of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.enginekit import error_json, plain_text, rows, text_at, with_sites
from webfetch_core.errors import ProviderError


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


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abc"), inner),
    )
)
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
