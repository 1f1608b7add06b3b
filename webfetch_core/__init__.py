"""webfetch: web search for LLM agents that you run yourself. This is the public face."""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False  # the constant that type checkers know; typing itself takes longer than all of this
if TYPE_CHECKING:
    from typing import Any

    from .app import Webfetch
    from .cli import console
    from .errors import AllEnginesFailed, BadQuery, Cancelled, ConfigError, WebfetchError
    from .models import Chunk, Document, Freshness, SearchHit, SearchResult
    from .runtime.cancelling import CancelToken
    from .settings import Settings
    from .tool.converters import to_anthropic, to_gemini, to_openai, to_openai_chat
    from .tool.default import handle_web_search
    from .tool.prompt import system_note
    from .tool.schema import TOOLS, Tool
    from .tool.toolbox import ToolBox, ToolOutcome

_FACE = {
    "Webfetch": "app",
    "Settings": "settings",
    "AllEnginesFailed": "errors",
    "BadQuery": "errors",
    "CancelToken": "runtime.cancelling",
    "Cancelled": "errors",
    "ConfigError": "errors",
    "WebfetchError": "errors",
    "Chunk": "models",
    "Document": "models",
    "Freshness": "models",
    "SearchHit": "models",
    "SearchResult": "models",
    "TOOLS": "tool.schema",
    "Tool": "tool.schema",
    "ToolBox": "tool.toolbox",
    "ToolOutcome": "tool.toolbox",
    "console": "cli",
    "handle_web_search": "tool.default",
    "system_note": "tool.prompt",
    "to_anthropic": "tool.converters",
    "to_gemini": "tool.converters",
    "to_openai": "tool.converters",
    "to_openai_chat": "tool.converters",
}

__all__ = [
    "TOOLS",
    "AllEnginesFailed",
    "BadQuery",
    "CancelToken",
    "Cancelled",
    "Chunk",
    "ConfigError",
    "Document",
    "Freshness",
    "SearchHit",
    "SearchResult",
    "Settings",
    "Tool",
    "ToolBox",
    "ToolOutcome",
    "Webfetch",
    "WebfetchError",
    "__version__",
    "console",
    "handle_web_search",
    "system_note",
    "to_anthropic",
    "to_gemini",
    "to_openai",
    "to_openai_chat",
]


def __getattr__(name: str) -> Any:
    # Lazy, so that `import webfetch_core` costs a millisecond wherever only a part is needed.
    if name in _FACE:
        from importlib import import_module

        value = getattr(import_module(f".{_FACE[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
