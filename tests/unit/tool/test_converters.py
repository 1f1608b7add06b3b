"""The same tools, as each vendor's interface takes them."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from webfetch_core import TOOLS, Tool, to_anthropic, to_gemini, to_openai, to_openai_chat
from webfetch_core.tool.schema import STATUS, WEB_SEARCH

BY_NAME = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
TOY = Tool(
    name="toy",
    title="Toy",
    description="Plays.",
    parameters={
        "type": "object",
        "properties": {
            "what": {"type": "string", "description": "What."},
            "how": {"type": "string", "description": "How.", "enum": ["fast", "slow"]},
            "with": {"type": "array", "items": {"type": "string"}, "description": "With whom."},
            "times": {"type": "integer", "description": "How often.", "minimum": 1, "maximum": 9},
        },
        "required": ["what"],
        "additionalProperties": False,
    },
)


def test_anthropic() -> None:
    assert to_anthropic(TOY) == {"name": "toy", "description": "Plays.", "input_schema": TOY.parameters}
    assert to_anthropic(TOY, cache=True)["cache_control"] == {"type": "ephemeral"}


def test_openai_in_both_interfaces() -> None:
    function = {"name": "toy", "description": "Plays.", "parameters": TOY.parameters, "strict": False}
    assert to_openai(TOY) == {"type": "function", **function}
    assert to_openai_chat(TOY) == {"type": "function", "function": function}


def test_strict_wants_every_parameter_and_takes_null_for_nothing() -> None:
    for made in (to_openai(TOY, strict=True), to_openai_chat(TOY, strict=True)["function"]):
        assert made["strict"] is True
        assert made["parameters"]["required"] == ["what", "how", "with", "times"]
        assert made["parameters"]["additionalProperties"] is False
        assert made["parameters"]["properties"] == {
            "what": {"type": "string", "description": "What."},
            "how": {"type": ["string", "null"], "description": "How.", "enum": ["fast", "slow", None]},
            "with": {
                "type": ["array", "null"], "items": {"type": "string"}, "description": "With whom."
            },
            "times": {
                "type": ["integer", "null"], "description": "How often.", "minimum": 1, "maximum": 9
            },
        }  # fmt: skip


def test_gemini() -> None:
    assert to_gemini(TOY) == {
        "name": "toy",
        "description": "Plays.",
        "parameters": {
            "type": "OBJECT",
            "properties": {
                "what": {"type": "STRING", "description": "What."},
                "how": {"type": "STRING", "description": "How.", "enum": ["fast", "slow"]},
                "with": {"type": "ARRAY", "items": {"type": "STRING"}, "description": "With whom."},
                "times": {"type": "INTEGER", "description": "How often.", "minimum": 1, "maximum": 9},
            },
            "required": ["what"],
        },
    }
    assert "parameters" not in to_gemini(STATUS)


@BY_NAME
def test_what_is_made_is_the_callers_own(tool: Tool) -> None:
    before = deepcopy(tool.parameters)
    made: list[Any] = [
        to_anthropic(tool),
        to_openai(tool, strict=True),
        to_openai_chat(tool),
        to_gemini(tool),
    ]
    json.dumps(made)
    for one in made:
        for schema in (one.get("input_schema"), one.get("parameters"), one.get("function", {})):
            if schema and "properties" in schema:
                schema["properties"].clear()
    assert tool.parameters == before


def test_the_vendors_own_types_take_it() -> None:
    """Where the vendors' libraries are installed (`nox -s clients`)."""
    genai = pytest.importorskip("google.genai.types")
    declared = [genai.FunctionDeclaration.model_validate(to_gemini(tool)) for tool in TOOLS]
    assert declared[0].parameters.properties["query"].type == genai.Type.STRING
    assert declared[0].description == WEB_SEARCH.description
