"""``webfetch status``."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..registry.report import STAGES, StatusReport
from .exit_codes import OK
from .output import Streams, table, told_size, width_of

if TYPE_CHECKING:
    from ..app import Webfetch


def run(args: Namespace, wf: Webfetch, streams: Streams, environ: Mapping[str, str]) -> int:
    """Say what serves a search now, and what the settings and the cache are."""
    report = wf.status()
    if args.json:
        streams.record(report)
    else:
        streams.text("\n".join(status_lines(report, width_of(environ), every_setting=args.all)))
    return OK


def status_lines(report: StatusReport, width: int, *, every_setting: bool = False) -> list[str]:
    """The report for a reader; ``every_setting`` shows those at their defaults too."""
    lines = table(
        [
            ("webfetch", f"{report.version} on Python {report.python}"),
            ("serving", report.serving),
            ("data", report.home),
        ],
        width=width,
    )
    sections: list[tuple[str, Sequence[Sequence[str]]]] = [
        ("providers", list(_providers(report))),
        ("cache", cache_rows(report.cache)),
        ("served so far", [(name.replace("_", " "), str(n)) for name, n in sorted(report.counters.items())]),
        ("settings", list(_settings(report, every_setting))),
    ]
    for title, rows in sections:
        if rows:
            lines += ["", title, *table(rows, indent="  ", width=width)]
    if report.notes:
        lines += ["", "what to do", *(line for note in report.notes for line in _item(note, width))]
    return lines


def _item(text: str, width: int) -> list[str]:
    return table([("-", text)], indent="  ", width=width)


def _providers(report: StatusReport) -> Iterator[tuple[str, ...]]:
    for stage in STAGES:
        for row in report.providers:
            if row.stage == stage:
                yield stage, row.name, row.state, row.reason or row.summary


def cache_rows(cache: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Where the cache is, how big, and what is in it; or why there is none."""
    if "problem" in cache:
        return [("off", str(cache["problem"]))]
    if not cache.get("path") and not cache.get("entries"):
        return [("none", "nothing is kept: pip install webfetch-cache-lmdb")]
    rows = [("path", str(cache.get("path") or "in memory"))]
    if isinstance(cache.get("bytes"), int):
        rows.append(("size", told_size(cache["bytes"])))
    entries = cache.get("entries")
    if isinstance(entries, Mapping):
        rows.append(
            ("entries", ", ".join(f"{n} {space}" for space, n in sorted(entries.items()) if n) or "none")
        )
    return rows


def _settings(report: StatusReport, every: bool) -> Iterator[tuple[str, str, str]]:
    rows = [row for row in report.settings if every or row.origin != "default"]
    if not rows:
        yield "all", "at their defaults", "(--all shows them)"
    for row in rows:
        yield row.key, json.dumps(row.value, ensure_ascii=False, default=str), row.origin
