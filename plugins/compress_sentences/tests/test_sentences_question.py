from __future__ import annotations

import pytest
from webfetch_compress_sentences.question import read_question
from webfetch_compress_sentences.words import query_terms, terms


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("when was the dam built", "time"),
        ("In which year did it open?", "time"),
        ("how deep is Orvane reservoir", "number"),
        ("population of Orvane", "number"),
        ("who built the dam", "who"),
        ("which city has the longest pier", "where"),
        ("why is the sky blue", "how"),
        ("what is a sluice", "what"),
        ("水库最大水深", "what"),
        ("", "what"),
    ],
)
def test_answer_type(query: str, answer: str) -> None:
    assert read_question(query).answer == answer


@pytest.mark.parametrize(
    ("query", "wants"),
    [
        ("top 10 longest piers", True),
        ("list the G7 member countries", True),
        ("what are the 10 largest countries by area", True),
        ("permanent members of the council", True),
        ("who built the dam", False),
        ("how deep is Orvane reservoir", False),
    ],
)
def test_list_queries(query: str, wants: bool) -> None:
    assert read_question(query).wants_list is wants


def test_query_terms_leave_out_the_question_words_unless_they_are_all() -> None:
    assert query_terms("how deep is the Orvane reservoir?") == terms("deep Orvane reservoir")
    assert query_terms("The Who") == ["the", "who"]
    assert query_terms("") == []


def test_terms_fold_and_pair() -> None:
    assert terms("Cafés") == terms("CAFE")
    assert terms("水库大") == ["水库", "库大"]
    assert terms("水") == ["水"]
