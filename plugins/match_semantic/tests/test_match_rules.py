"""Rewordings that rules alone know, and traps that no verifier is asked about."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_match_semantic.reading import read
from webfetch_match_semantic.rules import rule

YEAR = 2026

SAME = [
    ("what is the population of Norway", "Norway population"),
    ("how tall is the Orvane dam", "height of Orvane dam"),
    ("who wrote the Tarn charter", "author of the Tarn charter"),
    ("when was Barack Obama born?", "barack obama birth date"),
    ("Barack Obama's date of birth", "barack obama birthday"),
    ("how many people live in Iceland", "population of Iceland"),
    ("how much does an iPhone 16 cost", "iphone 16 price"),
    ("how much does the Orvane bell weigh", "weight of the Orvane bell"),
    ("flights from Oslo to Paris", "flights to Paris from Oslo"),
    ("python vs java", "what is the difference between java and python"),
    ("best laptops this year", "best laptops 2026"),
    ("could you please tell me how to tie a tie", "how do I tie a tie"),
    ("what's the US GDP", "what is the gdp of the united states"),
    ("  Height of ORVANE dam?? ", "height of orvane dam"),
    ("biggest city in Peru", "largest city in Peru"),
    ("who won the second world war", "who won WWII"),
    ("twenty five sheep per acre", "25 sheep per acre"),
    ("events on 2024-03-05", "events on March 5 2024"),
    ("東京の人口", "東京の人口？"),
    ("¿Cuál es la capital de Perú?", "cuál es la capital de Perú"),
]

TRAPS = {
    "number": [
        ("python 3.11 release date", "python 3.12 release date"),
        ("python 3.1 features", "python 3.10 features"),
        ("convert 5 miles to km", "convert 50 miles to km"),
        ("galaxy s23 battery", "galaxy s24 battery"),
        ("top ten films of 1999", "top twenty films of 1999"),
        ("best laptops this year", "best laptops 2025"),
        ("henry viii wives", "henry vii wives"),
        ("iphone 15 weight", "how heavy is the iPhone 16"),
        ("population of Norway", "population of Norway in 1990"),
        ("music of the 80s", "music of the 90s"),
    ],
    "ordinal": [("first president of Brazil", "third president of Brazil")],
    "date": [
        ("events in March 2024", "events in May 2024"),
        ("weather in Oslo on Monday", "weather in Oslo on Tuesday"),
        ("weather in Oslo", "weather in Oslo tomorrow"),
        ("laws passed since 2010", "laws passed until 2010"),
        ("stocks this week", "stocks last week"),
    ],
    "unit": [
        ("10 mg dose of orvin", "10 mcg dose of orvin"),
        ("price of gold in euros", "price of gold in dollars"),
        ("distance to the moon", "distance to the moon in miles"),
    ],
    "negation": [
        ("foods that are safe for dogs", "foods that aren't safe for dogs"),
        ("bread with yeast recipe", "bread without yeast recipe"),
    ],
    "opposite": [
        ("how to grant access in mysql", "how to revoke access in mysql"),
        ("foods to take with gout", "foods to avoid with gout"),
        ("largest lake in Africa", "smallest lake in Africa"),
        ("how to install docker", "how to uninstall docker"),
        ("turn volume up on tv", "turn volume down on tv"),
    ],
    "direction": [
        ("flights from Oslo to Paris", "flights from Paris to Oslo"),
        ("convert crowns to euro", "convert euro to crowns"),
        ("did Orvane acquire Quill", "did Quill acquire Orvane"),
        ("did Orvane acquire Quill", "was Orvane acquired by Quill"),
        ("who beat Federer", "who did Federer beat"),
        ("is A larger than B", "is B larger than A"),
        ("is gold heavier than lead", "is lead heavier than gold"),
        ("dog bites man", "man bites dog"),
    ],
    "entity": [
        ("population of portland oregon", "population of portland maine"),
        ("ceo of quillsoft", "ceo of tarnware"),
        ("vitamin c deficiency", "vitamin d deficiency"),
        ("who directed Alien", "who directed Aliens"),
        ("c++ sort", "c# sort"),
    ],
    "contrast": [("red wine calories", "white wine calories"), ("cat vaccination", "dog vaccination")],
    "pronoun": [("does he love her more than gold", "does she love him more than gold")],
    "join": [("is he a baker and a poet", "is he a baker or a poet")],
    "tense": [("who is the mayor of Tarn", "who was the mayor of Tarn")],
    "kind": [
        ("who wrote Hamlet", "when was Hamlet written"),
        ("how many towns has Norway", "which towns has Norway"),
        ("why did the Tarn bridge fall", "when did the Tarn bridge fall"),
    ],
    "scope": [
        ("iphone 15 battery size", "iphone 15 pro battery size"),
        ("best hotels in Paris", "cheapest hotels in Paris"),
        ("unemployment in Spain", "youth unemployment in Spain"),
        ("lake in Africa", "only lake in Africa"),
    ],
    "language": [("precio del iphone", "precio de iphones"), ("東京の人口", "東京の天気")],
    "long": [("a" * 450 + " b", "a" * 450 + " c")],
}


NAMED = ("unit", "direction", "opposite", "entity", "scope", "language", "long", "ordinal", "negation")
"""Guards that nothing else anticipates in these pairs."""


@pytest.mark.parametrize(("a", "b"), SAME)
def test_the_same_in_other_words(a: str, b: str) -> None:
    assert rule(a, b, YEAR).same is True
    assert rule(b, a, YEAR).same is True


@pytest.mark.parametrize(("guard", "a", "b"), [(g, a, b) for g, some in TRAPS.items() for a, b in some])
def test_traps(guard: str, a: str, b: str) -> None:
    ruling = rule(a, b, YEAR)
    assert ruling.same is False, "no verifier is asked about this"
    assert ruling.detail
    if guard in NAMED:
        assert ruling.guard == guard
    assert rule(b, a, YEAR) == ruling


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("iphone 16 battery capacity mAh", "how big is the battery in the iPhone 16"),
        ("was Quill acquired by Orvane", "did Orvane acquire Quill"),
        ("what did python 3.13 add", "python 3.13 new features"),
        ("switch on the gate alarm", "arm the gate alarm"),
    ],
)
def test_other_rewordings_are_left_to_a_verifier(a: str, b: str) -> None:
    assert rule(a, b, YEAR).same is None


@given(st.text(max_size=600), st.text(max_size=600))
@settings(max_examples=300, deadline=None)
def test_any_text_is_judged_and_in_either_order_alike(a: str, b: str) -> None:
    ruling = rule(a, b, YEAR)
    assert rule(b, a, YEAR) == ruling
    assert ruling.same in (True, False, None)


@given(st.text(max_size=600))
@settings(max_examples=200, deadline=None)
def test_a_text_is_itself(text: str) -> None:
    assert rule(text, text, YEAR).same is True


EVERYDAY = """
height price of the orvane dam tarn bridge who wrote when was built how many people in norway best hotels near
what is to from by acquire quill with without not python java convert euro miles
"""
WORDS = st.sampled_from(EVERYDAY.split())
QUERIES = st.lists(WORDS, min_size=1, max_size=10).map(" ".join)


@given(QUERIES, QUERIES)
@settings(max_examples=400, deadline=None)
def test_queries_of_everyday_words_are_judged_in_either_order_alike(a: str, b: str) -> None:
    assert rule(a, b, YEAR) == rule(b, a, YEAR)


SWAPS = [
    ("2019", "2020"), ("3.11", "3.12"), ("5 miles", "5 km"), ("March", "June"), ("monday", "friday"),
    ("orvane", "quill"), ("largest", "smallest"), ("with", "without"), ("first", "third"),
    ("Norway", "Sweden"), ("red", "blue"), ("10 mg", "10 mcg"), ("euros", "dollars"), ("grant", "revoke"),
    ("before 1900", "after 1900"),
]  # fmt: skip
FRAMES = (
    "what is the price of {} in the market of Tarn", "how do I get {} for the house", "{} news",
    "history of {} in brief", "which town is known for {}", "is {} worth it", "tell me about {}",
)  # fmt: skip


@given(st.sampled_from(SWAPS), st.sampled_from(FRAMES), st.sampled_from(FRAMES))
@settings(deadline=None)
def test_one_thing_in_place_of_another_never_matches(pair: tuple[str, str], frame: str, other: str) -> None:
    ruling = rule(frame.format(pair[0]), frame.format(pair[1]), YEAR)
    assert ruling.same is False
    assert rule(frame.format(pair[0]), other.format(pair[1]), YEAR).same is not True


MORE = ("2019", "3.11", "in Sweden", "quickbasic", "for 10 mg", "not", "without milk", "on monday")


@given(QUERIES, st.sampled_from(MORE))
@settings(deadline=None)
def test_something_more_on_one_side_never_matches_by_rules(query: str, more: str) -> None:
    assert rule(query, f"{query} {more}", YEAR).same is not True


LONG = ("a'" * 3_000, "1." * 3_000, "-" * 9_000, "x " * 5_000, "(" * 9_000, "9" * 9_000, "é" * 900)


@pytest.mark.parametrize("text", LONG, ids=lambda text: text[:2])
def test_long_texts_are_not_read(text: str) -> None:
    question = read(text, YEAR)
    assert question.long or not question.items or len(question.words) <= 60


def test_this_year_is_that_of_the_clock() -> None:
    assert rule("best laptops this year", "best laptops 2031", 2031).same is True
    assert rule("best laptops this year", "best laptops 2031", 2026).same is False
    assert rule("current mayor of Tarn", "mayor of Tarn 2031", 2026).same is False


ATTRIBUTES = (
    "height",
    "breadth",
    "girth",
    "altitude",
    "capacity",
    "mass",
    "volume",
    "thickness",
    "power",
    "area",
)
FORMS = ("{0} of the Orvane dam", "what is the {0} of the Orvane dam", "what {0} does the Orvane dam have")


@pytest.mark.parametrize("one", ATTRIBUTES)
@pytest.mark.parametrize("other", ATTRIBUTES)
def test_another_attribute_in_whatever_form_is_never_taken_lightly(one: str, other: str) -> None:
    """Models find "girth" and "height" near: a verifier has to be as sure as where a guard doubts."""
    if one == other:
        return
    for first, second in combinations(FORMS, 2):
        ruling = rule(first.format(one), second.format(other), YEAR)
        assert ruling.same is not True and ruling.guard, (first.format(one), second.format(other))
