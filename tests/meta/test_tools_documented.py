"""``docs/tools.md`` says what the tools are, and its examples run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import webfetch_core
from webfetch_core import TOOLS
from webfetch_core.settings import BudgetSettings, Settings
from webfetch_core.testing import ScriptedEngine, ScriptedExtractor, ScriptedFetcher, fake_plugin
from webfetch_core.tool.failures import ADVICE
from webfetch_core.tool.reading import RANK_S
from webfetch_core.tool.schema import MAX_TOKENS, MIN_TOKENS
from webfetch_core.tool.structured import MAX_STRUCTURED_CHARS

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")
URL = "https://tarn.example/lighthouse"


def rows(title: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its head."""
    section = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def test_every_tool_and_parameter_is_there_in_order() -> None:
    told = {code(name)[0]: code(parameters) for name, parameters, _ in rows("Which tools are there?")}
    assert told == {tool.name: list(tool.parameters["properties"]) for tool in TOOLS}


def test_every_kind_of_failure_is_there() -> None:
    told = [kind for kinds, _ in rows("What do failures say?") for kind in code(kinds)]
    assert sorted(told) == sorted(ADVICE)


def test_the_converters_are_there() -> None:
    told = [
        name.partition("(")[0]
        for _, call, _ in rows("How do I offer them to a model?")
        for name in code(call)
    ]
    made = sorted(name for name in webfetch_core.__all__ if name.startswith("to_"))
    assert sorted(name for name in told if name.startswith("to_")) == made


def test_the_limits_are_the_settings() -> None:
    budget = BudgetSettings()
    told = [cells[1] for cells in rows("How long are answers?")]
    assert f"{budget.tool:,} characters, of which excerpts {budget.compressed}" in told[0]
    assert f"{budget.full:,}" in told[1] and f"{budget.fetch:,}" in told[2] and f"{budget.tool:,}" in told[3]
    assert f"from {MIN_TOKENS} to {MAX_TOKENS:,} tokens" in told[4]
    assert f"{MAX_STRUCTURED_CHARS:,} characters" in PAGE
    settings = Settings()
    assert f"`deadline_s` ({settings.deadline_s:.0f} s)" in PAGE
    assert f"`fetch_timeout_s` ({settings.fetch_timeout_s:.0f} s), and up to {RANK_S:.0f} s more" in PAGE


def test_the_first_example_runs(wf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (example, *_) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    host = wf(
        fake_plugin("search", ScriptedEngine([URL])),
        fake_plugin("fetch", ScriptedFetcher({URL: "The lighthouse of Tarn\n\nIt is 41 metres high."})),
        fake_plugin("extract", ScriptedExtractor()),
    )
    monkeypatch.setattr(webfetch_core, "Webfetch", lambda: host)
    names: dict[str, Any] = {}
    exec(example, names)
    assert "41 metres high" in names["text"]
    assert [tool["name"] for tool in names["tools"]] == [
        "web_search",
        "fetch_url",
        "status",
        "savings_report",
    ]


def test_what_the_model_sees_is_what_it_sees(wf: Any) -> None:
    """The sample of an answer, line by line."""
    sample = PAGE.partition("## What does the model see?\n")[2].split("```")[1].strip()
    page = "The lighthouse of Tarn\n\nIts tower was measured in 2025 and is 41 metres high."
    host = wf(
        fake_plugin("search", ScriptedEngine([URL])),
        fake_plugin("fetch", ScriptedFetcher({URL: page})),
        fake_plugin("extract", ScriptedExtractor()),
    )
    text = webfetch_core.ToolBox(host).handle(
        "web_search", {"query": "height of the tower", "num_results": 3}
    )
    text = re.sub(r"\b[0-9a-f]{8}\b", "cc439650", text.replace("The lighthouse of Tarn\n\n", ""))
    text = "\n".join(line for line in text.splitlines() if "no ranker is installed" not in line)
    assert text == sample
