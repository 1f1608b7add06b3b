from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webfetch_core.pipeline.truncate import MARKER, guard

CASE = Path(__file__).parents[3].parent / "shared" / "cases" / "inputs" / "C224"
URL = re.compile(r"https?://[^\s\"<>]+")


def results(count: int, words: int = 200) -> dict[str, Any]:
    return {
        "query": "q",
        "search": {
            "results": [
                {"title": f"T{i}", "url": f"https://t.example/{i}/{'k' * 60}", "content": "word " * words}
                for i in range(count)
            ]
        },
    }


def json_part(text: str) -> Any:
    assert text.endswith("\n" + MARKER)
    return json.loads(text[: -len(MARKER) - 1])


def test_pretty_if_it_fits_then_compact() -> None:
    payload = {"a": [1, 2, {"b": "ü"}]}
    pretty, compact = json.dumps(payload, indent=2, ensure_ascii=False), '{"a":[1,2,{"b":"ü"}]}'
    assert guard(payload) == (pretty, False)
    assert guard(payload, len(pretty)) == (pretty, False)
    assert guard(payload, len(pretty) - 1) == (compact, False)
    assert guard(payload, len(compact)) == (compact, False)
    assert guard(payload, len(compact) - 1)[1] is True


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        (14, "{}\n[truncated]"),
        (13, MARKER),
        (12, MARKER),
        (11, MARKER),
        (10, "{}"),
        (2, "{}"),
        (1, "0"),
        (0, ""),
        (-1, ""),
    ],
)
def test_the_smallest_limits(limit: int, text: str) -> None:
    assert guard(results(3), limit) == (text, True)


@pytest.mark.parametrize(
    ("payload", "text"), [([1] * 99, "[]"), ("x" * 99, '""'), (10**99, "null"), ({"a": "b" * 99}, "{}")]
)
def test_the_minimal_value_is_of_the_same_kind(payload: Any, text: str) -> None:
    assert guard(payload, 10) == (text, True)


def test_entries_share_the_room_and_stay_in_order() -> None:
    text, truncated = guard(results(4), 1_200)
    kept = json_part(text)["search"]["results"]
    assert truncated and len(text) <= 1_200
    assert [entry["title"] for entry in kept] == ["T0", "T1", "T2", "T3"]
    lengths = [len(entry["content"]) for entry in kept]
    assert max(lengths) - min(lengths) <= 5 and sum(lengths) > 500
    assert all(list(entry) == ["title", "url", "content"] for entry in kept)


def test_trailing_entries_are_left_out() -> None:
    kept = json_part(guard(results(50), 1_000)[0])["search"]["results"]
    assert 2 < len(kept) < 10
    assert [entry["title"] for entry in kept] == [f"T{i}" for i in range(len(kept))]


def test_a_small_field_is_not_starved_by_a_large_sibling() -> None:
    payload = {"answer": "a" * 5_000, "note": "all of this short note stays", "more": "m" * 5_000}
    fitted = json_part(guard(payload, 600)[0])
    assert fitted["note"] == payload["note"]
    assert abs(len(fitted["answer"]) - len(fitted["more"])) < 5
    assert len(guard(payload, 600)[0]) > 590


def test_an_entry_whose_link_does_not_fit_is_left_out_and_the_next_one_is_not() -> None:
    entries = [
        {"url": "https://t.example/" + "k" * 900, "text": "x"},
        {"url": "https://t.example/b", "text": "y" * 900},
    ]
    kept = json_part(guard({"results": entries}, 300)[0])["results"]
    assert [entry["url"] for entry in kept] == ["https://t.example/b"]


@pytest.mark.parametrize(
    "key", ["url", "finalUrl", "source_url", "URL", "links", "href", "id", "resultIDs", "title", "citations"]
)
def test_links_identities_and_titles_are_whole_or_gone(key: str) -> None:
    long = "no-scheme/" + "k" * 500
    for value in (long, [long]):
        entry = json_part(guard({"a": {key: value, "b": "x"}, "c": "y" * 300}, 200)[0]).get("a", {})
        assert key not in entry


@pytest.mark.parametrize("key", ["content", "curl", "grid", "urlText", "valid", ""])
def test_other_fields_are_cut(key: str) -> None:
    fitted = json_part(guard({key: "word " * 100}, 100)[0])
    assert fitted[key].startswith("word") and len(fitted[key]) < 100


def test_a_list_of_links_keeps_whole_ones() -> None:
    links = [f"https://t.example/{i}/{'k' * 40}" for i in range(20)]
    assert json_part(guard({"links": links, "x": "y" * 500}, 400)[0])["links"] == links[:2]
    assert set(json_part(guard({"misc": links}, 300)[0])["misc"]) <= set(links)


@pytest.mark.parametrize(
    "url",
    ["https://t.example/a/b?c=d", "www.t.example/long/path", "local:docs/a/b/c.md", "mailto:a@t.example"],
)
def test_text_is_never_cut_inside_a_link(url: str) -> None:
    payload = {"content": f"see {url} and more words " * 3}
    size = len(json.dumps(payload, separators=(",", ":")))
    for limit in range(14, size):
        text = json_part(guard(payload, limit)[0]).get("content", "")
        assert set(re.findall(r"\S*[:.]\S+", text)) <= {url}


def test_text_is_never_cut_inside_a_grapheme_or_an_escape() -> None:
    family = '👨‍👩‍👧 e\u0301 🇩🇪 "\\\n'
    payload = [family * 3]
    whole = ["👨‍👩‍👧", "e\u0301", "🇩🇪", '"', "\\", "\n", " "]
    for limit in range(14, 60):
        text, truncated = guard(payload, limit)
        rest = "".join(json_part(text)) if truncated else ""
        for piece in whole:
            rest = rest.replace(piece, "")
        assert rest == ""


def test_what_is_not_json_becomes_json() -> None:
    text, truncated = guard({1: (float("nan"), {2}, date(2026, 1, 2)), "s": "\ud83d\ude00\ud800"})
    assert not truncated
    assert json.loads(text) == {"1": [None, [2], "2026-01-02"], "s": "😀\ufffd"}
    text.encode("utf-8")


def test_endless_nesting_ends() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert guard(deep) == ("null\n[truncated]", True)
    assert guard(deep, 12) == (MARKER, True)
    while deep:  # unwound by hand: the interpreter would recurse
        deep = deep.pop()


urls = st.integers(0, 60).map(lambda n: f"https://t.example/{'k' * n}")
strings = st.one_of(
    st.text(max_size=40),
    urls,
    st.lists(st.one_of(st.sampled_from(["word", "and", "水。", "\n", '"', "🇩🇪"]), urls), max_size=8).map(
        " ".join
    ),
)
keys = st.sampled_from(["url", "title", "content", "text", "id", "links", "results", "a", "水"])
payloads = st.recursive(
    st.one_of(strings, st.integers(), st.floats(), st.none(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(keys, inner, max_size=5)),
    max_leaves=25,
)


def found(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set().union(*(URL.findall(k) for k in value), *map(found, value.values()))
    if isinstance(value, list):
        return set().union(*map(found, value))
    return set(URL.findall(value)) if isinstance(value, str) else set()


@settings(deadline=None, max_examples=300)
@given(payloads, st.integers(0, 400))
def test_the_limit_the_json_and_the_links_hold(payload: Any, limit: int) -> None:
    text, truncated = guard(payload, limit)
    assert len(text) <= limit
    if text and text != MARKER:
        part = json.loads(text.removesuffix("\n" + MARKER))
        assert found(part) <= found(json.loads(guard(payload, 10**9)[0]))
        assert truncated or part == json.loads(guard(payload, 10**9)[0])
        assert not truncated or limit < len(MARKER) or text.endswith("\n" + MARKER)


def test_the_recorded_payload() -> None:
    if not CASE.is_dir():
        pytest.skip("no shared cases beside the repository")
    given_ = json.loads((CASE / "guard.json").read_text())
    for limit in (given_["max_chars"], 13, 12, 11, 10):
        text, truncated = guard(given_["payload"], limit)
        assert truncated and len(text) <= limit
        assert limit < len(MARKER) or text.endswith(MARKER)
        assert set(URL.findall(text)) <= found(given_["payload"])
    kept = json_part(guard(given_["payload"], 400)[0])["search"]["results"]
    assert kept and all(entry["url"] for entry in kept)
