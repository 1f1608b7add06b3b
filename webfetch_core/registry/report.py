"""One record of what is running and why, for the command line, the tools and the evals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import Factory, frozen

STAGES = ("search", "fetch", "extract", "rank", "compress", "cache", "match", "freshness", "llm")
"""Stage names, in pipeline order; also the settings that select providers."""


@frozen(kw_only=True)
class ProviderReport:
    """One provider. ``state`` is ``ready`` (can work), ``off`` (declines: ``reason`` has the fix),
    ``broken`` (failed), ``benched`` (breaker open) or ``unused`` (not selected)."""

    stage: str
    name: str
    plugin: str
    dist: str = ""
    state: str = "ready"
    reason: str = ""
    summary: str = ""
    priority: int = 0
    usd_per_1k: float = 0.0


@frozen(kw_only=True)
class PluginReport:
    """One installed plugin. ``state`` is ``loaded``, ``failed``, ``blocked`` (by name, not imported),
    ``incompatible`` (other API major or unmet requirement, not imported) or ``built-in``."""

    name: str
    dist: str = ""
    version: str = ""
    hooks: tuple[str, ...] = ()
    state: str = "loaded"
    reason: str = ""
    providers: tuple[ProviderReport, ...] = ()


@frozen(kw_only=True)
class SettingReport:
    """One setting: its dotted key, its value as JSON-shaped data, and where it came from."""

    key: str
    value: Any
    origin: str = "default"


@frozen(kw_only=True)
class CheckReport:
    """One line of ``webfetch doctor``; ``problem`` is empty when all is well, else says what to do.

    ``note`` is what is worth knowing and no problem: a provider that nobody named declines.
    """

    name: str
    plugin: str = ""
    problem: str = ""
    note: str = ""


@frozen(kw_only=True)
class StatusReport:
    """Everything that runs. ``serving`` says honestly, in one line, what answers a search now;
    ``counters`` are sums over every process that has used this cache."""

    version: str
    python: str
    home: str
    serving: str
    plugins: tuple[PluginReport, ...] = ()
    providers: tuple[ProviderReport, ...] = ()
    settings: tuple[SettingReport, ...] = ()
    cache: Mapping[str, Any] = Factory(dict)
    counters: Mapping[str, int] = Factory(dict)
    notes: tuple[str, ...] = ()
