from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_rank_bm25.terms import FUNCTION_WORD, fold, query_terms, split, word_terms


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Ｃａｆé STRASSE", "cafe strasse"),
        ("Straße", "strasse"),
        ("ﬁne", "fine"),
        ("Ёлка", "елка"),
        ("ガバ", "ガバ"),
        ("한국어", "한국어"),
        ("مُحَمَّد", "محمد"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The V-310's max_speed: 41.3 m/s", ["the", "v", "310", "s", "max", "speed", "41.3", "m", "s"]),
        ("C++ or C# or c", ["c++", "or", "c#", "or", "c"]),
        ("1,234 and 1,2", ["1,234", "and", "1,2"]),
        ("python脚本v2", ["python", "v2"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("", []),
        ("—…!?", []),
    ],
)
def test_split_gives_words_and_numbers(text: str, words: list[str]) -> None:
    assert split(fold(text))[0] == words


def test_runs_without_blanks_count_as_n_grams() -> None:
    assert split("水库最大") == ([], 3)
    assert split("水") == ([], 1)
    assert split("ภาษาไทย") == ([], 5)
    assert split("水 python 水库") == (["python"], 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("piers", "pier"),
        ("ladies", "lady"),
        ("boxes", "box"),
        ("measured", "measures"),
        ("measuring", "measure"),
        ("running", "runs"),
        ("quickly", "quick"),
        ("1,234", "1234"),
        ("reservoirs", "reservoir"),
    ],
)
def test_inflected_forms_share_the_chief_term(one: str, other: str) -> None:
    assert word_terms(one)[0] == word_terms(other)[0]


@pytest.mark.parametrize("word", ["gas", "bus", "glass", "is", "red", "sing", "v2", "c++", "41.3"])
def test_short_words_and_identifiers_stay(word: str) -> None:
    assert word_terms(word) == (word,)


def test_long_words_also_meet_by_their_beginning() -> None:
    assert set(word_terms("navigation")) & set(word_terms("navigators"))
    assert set(word_terms("волновой")) & set(word_terms("волновая"))


def test_query_terms_are_distinct_and_weighted() -> None:
    asked = query_terms("the depth of the depth 水 水库 ภาษา")
    assert asked.words == {"the": FUNCTION_WORD, "depth": 1.0, "of": FUNCTION_WORD}
    assert asked.grams == {"水": 1.0, "水库": 1.0, "ภาษ": 1.0, "าษา": 1.0}


@given(st.text(max_size=60))
def test_ascii_and_general_paths_agree_and_nothing_raises(text: str) -> None:
    folded = fold(text)
    words, places = split(folded)
    assert places >= 0 and all(word_terms(word) for word in words)
    ascii_only = "".join(c for c in folded if c.isascii())
    assert split(ascii_only)[0] == split(ascii_only + " é")[0][:-1]


@given(st.text(max_size=40))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert split(fold(fold(text))) == split(fold(text))
