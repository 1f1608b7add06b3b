from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webfetch_core.models import Freshness
from webfetch_core.pipeline.freshness import classify_keywords

NOW = datetime(2026, 7, 20)
SHARED = Path(__file__).resolve().parents[4] / "shared"
REALTIME, RECENT, STABLE = Freshness.REALTIME, Freshness.RECENT, Freshness.STABLE


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("ethereum price", REALTIME),
        ("Weather in Lisbon", REALTIME),
        ("100 usd to eur", REALTIME),
        ("who is the current fide world champion", REALTIME),
        ("is the gotthard tunnel open today?", REALTIME),
        ("trains running so far, delays", REALTIME),
        ("Ｗｅａｔｈｅｒ　Tokyo", REALTIME),
        ("what’s today’s headline", REALTIME),
        ("latest sqlite release notes", RECENT),
        ("who is the mayor of Porto", RECENT),
        ("best budget tablet", RECENT),
        ("best laptops 2026", RECENT),
        ("winter olympics 2030 host city", RECENT),
        ("who won the 2025 tour de france", RECENT),
        ("ethereum price in 2017", STABLE),
        ("weather on the day of the 1912 opening", STABLE),
        ("latest known eruption of Etna before 1700", STABLE),
        ("who won the 1966 world cup", STABLE),
        ("exports in the 1990s", STABLE),
        ("melting point of lead", STABLE),
        ("definition of entropy", STABLE),
        ("who invented the zip", STABLE),
        ("convert 5 miles to km", STABLE),
        ("where was the most recent summit held", RECENT),
        ("zebra crossing", None),
        ("", None),
        ("東京の天気", None),
    ],
)
def test_cues(query: str, expected: Freshness | None) -> None:
    assert classify_keywords(query, NOW) is expected


def test_years_count_from_now() -> None:
    query = "python conference 2026"
    assert classify_keywords(query, datetime(2026, 1, 1)) is RECENT
    assert classify_keywords(query, datetime(2027, 1, 1)) is RECENT
    assert classify_keywords(query, datetime(2028, 1, 1)) is STABLE


def test_a_year_since_which_is_no_past_date() -> None:
    assert classify_keywords("gold price since 2015", NOW) is REALTIME


def test_the_present_outweighs_a_past_year() -> None:
    assert classify_keywords("is the bridge of 1932 open today", NOW) is REALTIME


@pytest.mark.parametrize("query", ["1500 usd to eur", "price 2000$ tv", "port 1883 traffic now"])
def test_amounts_are_not_taken_for_settled_years(query: str) -> None:
    assert classify_keywords(query, NOW) is not None


@given(st.text(max_size=200))
@settings(deadline=None, max_examples=150)
def test_any_text_is_answered(query: str) -> None:
    assert classify_keywords(query, NOW) in (REALTIME, RECENT, STABLE, None)


def test_a_long_query_is_answered_quickly() -> None:
    assert classify_keywords("how many " + "goals " * 5_000, NOW) is None


def _labelled() -> list[tuple[str, Freshness]]:
    classes = {"fast-changing": REALTIME, "slow-changing": RECENT, "never-changing": STABLE}
    files = [SHARED / "data" / "seed_evals" / f"{n}_queries.jsonl" for n in ("freshqa", "tech_volatility")]
    if not all(f.is_file() for f in files):
        pytest.skip("the labelled queries of ../shared are not here")
    rows = [json.loads(line) for f in files for line in f.read_text(encoding="utf-8").splitlines()]
    return [(row["query"], classes[row["volatility"]]) for row in rows]


def test_what_changes_fast_is_hardly_ever_called_stable() -> None:
    rows = _labelled()
    told = [(classify_keywords(query, NOW) or RECENT, label) for query, label in rows]
    fast = [guess for guess, label in told if label is REALTIME]
    assert fast.count(STABLE) / len(fast) <= 0.02
    assert sum(guess is label for guess, label in told) / len(told) >= 0.55
    assert fast.count(REALTIME) / len(fast) >= 0.45


@pytest.mark.parametrize("query", ["best films this year", "holidays next year", "last year's budget"])
def test_what_is_said_of_a_year_does_not_outlive_it(query: str) -> None:
    told = [(12, 31, 2026), (1, 1, 2027), (1, 14, 2027), (1, 15, 2027)]
    classes = [classify_keywords(query, datetime(year, month, day)) for month, day, year in told]
    assert classes == [RECENT, REALTIME, REALTIME, RECENT]
