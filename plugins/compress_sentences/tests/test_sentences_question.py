from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
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
    "query",
    [
        "top 10 longest piers",
        "top ten fastest growing towns of the county",
        "list the G7 member countries",
        "Please list the rivers of Tarn",
        "list of lighthouses in Orvane",
        "name the moons of Jupiter",
        "name three lakes",
        "give me examples of sluices",
        "what are the 10 largest countries by area",
        "5 most populous countries in the world",
        "largest cities in Spain",
        "permanent members of the council",
        "official languages of Switzerland",
        "the five boroughs of New York City",
        "FIFA World Cup winners since 2000",
        "symptoms of measles",
        "ingredients for pancakes",
        "which countries are members of the council",
        "what are the rules of chess?",
        "who were the founders of the town",
        "what foods do pandas eat?",
    ],
)
def test_queries_that_want_a_list(query: str) -> None:
    assert read_question(query).wants_list


@pytest.mark.parametrize(
    "query",
    [
        "who built the dam",
        "how deep is Orvane reservoir",
        "how many members of the council voted",
        "what was the cause of the war",
        "what happens to the water",
        "who has the most olympic medals in skating",
        "which team won the most matches?",
        "what is the longest pier in the county",
        "who is at the top of the list?",
        "what is the last name on the list",
        "what are young swans called?",
        "what are foxes known as",
        "what are guitar strings made of?",
        "who was the only swimmer to reach the top 15 finishers",
        "name one lake",
        "Members of which organisations are disqualified?",
        "who picks the players in the draft",
        "status of the dam",
        "Paris in spring",
        "湖泊列表",
        "",
    ],
)
def test_queries_that_want_one_thing(query: str) -> None:
    assert not read_question(query).wants_list


@given(st.text(max_size=80))
def test_any_text_is_read(query: str) -> None:
    assert read_question(query).text == query


def test_query_terms_leave_out_the_question_words_unless_they_are_all() -> None:
    assert query_terms("how deep is the Orvane reservoir?") == terms("deep Orvane reservoir")
    assert query_terms("The Who") == ["the", "who"]
    assert query_terms("") == []


def test_terms_fold_and_pair() -> None:
    assert terms("Cafés") == terms("CAFE")
    assert terms("水库大") == ["水库", "库大"]
    assert terms("水") == ["水"]
