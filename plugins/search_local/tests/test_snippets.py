from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_search_local.snippets import plain, snippet

FILLER = "The gauge was read at noon and written down by hand. " * 40


def test_the_passage_with_most_of_the_query_wins() -> None:
    text = FILLER + "Fusion adds up. " + FILLER + "Fusion ranks a page by reciprocal rank. " + FILLER
    made = snippet(text, {"fusion": 2.0, "rank": 1.0, "reciproc": 3.0})
    assert "Fusion ranks a page by reciprocal rank." in made
    assert made.startswith("…") and made.endswith("…") and len(made) <= 300


def test_short_text_is_given_whole() -> None:
    assert snippet("# Title\n\nAll of it.", {"it": 1.0}) == "Title All of it."


def test_markdown_marks_go() -> None:
    text = (
        "## Head\n> quote [link](https://x.example/a_b) and **bold** `code`\n| a | b |\n|---|---|\n| 1 | 2 |"
    )
    assert plain(text) == "Head quote link and bold code a b 1 2"


def test_accents_in_the_text_alone_are_found() -> None:
    assert "Zürich" in snippet(FILLER + "Das Museum in Zürich ist offen. " + FILLER, {"zurich": 1.0})


def test_unspaced_scripts() -> None:
    text = "天気は晴れです。" * 100 + "東京の人口は多い。" + "天気は晴れです。" * 100
    assert "東京の人口" in snippet(text, {"東京": 2.0, "人口": 2.0})


def test_letters_that_grow_in_lower_case_do_not_shift_the_place() -> None:
    assert "fusion" in snippet("İ" * 50 + ". " + FILLER + "Here is fusion. " + FILLER, {"fusion": 1.0})


def test_terminal_controls_never_pass() -> None:
    assert snippet("red \x1b[31m alarm \u202e tail", {"alarm": 1.0}) == "red [31m alarm tail"


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=1500), st.sampled_from(["fusion", "東京", "a", "citi"]))
def test_never_longer_than_asked_and_one_line(text: str, stem: str) -> None:
    made = snippet(text, {stem: 1.0})
    assert len(made) <= 300
    assert "\n" not in made
