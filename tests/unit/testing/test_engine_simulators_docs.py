"""What the page on simulated engines shows is what they do."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.testing.engines import simulator
from webfetch_core.testing.engines.__main__ import _parser
from webfetch_core.testing.engines.base import ENGINE_FAULTS, WIRE_FAULTS, CorpusDocument

PAGE = Path(__file__).parents[3] / "docs" / "plugin-authors" / "simulators.md"


@pytest.fixture(scope="module")
def page() -> str:
    if not PAGE.is_file():
        pytest.skip("the documentation is not beside the tests")
    return PAGE.read_text("utf-8")


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


def test_the_example_of_a_test_runs(page: str) -> None:
    exec(compile(blocks(page)[0], str(PAGE), "exec"), {})


def test_the_example_of_an_engine_answers(page: str) -> None:
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(blocks(page)[1], str(PAGE), "exec"), names)
    with names["MineSimulator"]([CorpusDocument(url="https://tide.example/", text="The tide.")]) as mine:
        request = urllib.request.Request(f"{mine.endpoint}/search?q=tide&n=3", headers={"X-Key": "k"})
        with urllib.request.urlopen(request, timeout=5) as reply:
            assert [row["url"] for row in json.load(reply)["results"]] == ["https://tide.example/"]
        assert mine.queries[0].limit == 3


def test_every_fault_is_named(page: str) -> None:
    assert [fault for fault in (*ENGINE_FAULTS, *WIRE_FAULTS) if f"`{fault}`" not in page] == []


def test_every_option_is_named_and_none_that_is_not_there(page: str) -> None:
    offered = {option for action in _parser(simulator("brave"))._actions for option in action.option_strings}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page)) - {"--explain"}
    assert named <= offered
    own = {option for action in _parser(None)._actions for option in action.option_strings}
    assert {option for option in own if option.startswith("--")} - named == set()
