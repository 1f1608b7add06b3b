"""Letters to words, and words over the ends of lines."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_extract_pdf import bidi
from webfetch_extract_pdf.lettering import clean
from webfetch_extract_pdf.prose import mend, tidy


def apart(kit: Any, gap: float, size: float = 8) -> str:
    """A sentence placed word by word, without a blank in the file."""
    widths = {"The": 15.1, "outlet": 20.9, "valve": 19.1, "was": 14.7, "rated": 18.7, "twice": 18.2}
    x, parts = 60.0, []
    for word in ["The", "outlet", "valve", "was", "rated", "twice"]:
        parts.append(kit.show(x, 60, word, size))
        x += widths[word] * size / 8 + gap
    return kit.text(*parts)


@pytest.mark.parametrize("gap", [1.5, 1.9, 3.0, 5.0])
def test_small_gaps_part_words_where_there_are_no_blanks(kit: Any, gap: float) -> None:
    assert apart(kit, gap) == "The outlet valve was rated twice"


@pytest.mark.parametrize("spread", [1.0, 2.5, 4.0])
def test_spaced_out_letters_are_words(kit: Any, spread: float) -> None:
    text = kit.text(kit.show(60, 60, "Opening hours of the museum", 12, spread=spread))
    assert text.lstrip("# ") == "Opening hours of the museum"


def test_letters_that_are_drawn_twice_are_read_once(kit: Any) -> None:
    text = kit.text(*(kit.show(60 + shift, 60, "Annual balloon report", 12) for shift in (0, 0.3, 0.6)))
    assert text.lstrip("# ") == "Annual balloon report"


def test_indices_and_exponents_stay_in_their_line(kit: Any) -> None:
    text = kit.text(
        kit.show(60, 60, "water is H", 10), kit.show(104.6, 62, "2", 6),
        kit.show(108.1, 60, "O and the area", 10),
        kit.show(60, 72, "is given in square metres here.", 10),
    )  # fmt: skip
    assert text == "water is H2O and the area is given in square metres here."


@pytest.mark.parametrize(
    ("raw", "right"),
    [
        ("eﬃcient ﬁre oﬀice ﬂow ﬅ", "efficient fire office flow st"),
        ("ﺍﻟﺴﻼﻡ", "السلام"),
        ("a\x00b\x07c\u200bd\ufeff", "abcd"),
        ("\uf0b7 item\ue123", "• item"),
        ("cafe\u0301", "café"),
        ("x\u00a0y", "x y"),
        ("ＡＢＣ　１", "ＡＢＣ　１"),  # full width is how it is written there
    ],
)
def test_characters_are_as_readers_search_for_them(raw: str, right: str) -> None:
    assert clean(raw) == right


@given(st.text())
def test_cleaning_leaves_no_controls_and_is_done_at_once(text: str) -> None:
    once = clean(text)
    assert not any(c < " " and c not in "\t\n" for c in once)
    assert clean(once) == once


@pytest.mark.parametrize(
    ("lines", "whole"),
    [
        (["The reser-", "voir was full"], "The reservoir was full"),
        (["a well-", "known team"], "a well-known team"),
        (["state-of-the-", "art pump"], "state-of-the-art pump"),
        (["the years 1990-", "1995 were dry"], "the years 1990-1995 were dry"),
        (["the Anglo-", "American fleet"], "the Anglo-American fleet"),
        (["pre- and post-", "war houses"], "pre- and post-war houses"),
        (["the pre-", "and the post-war years"], "the pre- and the post-war years"),
        (["hydro\u00ad", "electric power"], "hydroelectric power"),
        (["one", "two"], "one two"),
        (["计算", "机"], "计算机"),
        (["-", "a dash"], "- a dash"),
        ([], ""),
    ],
)
def test_words_over_the_end_of_a_line(lines: list[str], whole: str) -> None:
    assert tidy(mend(lines)) == whole


def test_the_files_own_words_tell_how_divided_ones_are_written() -> None:
    assert mend(["the sub-", "marine"], frozenset({"sub-marine"})) == "the sub-marine"
    assert mend(["an all-", "owance"], frozenset({"allowance"})) == "an allowance"


def test_divided_words_of_a_page_are_whole(kit: Any) -> None:
    lines = ["The reser-", "voir was surveyed by a well-", "known team with care."]
    assert kit.text(kit.lines(60, 60, lines)) == "The reservoir was surveyed by a well-known team with care."


@given(st.text(alphabet="abc אבג 12.,()", max_size=30))
def test_turning_a_word_around_loses_nothing(text: str) -> None:
    plain = bidi.logical(text)
    mirrored = str.maketrans("()", "[]"), str.maketrans(")(", "[]")
    assert sorted(plain.translate(mirrored[0])) == sorted(text.translate(mirrored[0])) or sorted(
        plain.replace("(", "|").replace(")", "|")
    ) == sorted(text.replace("(", "|").replace(")", "|"))
