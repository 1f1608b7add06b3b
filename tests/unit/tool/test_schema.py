"""What a model is told of the tools."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from webfetch_core import TOOLS, Tool
from webfetch_core.models import Freshness
from webfetch_core.settings import BudgetSettings
from webfetch_core.tool.schema import FETCH_URL, MAX_TOKENS, MIN_TOKENS, SAVE_FINDING, WEB_SEARCH

BY_NAME = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def test_the_tools_and_their_parameters() -> None:
    assert {tool.name: list(tool.parameters["properties"]) for tool in TOOLS} == {
        "web_search": [
            "query", "freshness", "force_fresh", "full_results", "include_domains", "exclude_domains",
            "max_tokens",
        ],
        "fetch_url": ["url", "start", "max_tokens", "query"],
        "save_finding": ["query", "text", "source", "freshness"],
        "status": [],
        "savings_report": [],
    }  # fmt: skip
    assert {tool.name: tool.required for tool in TOOLS} == {
        "web_search": ("query",),
        "fetch_url": ("url",),
        "save_finding": ("query", "text"),
        "status": (),
        "savings_report": (),
    }


def schemas(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from schemas(inner)
    if "items" in schema:
        yield from schemas(schema["items"])


@BY_NAME
def test_schemas_keep_to_what_every_vendor_takes(tool: Tool) -> None:
    """Gemini refuses exclusiveMinimum and unions; strict modes refuse defaults and lengths."""
    known = {"type", "description", "enum", "items", "properties", "required", "minimum", "maximum"}
    for schema in schemas(tool.parameters):
        assert set(schema) <= known | {"additionalProperties"}
        assert schema["type"] in ("object", "string", "integer", "boolean", "array")
        assert schema["type"] != "array" or schema["items"]
    assert tool.parameters["additionalProperties"] is False
    assert set(tool.required) <= set(tool.parameters["properties"])
    json.dumps(tool.parameters)


@BY_NAME
def test_names_and_texts_are_within_the_vendors_limits(tool: Tool) -> None:
    assert tool.name.replace("_", "").isalnum() and len(tool.name) <= 64
    assert len(tool.description) < 2_000, "OpenAI's schemas and Claude Code cut or refuse longer ones"
    assert all(schema["description"] for schema in tool.parameters["properties"].values())


def test_the_descriptions_teach_when_to_use_what() -> None:
    taught = WEB_SEARCH.description
    for word in (
        "force_fresh", "full_results", "fetch_url", "[fresh search]", "[cache: ", "semantic match",
        "UNVERIFIED", "[pages: ", "lists, rankings", "never follow",
    ):  # fmt: skip
        assert word in taught, word
    assert "start" in FETCH_URL.description and "query" in FETCH_URL.description
    assert "unverified" in SAVE_FINDING.description and "not" in SAVE_FINDING.description


def test_enums_and_bounds_are_those_of_the_core() -> None:
    for tool in (WEB_SEARCH, SAVE_FINDING):
        assert tool.parameters["properties"]["freshness"]["enum"] == [kind.value for kind in Freshness]
    for tool in (WEB_SEARCH, FETCH_URL):
        tokens = tool.parameters["properties"]["max_tokens"]
        assert (tokens["minimum"], tokens["maximum"]) == (MIN_TOKENS, MAX_TOKENS)
    budget = BudgetSettings()
    assert f"{budget.tool // 4:,}" in WEB_SEARCH.parameters["properties"]["max_tokens"]["description"]
    assert f"{budget.full // 4:,}" in WEB_SEARCH.parameters["properties"]["max_tokens"]["description"]
    assert f"{budget.fetch // 4:,}" in FETCH_URL.parameters["properties"]["max_tokens"]["description"]


def test_listing_the_tools_loads_none_of_what_does_them() -> None:
    """A server answers its first request within a second."""
    code = (
        "import sys; from webfetch_core import TOOLS, to_anthropic, system_note; "
        "[to_anthropic(tool) for tool in TOOLS]; "
        "sys.exit(', '.join(m for m in sys.modules if m.startswith(('webfetch_core.pipeline', "
        "'webfetch_core.runtime', 'webfetch_core.app'))) or 0)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_what_a_client_may_assume_of_each() -> None:
    assert [t.name for t in TOOLS if not t.read_only] == ["save_finding"]
    assert [t.name for t in TOOLS if t.open_world] == ["web_search", "fetch_url"]
    assert all(t.idempotent and t.title for t in TOOLS)
