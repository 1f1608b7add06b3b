"""The kit for tests of plugins and hosts. Opt-in: nothing here is loaded unless it is imported.

``pytest_plugins = ["webfetch_core.testing.plugin"]`` gives the fixtures. The contract classes are
subclassed; the fakes are passed to ``Webfetch(plugins=[...])``. pytest itself is imported by the
contracts and the fixtures alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .chat_models import AnthropicSimulator, OpenAISimulator, Say, Use
    from .clock import FakeClock
    from .context import FakeContext, loopback_http
    from .contracts import (
        CacheContract,
        CompressorContract,
        ExtractorContract,
        FetcherContract,
        FreshnessClassifierContract,
        LLMContract,
        QueryMatcherContract,
        RankerContract,
        SearchEngineContract,
        overrides_contract,
    )
    from .dists import fake_dist
    from .fakes import (
        FakePlugin,
        Hang,
        ScriptedClassifier,
        ScriptedCompressor,
        ScriptedEngine,
        ScriptedExtractor,
        ScriptedFetcher,
        ScriptedLLM,
        ScriptedMatcher,
        ScriptedRanker,
        Slow,
        fake_plugin,
        hits,
    )
    from .hub import LoopbackHub, model_store
    from .memory import MemoryCache
    from .service import LoopbackService
    from .site import LoopbackSite

_WHERE = {
    **dict.fromkeys(("AnthropicSimulator", "OpenAISimulator", "Say", "Use"), "chat_models"),
    "FakeClock": "clock",
    "FakeContext": "context",
    "loopback_http": "context",
    "fake_dist": "dists",
    "LoopbackHub": "hub",
    "LoopbackService": "service",
    "model_store": "hub",
    "LoopbackSite": "site",
    "MemoryCache": "memory",
    **dict.fromkeys(
        (
            "FakePlugin",
            "Hang",
            "ScriptedClassifier",
            "ScriptedCompressor",
            "ScriptedEngine",
            "ScriptedExtractor",
            "ScriptedFetcher",
            "ScriptedLLM",
            "ScriptedMatcher",
            "ScriptedRanker",
            "Slow",
            "fake_plugin",
            "hits",
        ),
        "fakes",
    ),
    **dict.fromkeys(
        (
            "CacheContract",
            "CompressorContract",
            "ExtractorContract",
            "FetcherContract",
            "FreshnessClassifierContract",
            "LLMContract",
            "QueryMatcherContract",
            "RankerContract",
            "SearchEngineContract",
            "overrides_contract",
        ),
        "contracts",
    ),
}

__all__ = [
    "AnthropicSimulator",
    "CacheContract",
    "CompressorContract",
    "ExtractorContract",
    "FakeClock",
    "FakeContext",
    "FakePlugin",
    "FetcherContract",
    "FreshnessClassifierContract",
    "Hang",
    "LLMContract",
    "LoopbackHub",
    "LoopbackService",
    "LoopbackSite",
    "MemoryCache",
    "OpenAISimulator",
    "QueryMatcherContract",
    "RankerContract",
    "Say",
    "ScriptedClassifier",
    "ScriptedCompressor",
    "ScriptedEngine",
    "ScriptedExtractor",
    "ScriptedFetcher",
    "ScriptedLLM",
    "ScriptedMatcher",
    "ScriptedRanker",
    "SearchEngineContract",
    "Slow",
    "Use",
    "fake_dist",
    "fake_plugin",
    "hits",
    "loopback_http",
    "model_store",
    "overrides_contract",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        from importlib import import_module

        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
