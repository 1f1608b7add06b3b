"""The runner of outside cases compares all that is asked for, and says what it does not know."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from case_runner import AREAS, Seen, adapter, plain, problems

ROOT = Path(__file__).parents[2]
SEEN = Seen(
    text="# Orvane\nIts *deepest*   point is [41 m](https://x.example/).\n- second line\n| a | b |",
    measured={"call_s": 0.5, "min_chunks": 3, "top_score": 0.0, "requests_sent": 2},
    facts={"top": 1, "flags": ("low_relevance",), "lossless": True, "sent_len": {"brave": 395}},
    invariants={"holds": True, "breaks": False},
)


@pytest.mark.parametrize(
    ("expected", "wrong"),
    [
        ({"id": "C1", "why": "x", "must_contain": ["deepest point is 41 m"]}, ""),
        ({"must_contain": ["42 m"]}, "'42 m' is missing"),
        ({"must_not_contain": ["second"]}, "must not be in the text"),
        ({"must_contain": ["*deepest*   point"], "exact_whitespace": True}, ""),
        ({"must_contain": ["deepest point"], "exact_whitespace": True}, "is missing"),
        ({"ordered": ["Orvane", "second"]}, ""),
        ({"ordered": ["second", "Orvane"]}, "order"),
        ({"same_line": ["a", "b"]}, ""),
        ({"same_line": [["a", "b"], ["a", "second"]]}, "not on one line"),
        ({"own_line": ["second line"]}, ""),
        ({"own_line": ["second"]}, "not a line by itself"),
        ({"count": {"Orvane": 1}}, ""),
        ({"count": {"Orvane": 2}}, "occurs 1 times"),
        ({"count_max": {"Orvane": 0}}, "more than 0"),
        ({"error_kind": None}, ""),
        ({"error_kind": ["refused"]}, "expected an error of kind refused, got success"),
        ({"bounds": {"call_s_max": 1, "min_chunks": 3}}, ""),
        ({"bounds": {"call_s_max": 0.1}}, "measured 0.5"),
        ({"bounds": {"top_score_min_exclusive": 0}}, "measured 0.0"),
        ({"bounds": {"requests_max": 1}}, "nobody measured 'requests'"),
        ({"requests_sent_max": 2}, ""),
        ({"requests_sent_max": 1}, "measured 2"),
        ({"sent_len_max": {"brave": 395}}, ""),
        ({"sent_len_max": {"brave": 394}}, "measured 395"),
        ({"sent_len_max": {"ddg": 500}}, "nobody measured 'ddg'"),
        ({"top": 1, "lossless": True, "equal": {"top": 1}}, ""),
        ({"top": 0}, "top is 1, not 0"),
        ({"final_url": "x"}, "nobody says 'final_url'"),
        ({"flags": ["low_relevance"]}, ""),
        ({"flags": ["paywall"]}, "not flagged: paywall"),
        ({"invariants": ["holds"]}, ""),
        ({"invariants": ["breaks"]}, "does not hold"),
        ({"invariants": ["unheard of"]}, "nobody checks"),
        ({"either": [{"error_kind": "empty"}, {"top": 1}], "error_kind": None}, ""),
        ({"either": [{"error_kind": "empty"}, {"top": 2}]}, "none of the alternatives"),
        ({"a_key_of_tomorrow": 1}, "the key 'a_key_of_tomorrow', which the runner does not know"),
    ],
)
def test_every_key_is_compared(expected: dict[str, Any], wrong: str) -> None:
    told = "; ".join(problems(expected, SEEN))
    assert wrong in told if wrong else not told, told


def test_an_alternative_that_names_an_error_lets_it_through() -> None:
    seen = Seen(error_kind="empty")
    assert not list(problems({"error_kind": None, "either": [{"error_kind": "empty"}, {"top": 1}]}, seen))
    assert list(problems({"error_kind": None}, seen))


def test_an_alternative_without_an_error_lets_success_through() -> None:
    expected = {"error_kind": ["bad_query"], "either": [{"top": 1}, {"error_kind": "bad_query"}]}
    assert not list(problems(expected, Seen(facts={"top": 1})))
    assert not list(problems(expected, Seen(error_kind="bad_query")))
    assert list(problems(expected, Seen(error_kind="blocked", facts={"top": 1})))
    assert list(problems(expected, Seen(facts={"top": 2})))


def test_of_several_failures_each_must_be_expected() -> None:
    expected = {"error_kind": ["bad_response", "blocked"]}
    assert not list(problems(expected, Seen(error_kind=("blocked", "bad_response"))))
    [wrong] = problems(expected, Seen(error_kind=("blocked", "timeout")))
    assert "got timeout" in wrong
    [wrong] = problems({"error_kind": None}, Seen(error_kind=("blocked", "timeout")))
    assert "failed with blocked and timeout" in wrong


def test_marks_are_folded() -> None:
    assert plain("H<sub>2</sub>O is  **wet**\nand `cold`") == "H2O is wet and cold"


def test_every_adapter_can_be_had() -> None:
    assert {"plugins", "output"} <= set(AREAS)
    assert all(callable(adapter(area)) for area in AREAS)
    assert adapter("nobody-wrote-this") is None


def test_without_the_option_no_case_is_collected() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/cases",
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert "no tests collected" in run.stdout, run.stdout
