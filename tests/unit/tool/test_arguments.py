"""What models really send, and what it is taken for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core import TOOLS, BadQuery, Tool
from webfetch_core.tool.arguments import MAX_INPUT_CHARS, MAX_ITEMS, read
from webfetch_core.tool.schema import FETCH_URL, MAX_TOKENS, MIN_TOKENS, SAVE_FINDING, STATUS, WEB_SEARCH


def search(**given: Any) -> dict[str, Any]:
    return dict(read(WEB_SEARCH, {"query": "q", **given}).values)


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"query": "lamp"}, {"query": "lamp"}),
        ('{"query": "lamp"}', {"query": "lamp"}),
        (b'{"query": "lamp"}', {"query": "lamp"}),
        ({"query": 2026}, {"query": "2026"}),
        ({"query": 3.0}, {"query": "3"}),
        ({"query": ["lamp"]}, {"query": "lamp"}),
        ({"query": "q", "max_tokens": "500"}, {"query": "q", "max_tokens": 500}),
        ({"query": "q", "max_tokens": "1,500"}, {"query": "q", "max_tokens": 1500}),
        ({"query": "q", "max_tokens": 500.0}, {"query": "q", "max_tokens": 500}),
        ({"query": "q", "max_tokens": "5e2"}, {"query": "q", "max_tokens": 500}),
        ({"query": "q", "force_fresh": "true"}, {"query": "q", "force_fresh": True}),
        ({"query": "q", "force_fresh": "False"}, {"query": "q", "force_fresh": False}),
        ({"query": "q", "full_results": 1}, {"query": "q", "full_results": True}),
        ({"query": "q", "full_results": "no"}, {"query": "q", "full_results": False}),
        ({"query": "q", "freshness": " Recent "}, {"query": "q", "freshness": "recent"}),
        ({"query": "q", "include_domains": "a.example"}, {"query": "q", "include_domains": ["a.example"]}),
        (
            {"query": "q", "include_domains": "a.example, b.example"},
            {"query": "q", "include_domains": ["a.example", "b.example"]},
        ),
        (
            {"query": "q", "include_domains": '["a.example"]'},
            {"query": "q", "include_domains": ["a.example"]},
        ),
        (
            {"query": "q", "include_domains": "['a.example']"},
            {"query": "q", "include_domains": ["a.example"]},
        ),
        (
            {"query": "q", "exclude_domains": ["*.a.example", ".b.example", None, ""]},
            {"query": "q", "exclude_domains": ["a.example", "b.example"]},
        ),
    ],
)
def test_what_can_mean_one_thing_only_is_taken_as_that(given: Any, taken: dict[str, Any]) -> None:
    arguments = read(WEB_SEARCH, given)
    assert (dict(arguments.values), arguments.notes) == (taken, ())


@pytest.mark.parametrize("nothing", [None, "", "null", "None", " ", "undefined"])
@pytest.mark.parametrize(
    "name", ["freshness", "force_fresh", "full_results", "max_tokens", "include_domains"]
)
def test_nothing_is_nothing(name: str, nothing: Any) -> None:
    assert search(**{name: nothing}) == {"query": "q"}


def test_strict_mode_sends_every_parameter() -> None:
    given = dict.fromkeys(WEB_SEARCH.parameters["properties"]) | {"query": "lamp"}
    assert dict(read(WEB_SEARCH, given).values) == {"query": "lamp"}


def test_an_empty_list_is_no_filter() -> None:
    assert search(include_domains=[]) == {"query": "q"}
    assert search(include_domains="[]") == {"query": "q"}


@pytest.mark.parametrize(
    ("value", "taken"), [(1, MIN_TOKENS), (10**30, MAX_TOKENS), (-5, MIN_TOKENS), ("1e300", MAX_TOKENS)]
)
def test_numbers_out_of_bounds_are_brought_within_and_told(value: Any, taken: int) -> None:
    arguments = read(WEB_SEARCH, {"query": "q", "max_tokens": value})
    assert arguments.get("max_tokens") == taken
    assert arguments.notes == (f"max_tokens is {taken}: it must be from {MIN_TOKENS} to {MAX_TOKENS}",)
    start = read(FETCH_URL, {"url": "u", "start": -3})
    assert (start.get("start"), start.notes) == (0, ("start is 0: it must be at least 0",))


def test_a_freshness_that_is_none_is_ignored_and_told() -> None:
    arguments = read(WEB_SEARCH, {"query": "q", "freshness": "last week"})
    assert dict(arguments.values) == {"query": "q"}
    assert arguments.notes == ("freshness was ignored: last week is none of realtime, recent, stable",)


def test_unknown_names_are_ignored_and_told() -> None:
    arguments = read(WEB_SEARCH, {"query": "q", "num_results": 5, 7: 1, "[note: x]": 2})
    assert dict(arguments.values) == {"query": "q"}
    assert arguments.notes == ("ignored, web_search has no such parameter: num_results, 7, (note: x)",)
    many = read(STATUS, {f"p{n}": n for n in range(9)})
    assert many.notes[0].endswith("p0, p1, p2, p3, p4 and 4 more")


def test_long_lists_are_cut_and_told() -> None:
    arguments = read(WEB_SEARCH, {"query": "q", "include_domains": [f"h{n}.example" for n in range(99)]})
    assert len(arguments.get("include_domains")) == MAX_ITEMS and "first 50 of 99" in arguments.notes[0]


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        (WEB_SEARCH, None, 'web_search needs query (call it with {"query": "..."})'),
        (WEB_SEARCH, {}, "web_search needs query"),
        (WEB_SEARCH, {"query": None}, "web_search needs query"),
        (WEB_SEARCH, {"q": "lamp"}, "web_search needs query"),
        (SAVE_FINDING, {}, "save_finding needs query and text"),
        (FETCH_URL, {"url": ""}, "fetch_url needs url"),
        (WEB_SEARCH, [1], "must be an object, got list"),
        (WEB_SEARCH, 7, "must be an object, got int"),
        (WEB_SEARCH, "lamp", "is no JSON object"),
        (WEB_SEARCH, '"lamp"', "must be an object, got str"),
        (WEB_SEARCH, "[" * 100_000, "is no JSON object"),
        (WEB_SEARCH, '{"query": "' + "x" * MAX_INPUT_CHARS, "has more than 200,000 characters"),
        (WEB_SEARCH, {"query": {"a": 1}}, "query must be text, got an object"),
        (WEB_SEARCH, {"query": True}, "query must be text, got true or false"),
        (WEB_SEARCH, {"query": ["a", "b"]}, "query must be text, got a list"),
        (WEB_SEARCH, {"query": 10**5_000}, "more than 18 digits"),
        (WEB_SEARCH, {"query": "q", "max_tokens": "many"}, "max_tokens must be a whole number, got 'many'"),
        (WEB_SEARCH, {"query": "q", "max_tokens": True}, "max_tokens must be a whole number"),
        (WEB_SEARCH, {"query": "q", "max_tokens": float("nan")}, "max_tokens must be a whole number"),
        (WEB_SEARCH, {"query": "q", "max_tokens": "inf"}, "max_tokens must be a whole number"),
        (WEB_SEARCH, {"query": "q", "force_fresh": "maybe"}, "force_fresh must be true or false, got text"),
        (WEB_SEARCH, {"query": "q", "force_fresh": 2}, "force_fresh must be true or false, got a number"),
        (WEB_SEARCH, {"query": "q", "include_domains": {"a": 1}}, "include_domains must be a list of texts"),
        (WEB_SEARCH, {"query": "q", "include_domains": [1]}, "include_domains must be a list of texts"),
    ],
)
def test_what_cannot_be_read_says_what_would_be_right(tool: Tool, given: Any, told: str) -> None:
    with pytest.raises(BadQuery) as caught:
        read(tool, given)
    assert told in str(caught.value)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=10,
)


@given(tool=st.sampled_from(TOOLS), data=st.data())
def test_anything_is_read_or_refused(tool: Tool, data: st.DataObject) -> None:
    names = st.sampled_from([*tool.parameters["properties"], "other"])
    given_object = data.draw(st.dictionaries(names, ANY_JSON, max_size=7) | ANY_JSON)
    as_text = data.draw(st.booleans())
    try:
        arguments = read(tool, json.dumps(given_object) if as_text else given_object)
    except BadQuery:
        return
    kinds = {"string": str, "integer": int, "boolean": bool, "array": list}
    for name, value in arguments.values.items():
        schema = tool.parameters["properties"][name]
        assert type(value) is kinds[schema["type"]]
        assert schema.get("minimum", value) <= value <= schema.get("maximum", value) or type(value) is not int
        assert "enum" not in schema or value in schema["enum"]
    assert set(tool.required) <= set(arguments.values)
