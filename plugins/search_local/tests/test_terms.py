from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_search_local.terms import MAX_TERM_CHARS, document_terms, fold, query_terms, spans


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Fusion ranks pages.", ["fusion", "ranks", "pages"]),
        ("max_file_bytes", ["max", "file", "bytes"]),
        ("don't the engine’s", ["dont", "the", "engine"]),
        ("C++ and C# or g", ["c++", "and", "c#", "or", "g"]),
        ("Crème BRÛLÉE Straße", ["creme", "brulee", "strasse"]),
        ("ΆΛΦΑ ёлка", ["αλφα", "елка"]),
        ("東京都", ["東", "東京", "京", "京都", "都"]),
        ("GPU搭載", ["gpu", "搭", "搭載", "載"]),
        ("مُحَمَّد", ["محمد"]),
        ("שָׁלוֹם", ["שלום"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("ﬁle", ["file"]),
        ("", []),
        ("?! --- 🙂", []),
    ],
)
def test_words_of_many_scripts(text: str, terms: list[str]) -> None:
    assert document_terms(text) == terms


def test_a_question_keeps_its_telling_words() -> None:
    query = "How does fusion rank a page that two engines found?"
    assert query_terms(query) == ["fusion", "rank", "page", "two", "engines", "found"]


def test_a_query_of_stopwords_keeps_them() -> None:
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]


def test_a_query_prefers_pairs_but_takes_a_single_character() -> None:
    assert query_terms("東京都") == ["東京", "京都"]
    assert query_terms("猫") == ["猫"]


def test_a_long_query_is_cut() -> None:
    assert len(query_terms(" ".join(f"w{i}" for i in range(500)))) == 64


def test_voicing_marks_of_japanese_stay() -> None:
    assert fold("が") != fold("か")


@settings(deadline=None)
@given(st.text(max_size=200))
def test_fast_path_gives_what_spans_gives(text: str) -> None:
    slow = [term[:MAX_TERM_CHARS] for line in text.split("\n") for term, _, _ in spans(line) if term]
    assert document_terms(text) == slow


@settings(deadline=None)
@given(st.text(max_size=200))
def test_terms_hold_no_white_space_and_offsets_are_right(text: str) -> None:
    for term, start, end in spans(text):
        assert 0 <= start < end <= len(text)
        assert not any(c.isspace() for c in term)
