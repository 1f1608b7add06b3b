"""What words decide by themselves, and what holds for any text."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_freshness_classifier.classifier import TrainedClassifier
from webfetch_freshness_classifier.model import load_model
from webfetch_freshness_classifier.words import READ, read_query

from webfetch_core.api import Freshness

REALTIME, RECENT, STABLE = Freshness.REALTIME, Freshness.RECENT, Freshness.STABLE
NOW = datetime(2026, 7, 20, tzinfo=UTC)
CLASSIFIER = TrainedClassifier(load_model())
FRESHEST_FIRST = [REALTIME, RECENT, None, STABLE]  # the core reads None as recent

SUBJECTS = (
    "price of tarn honey",
    "population of tarn",
    "who is the mayor of holt",
    "who won the tarn cup",
    "how tall is mount orm",
    "history of the quill lock",
    "vane 3.2 release notes",
    "best lighthouse",
    "how many bridges does holt have",
    "what is the definition of a lock",
    "wetter in holt",
    "東京の天気",
    "tarn",
)
_VOCABULARY = [
    "who",
    "what",
    "when",
    "is",
    "was",
    "did",
    "has",
    "the",
    "of",
    "in",
    "tarn",
    "holt",
    "price",
    "weather",
    "score",
    "latest",
    "next",
    "current",
    "still",
    "best",
    "mayor",
    "president",
    "record",
    "first",
    "capital",
    "invented",
    "cup",
    "won",
    "film",
    "how",
    "many",
    "old",
    "version",
    "history",
    "today",
    "since",
    "before",
    "until",
    "wetter",
    "quién",
    "東京",
    "2",
    "500",
    "1500",
]
words = st.lists(st.sampled_from(_VOCABULARY), min_size=1, max_size=9).map(" ".join)
nows = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31))


def classify(query: str, now: datetime = NOW) -> Freshness | None:
    return CLASSIFIER.classify(query, now)


def staleness(fresh: Freshness | None) -> int:
    return FRESHEST_FIRST.index(fresh)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("gold price right now", REALTIME),
        ("Is the ferry running today?", REALTIME),
        ("live score tarn holt", REALTIME),
        ("is the bridge of 1932 open today", REALTIME),
        ("gold price in 2013", STABLE),
        ("who led tarn in the 17th century", STABLE),
        ("music of the 80s", STABLE),
        ("who ruled holt in 500 bc", STABLE),
        ("exports 1990s", STABLE),
        ("season 1998-99 table", STABLE),
        ("is the 1998 treaty still in force", RECENT),
        ("novels of the 19th century printed in 2026", RECENT),
    ],
)
def test_what_leaves_no_doubt(query: str, expected: Freshness) -> None:
    assert classify(query) is expected


@pytest.mark.parametrize(
    "query",
    [
        "latest lighthouse of tarn",
        "who built the tower this season",
        "history of tarn 2026",
        "moon landing 2027",
    ],
)
def test_what_is_never_called_stable(query: str) -> None:
    assert classify(query) in (REALTIME, RECENT)


@pytest.mark.parametrize(
    "query", ["price of gold since 2015", "1500 usd in tarn", "rfc 1918", "holt 2000$ lamp"]
)
def test_numbers_that_are_no_past_year(query: str) -> None:
    asked = read_query(query, NOW)
    assert asked.latest is None and not asked.long_ago


@pytest.mark.parametrize(
    ("query", "latest"),
    [("cup 2026", 0), ("cup 2025/26", 0), ("cup 2024-2025", -1), ("the 2010s", -7), ("2023's best", -3)],
)
def test_years_count_from_now(query: str, latest: int) -> None:
    assert read_query(query, NOW).latest == latest


@pytest.mark.parametrize("query", ["zebra crossing", "tarn", "Holt Vane", "?", "", "\u200b", "💡"])
def test_where_words_say_nothing_nothing_is_said(query: str) -> None:
    assert classify(query) is None


@given(st.text(max_size=2 * READ), nows)
def test_any_text_at_any_time_has_one_answer(query: str, now: datetime) -> None:
    answer = classify(query, now)
    assert answer is None or isinstance(answer, Freshness)
    assert classify(query, now) is answer


@given(words, st.sampled_from(["?", "!", " ?!", "...", '"', " ; "]))
def test_case_and_punctuation_make_no_difference(query: str, mark: str) -> None:
    answer = classify(query)
    assert classify(query.upper()) is answer
    assert classify(query.title()) is answer
    assert classify(f"{mark} {query.replace(' ', '  ')}{mark}") is answer


@given(st.one_of(words, st.text(max_size=200)), st.sampled_from(["right now", "today", "at the moment"]))
def test_the_present_is_realtime_whatever_else_is_said(query: str, present: str) -> None:
    assert classify(f"{query} {present}") is REALTIME
    assert classify(f"{present} {query}") is REALTIME


@given(
    st.one_of(st.sampled_from(SUBJECTS), words),
    st.sampled_from(["", "in", "before", "since", "of the year", "still in", "season"]),
    st.integers(2, 150),
    st.integers(1, 3_000),
)
def test_the_current_year_is_never_staler_than_a_past_one(
    subject: str, link: str, ago: int, year: int
) -> None:
    now = datetime(max(1_200, min(year, 2_099)), 7, 1, tzinfo=UTC)
    past, present = (f"{subject} {link} {then}" for then in (now.year - ago, now.year))
    assert staleness(classify(present, now)) <= staleness(classify(past, now))


@given(st.one_of(st.sampled_from(SUBJECTS), words), st.integers(-60, 5), st.integers(-400, 70))
def test_years_matter_only_by_their_distance_from_now(subject: str, apart: int, later: int) -> None:
    moved = NOW.replace(year=NOW.year + later)
    query, other = (f"{subject} in {now.year + apart}" for now in (NOW, moved))
    assert classify(query, NOW) is classify(other, moved)


def test_a_long_text_is_answered_by_its_beginning() -> None:
    assert classify("price of gold " + "and of silver " * 5_000) is REALTIME
    assert classify("tarn " * 500 + " today") is None


def test_neither_numpy_nor_a_model_library_is_loaded() -> None:
    code = """
import sys
from datetime import datetime
from webfetch_core.testing import FakeContext
from webfetch_freshness_classifier.plugin import webfetch_freshness_classifiers
(provider,) = webfetch_freshness_classifiers()
print(provider.build(None, FakeContext()).classify("gold price", datetime(2026, 7, 20)).value)
assert not {"numpy", "onnxruntime", "tokenizers", "torch"} & set(sys.modules), sorted(sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout.strip(), done.returncode) == ("realtime", 0), done.stderr
