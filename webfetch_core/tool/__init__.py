"""Tools for agents: schemas, converters to each vendor's form, and the boundary that never raises."""

from __future__ import annotations

from .converters import to_anthropic, to_gemini, to_openai, to_openai_chat
from .default import handle_web_search
from .prompt import system_note
from .schema import TOOLS, Tool
from .toolbox import ToolBox, ToolOutcome

__all__ = [
    "TOOLS",
    "Tool",
    "ToolBox",
    "ToolOutcome",
    "handle_web_search",
    "system_note",
    "to_anthropic",
    "to_gemini",
    "to_openai",
    "to_openai_chat",
]
