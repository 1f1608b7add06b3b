"""Reports of what runs and why: the same records for the command line, the tools and the evals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import attrs

from . import __version__
from .errors import ConfigError, NotConfigured, WebfetchError
from .pipeline.counters import Counters
from .registry.manager import describe
from .registry.report import STAGES, CheckReport, PluginReport, ProviderReport, SettingReport, StatusReport
from .runtime.breaker import BreakerState
from .runtime.host import Host
from .settings import Settings

_SECRET = re.compile(r"key\Z|token|secret|passw|credential|cookie|\bauth", re.IGNORECASE)

NEEDED = {
    "search": "pip install webfetch-search-ddg, or webfetch-search-local for your own files",
    "fetch": "pip install webfetch-fetch-http",
    "extract": "pip install webfetch-extract-html",
    "rank": "pip install webfetch-rank-bm25",
}
"""Stages without which a search gives little, and what serves them."""


def status_report(host: Host, python: str) -> StatusReport:
    """One record of everything."""
    return StatusReport(
        version=__version__,
        python=python,
        home=str(host.settings.home_dir(host.environ)),
        serving=_serving(host),
        plugins=plugin_reports(host),
        providers=provider_reports(host),
        settings=tuple(setting_reports(host.settings)),
        cache=_cache(host),
        counters=_counters(host),
        notes=tuple(_notes(host)),
    )


def provider_reports(host: Host) -> tuple[ProviderReport, ...]:
    """Every provider: the catalog's judgement, and what calls have taught since."""
    rows = []
    entries = {(s, e.plugin, e.name): e for s in STAGES for e in host.catalog.entries(s)}
    for row in host.catalog.reports():
        handle = host.handle_of(entries[row.stage, row.plugin, row.name])
        state, reason = row.state, row.reason
        if state == "ready" and handle.off_reason:
            state, reason = "off", handle.off_reason
        elif state == "ready" and handle.breaker.state is not BreakerState.CLOSED:
            state, reason = "benched", handle.breaker.reason
        rows.append(attrs.evolve(row, state=state, reason=reason))
    return tuple(rows)


def plugin_reports(host: Host) -> tuple[PluginReport, ...]:
    """Every plugin that was met, with its providers."""
    providers = provider_reports(host)
    return tuple(
        PluginReport(
            name=plugin.name,
            dist=plugin.dist,
            version=plugin.version,
            hooks=plugin.hooks,
            state=plugin.state,
            reason=plugin.reason,
            providers=tuple(p for p in providers if p.plugin == plugin.name),
        )
        for plugin in host.manager.plugins
    )


def setting_reports(settings: Settings) -> Iterator[SettingReport]:
    """Every setting with its value and origin; of what looks like a secret, only that it is set."""
    for key, value in _flat(attrs.asdict(settings, filter=lambda a, _: a.name != "origins")):
        shown = "(set)" if value and _SECRET.search(key.rpartition(".")[2]) else value
        yield SettingReport(key=key, value=shown, origin=settings.origins.get(key, "default"))


def _flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", list(value) if isinstance(value, tuple) else value


def build_engines(host: Host) -> None:
    """Build the chosen engines, which by contract is cheap; what they say of it is in the reports."""
    if host.closed:
        return
    try:
        handles = host.handles("search")
    except ConfigError:
        return
    for handle in handles:
        with suppress(WebfetchError):
            host.caller.call(
                handle,
                lambda engine: engine,
                scope=host.scope(),
                deadline=host.deadline(2.0),
                count=lambda _: 0,
            )


def _serving(host: Host) -> str:
    try:
        names = [h.name for h in host.handles("search") if not h.off_reason]
    except ConfigError as exc:
        return f"nothing: {exc}"
    if not names:
        return "nothing: no search engine is ready"
    if len(names) == 1:
        return f"{names[0]} alone"
    if host.settings.search_mode == "single":
        return f"{names[0]} alone (search_mode is single)"
    return f"{host.settings.search_mode} of {', '.join(names)}"


def _cache(host: Host) -> dict[str, Any]:
    try:
        store = host.store()
        return (
            dict(store.stats())
            if store is not None
            else {"problem": host.store_problem or "no cache is installed"}
        )
    except Exception as exc:
        return {"problem": describe(exc)}


def _counters(host: Host) -> dict[str, int]:
    try:
        return Counters(host.store()).lifetime()
    except Exception:  # what is wrong with the cache is told by _cache
        return {}


def _notes(host: Host) -> Iterator[str]:
    yield from host.catalog.notes
    for stage, fix in NEEDED.items():
        try:
            if not any(h.entry.plugin != "builtin" and not h.off_reason for h in host.handles(stage)):
                yield f"nothing is ready for the stage {stage}: {fix}"
        except ConfigError as exc:
            yield f"{stage}: {exc}"


def check_reports(host: Host) -> tuple[CheckReport, ...]:
    """The core's own checks, then each plugin's; a check that raises is a problem of its own."""
    rows = [
        CheckReport(name=f"plugin {p.name}", plugin=p.name, problem=f"{p.state}: {p.reason}")
        for p in host.manager.plugins
        if p.state in ("failed", "incompatible")
    ]
    rows.append(CheckReport(name="cache", problem=str(_cache(host).get("problem", ""))))
    rows += [
        _check(row, host)
        for row in provider_reports(host)
        if row.plugin != "builtin" and row.state != "unused"
    ]
    # After the providers were built: only then is it known which of them decline.
    rows += [CheckReport(name="pipeline", problem=note) for note in _notes(host)]
    for answer in host.manager.ask_each("webfetch_health_checks"):
        if answer.problem:
            rows.append(CheckReport(name="health checks", plugin=answer.plugin, problem=answer.problem))
            continue
        for check in answer.value or ():
            try:
                problem = check.check() or ""
            except Exception as exc:
                problem = f"the check itself failed: {describe(exc)}"
            rows.append(CheckReport(name=str(check.name), plugin=answer.plugin, problem=problem))
    return tuple(rows)


def _check(row: ProviderReport, host: Host) -> CheckReport:
    """Build what can be built. One that breaks is a problem; so is one that declines, if it is named."""
    declined, reason = row.state == "off", f"{row.state}: {row.reason}"
    if row.state == "ready":
        declined, reason = _build(row, host)
    chosen = getattr(host.settings, row.stage)
    optional = declined and (chosen == "auto" or row.name not in chosen)
    name = f"{row.stage} {row.name}"
    if optional:
        return CheckReport(name=name, plugin=row.plugin, note=reason)
    return CheckReport(name=name, plugin=row.plugin, problem=reason)


def _build(row: ProviderReport, host: Host) -> tuple[bool, str]:
    """Whether it declines, and why it cannot be built; (False, "") when it can."""
    entry = next(e for e in host.catalog.entries(row.stage) if (e.plugin, e.name) == (row.plugin, row.name))
    try:
        host.caller.call(
            host.handle_of(entry),
            lambda built: built,
            scope=host.scope("doctor"),
            deadline=host.deadline(10.0),
        )
    except NotConfigured as exc:
        return True, f"off: {exc}"
    except WebfetchError as exc:
        return False, f"{exc.kind}: {exc}"
    return False, ""
