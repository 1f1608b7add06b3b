"""The reports of ``status`` for a model, and as data without paths of this machine. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any

from ..models import SCHEMA_VERSION
from ..registry.report import STAGES, ProviderReport, StatusReport
from .failures import clean

_WORKS = ("ready", "benched")


def status_text(report: StatusReport, secrets: Iterable[str] = ()) -> str:
    """What works, what does not, and what to do about it."""
    return "\n".join(_lines(report, tuple(secrets)))


def status_plain(report: StatusReport, secrets: Iterable[str] = ()) -> dict[str, Any]:
    """The report as JSON data. Settings are left out: they are the operator's."""
    secrets = tuple(secrets)
    cache = {
        key: value
        for key, value in report.cache.items()
        if isinstance(value, int) or (key == "entries" and isinstance(value, dict))
    }
    problem = clean(str(report.cache["problem"]), secrets) if "problem" in report.cache else ""
    return {
        "schema_version": SCHEMA_VERSION,
        "version": report.version,
        "serving": clean(report.serving, secrets),
        "providers": [
            {
                "stage": row.stage,
                "name": row.name,
                "state": row.state,
                "reason": clean(row.reason, secrets),
                "usd_per_1k": row.usd_per_1k,
            }
            for row in report.providers
            if row.state != "unused"
        ],
        "cache": cache | ({"problem": problem} if problem else {}),
        "counters": dict(report.counters),
        "notes": [clean(note, secrets) for note in report.notes],
    }


def _lines(report: StatusReport, secrets: tuple[str, ...]) -> Iterator[str]:
    yield f"webfetch {report.version}"
    yield f"Searches are answered by: {clean(report.serving, secrets)}"
    for stage in STAGES:
        rows = [row for row in report.providers if row.stage == stage and row.state != "unused"]
        if stage != "cache" and rows:
            yield f"{stage}: {'; '.join(_provider(row, secrets) for row in _working_first(rows))}"
    yield f"cache: {_cache(report, secrets)}"
    searches = report.counters.get("searches", 0)
    if searches:
        yield f"searches so far, by everybody who used this cache: {searches:,}"
    if report.notes:
        yield "To be done by the person who runs webfetch:"
        yield from (f"- {clean(note, secrets)}" for note in report.notes)


def _working_first(rows: list[ProviderReport]) -> list[ProviderReport]:
    return sorted(rows, key=lambda row: row.state not in _WORKS)


def _provider(row: ProviderReport, secrets: tuple[str, ...]) -> str:
    reason = f" ({clean(row.reason, secrets)})" if row.reason and row.state != "ready" else ""
    return f"{row.name} {row.state}{reason}"


def _cache(report: StatusReport, secrets: tuple[str, ...]) -> str:
    if "problem" in report.cache:
        return f"off ({clean(str(report.cache['problem']), secrets)})"
    path, size, entries = report.cache.get("path"), report.cache.get("bytes"), report.cache.get("entries")
    if not path and not entries:
        return "none; nothing is kept"
    told = [f"file {PurePath(str(path)).name}" if path else "in memory"]
    if isinstance(size, int):
        told.append(f"{size / 1e6:,.1f} MB")
    if isinstance(entries, dict):
        told += [f"{count:,} {space}" for space, count in sorted(entries.items()) if count]
    return ", ".join(told)
