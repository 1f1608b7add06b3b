"""What may be asked for, and how it is completed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.errors import BadQuery
from webfetch_core.models import Freshness
from webfetch_core.pipeline.request import (
    MAX_QUERY_CHARS,
    checked_code,
    checked_domains,
    checked_freshness,
    checked_query,
    checked_seconds,
)

ANYTHING = st.one_of(
    st.none(), st.text(), st.integers(), st.floats(), st.binary(), st.lists(st.text() | st.integers())
)


@given(ANYTHING)
def test_whatever_is_asked_it_is_served_or_a_bad_query(value: Any) -> None:
    for check in (
        checked_query,
        checked_freshness,
        lambda v: checked_domains(v, "include_domains"),
        lambda v: checked_seconds(v, "deadline_s"),
        lambda v: checked_code(v, "language"),
    ):
        try:
            check(value)
        except BadQuery as exc:
            assert str(exc)


@given(st.text(max_size=300))
def test_a_query_is_one_line_that_can_be_encoded(text: str) -> None:
    try:
        query = checked_query(text)
    except BadQuery:
        return
    assert query == " ".join(query.split())
    assert len(query.splitlines()) == 1
    query.encode()
    assert checked_query(query) == query


@pytest.mark.parametrize(
    ("given_query", "query"),
    [
        ("  how\n deep\t? ", "how deep ?"),
        ("a\u200bb", "ab"),
        ("C++", "C++"),
        ("湖の深さ", "湖の深さ"),
        ("x\ud800", "x?"),
        ("hidden\U000e0041\U000e0042", "hidden"),
    ],
)
def test_queries_are_folded(given_query: str, query: str) -> None:
    assert checked_query(given_query) == query


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("", "empty"),
        ("\u3000\n", "empty"),
        ("?!", "empty"),
        (None, "NoneType"),
        (b"x", "bytes"),
        ("x" * (MAX_QUERY_CHARS + 1), "2001"),
    ],
)
def test_queries_that_cannot_be_served_say_why(query: Any, told: str) -> None:
    with pytest.raises(BadQuery, match=told):
        checked_query(query)


@pytest.mark.parametrize(
    ("value", "hosts"),
    [
        ([], ()),
        ((), ()),
        ("a.example, b.example c.example", ("a.example", "b.example", "c.example")),
        (["HTTPS://A.example/path", " a.example. "], ("a.example",)),
        (["*.a.example"], ("*.a.example",)),
        (["münchen.example"], ("münchen.example",)),
    ],
)
def test_domains_are_host_names(value: Any, hosts: tuple[str, ...]) -> None:
    assert checked_domains(value, "include_domains") == hosts


@pytest.mark.parametrize("value", [None, 5, [5], [""], [" "], ["https://"], ["a b"], {"a.example": 1}])
def test_what_is_no_domain_is_told_with_the_arguments_name(value: Any) -> None:
    with pytest.raises(BadQuery, match="exclude_domains"):
        checked_domains(value, "exclude_domains")


@pytest.mark.parametrize(
    ("value", "freshness"),
    [(None, None), ("", None), ("Recent", Freshness.RECENT), (Freshness.STABLE, Freshness.STABLE)],
)
def test_freshness_hints(value: Any, freshness: Freshness | None) -> None:
    assert checked_freshness(value) is freshness


@pytest.mark.parametrize("value", ["new", 5, ["recent"]])
def test_what_is_no_hint_is_told_with_the_choices(value: Any) -> None:
    with pytest.raises(BadQuery, match="realtime, recent, stable"):
        checked_freshness(value)


@pytest.mark.parametrize("value", ["en", "EN", "de-AT", "zh_Hans", "fil", "pt-br"])
def test_codes(value: str) -> None:
    assert checked_code(value, "language") == value
