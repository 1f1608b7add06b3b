"""A tool as each vendor's interface takes it. Pure; the results are plain JSON data, made anew each time.

The shapes were checked against the vendors' SDKs of November 2026 (anthropic 2.14, openai 3.57,
google-genai 3.6).
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from .schema import Tool

_GEMINI_KEYS = ("type", "description", "enum", "items", "properties", "required", "minimum", "maximum")
"""What of JSON schema a function declaration may say; it is refused with anything else."""


def to_anthropic(tool: Tool, *, cache: bool = False) -> dict[str, Any]:
    """An entry of ``tools`` of the Messages API.

    Args:
        cache: mark the end of what is cached. Set it on the last tool alone: the mark covers all before it.
    """
    made: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": deepcopy(dict(tool.parameters)),
    }
    return made | {"cache_control": {"type": "ephemeral"}} if cache else made


def to_openai(tool: Tool, *, strict: bool = False) -> dict[str, Any]:
    """An entry of ``tools`` of the Responses API.

    Args:
        strict: have the schema enforced. Every parameter is required then, and null stands for one that is
            not given, which ``ToolBox`` takes as that. Said either way: the API's own default is strict,
            which optional parameters would fail.
    """
    return {"type": "function", **_function(tool, strict)}


def to_openai_chat(tool: Tool, *, strict: bool = False) -> dict[str, Any]:
    """An entry of ``tools`` of Chat Completions, and of the many services that imitate it; ``strict`` as in
    :func:`to_openai`."""
    return {"type": "function", "function": _function(tool, strict)}


def to_gemini(tool: Tool) -> dict[str, Any]:
    """An entry of ``functionDeclarations``: ``tools=[{"functionDeclarations": [...]}]``.

    A tool without parameters has none here: an object without properties is refused.
    """
    made: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if tool.parameters["properties"]:
        made["parameters"] = _gemini(tool.parameters)
    return made


def _function(tool: Tool, strict: bool) -> dict[str, Any]:
    parameters = deepcopy(dict(tool.parameters))
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": _strict(parameters) if strict else parameters,
        "strict": strict,
    }


def _strict(parameters: dict[str, Any]) -> dict[str, Any]:
    """Every property required; null for those that were optional."""
    optional = set(parameters["properties"]) - set(parameters["required"])
    for name in optional:
        schema = parameters["properties"][name]
        schema["type"] = [schema["type"], "null"]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
    return parameters | {"required": list(parameters["properties"])}


def _gemini(schema: Mapping[str, Any]) -> dict[str, Any]:
    made = {key: deepcopy(schema[key]) for key in _GEMINI_KEYS if key in schema}
    made["type"] = str(schema["type"]).upper()
    if "items" in schema:
        made["items"] = _gemini(schema["items"])
    if "properties" in schema:
        made["properties"] = {name: _gemini(inner) for name, inner in schema["properties"].items()}
    return made
