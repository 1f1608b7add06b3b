"""What the core relies on, as classes to subclass in a plugin's own tests.

    class TestBrave(SearchEngineContract):
        plugin = "webfetch_search_brave.plugin"
        provider = "brave"
        reply = {"web": {"results": [...]}}

A contract's tests may not be overridden or switched off silently: decorate the replacement with
``@overrides_contract("why this plugin may differ")``. Fixtures and attributes are free to override.
"""

from __future__ import annotations

from .base import ProviderContract, overrides_contract
from .llm import LLMContract
from .pages import ExtractorContract, FetcherContract
from .queries import FreshnessClassifierContract, QueryMatcherContract
from .ranking import CompressorContract, RankerContract
from .search import SearchEngineContract
from .storing import CacheContract

__all__ = [
    "CacheContract",
    "CompressorContract",
    "ExtractorContract",
    "FetcherContract",
    "FreshnessClassifierContract",
    "LLMContract",
    "ProviderContract",
    "QueryMatcherContract",
    "RankerContract",
    "SearchEngineContract",
    "overrides_contract",
]
