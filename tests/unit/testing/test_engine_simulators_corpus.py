"""The corpus of simulated engines: reading it, searching it, showing a snippet of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.testing.engines.corpus import (
    Corpus,
    CorpusDocument,
    load_corpus,
    share,
    snippet,
    tokens,
)


def test_a_folder_is_read_with_titles_and_served_by_path(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "tide gauge.md").write_text("Intro.\n\n# Tide gauges #\n\nThe float.", "utf-8")
    (tmp_path / "a.html").write_text(
        "<html><head><title>A &amp;\n B</title><style>p{}</style><body><p>One <b>two</b>.</p>"
        "<script>var x = 'three'</script><p>Four</p></body></html>",
        "utf-8",
    )
    (tmp_path / "plain-note.txt").write_bytes("Überfluss".encode() + b"\xff")
    (tmp_path / "skipped.bin").write_bytes(b"\0")
    found = {d.url: d for d in load_corpus(tmp_path)}
    assert set(found) == {"/pages/a.html", "/pages/plain-note.txt", "/pages/sub/tide%20gauge.md"}
    page = found["/pages/a.html"]
    assert (page.title, page.text) == ("A & B", "One two.\nFour")
    assert page.page().startswith(b"<html>") and page.path == page.url
    assert found["/pages/sub/tide%20gauge.md"].title == "Tide gauges"
    assert found["/pages/plain-note.txt"].title == "plain note"


def test_json_lines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text('{"url": "https://a.example/", "text": "t", "published": null, "n": 1}\n\n', "utf-8")
    assert load_corpus(file) == [CorpusDocument(url="https://a.example/", text="t")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "c.jsonl:1: not JSON"),
        ("[]", 'c.jsonl:1: expected an object with a "url"'),
        ('{"title": "x"}', 'expected an object with a "url"'),
        ('{"url": "https://a.example/", "text": ["x"]}', "expected text in text"),
        ("", "no document in it"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "c.jsonl").write_text(text, "utf-8")
    with pytest.raises(ValueError) as caught:
        load_corpus(tmp_path / "c.jsonl")
    assert said in str(caught.value)


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such folder or JSONL file"):
        load_corpus(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="no document in it"):
        load_corpus(tmp_path)


def test_rare_words_and_titles_weigh_more() -> None:
    corpus = Corpus(
        [
            CorpusDocument(url="https://a.example/", text="the the the the gauge"),
            CorpusDocument(url="https://b.example/", title="Gauge", text="the"),
            CorpusDocument(url="https://c.example/", text="the"),
        ]
    )
    assert [d.url[8] for _, d in corpus.search("the gauge")] == ["b", "a", "c"]
    assert corpus.search("nothing") == [] and corpus.search("") == []


def test_scripts_without_spaces_are_found() -> None:
    corpus = Corpus([CorpusDocument(url="https://a.example/", text="東京の天気は晴れ")])
    assert corpus.search("天気") and not corpus.search("雨")
    assert tokens("Ünïcode x2 東京") == ["ünïcode", "x2", "東", "京"]


def test_a_snippet_stands_where_the_words_are() -> None:
    text = "Filler words stand here. " * 40 + "The tide gauge drifts. " + "More filler. " * 40
    cut = snippet(text, "tide gauge")
    assert "The tide gauge drifts." in cut and cut.endswith(" ...") and len(cut) <= 204
    assert snippet("short\n text", "x") == "short text"


@given(st.integers(), st.text(max_size=20))
def test_a_share_is_in_the_unit_interval_and_the_same_each_time(seed: int, text: str) -> None:
    assert 0.0 <= share(seed, text) < 1.0 and share(seed, text) == share(seed, text)
