"""``webfetch doctor``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..registry.report import CheckReport
from .exit_codes import CONFIG, OK
from .output import Streams, table, width_of
from .plugin_commands import collect

if TYPE_CHECKING:
    from ..app import Webfetch


def run(args: Namespace, wf: Webfetch, streams: Streams, environ: Mapping[str, str]) -> int:
    """Check everything; the exit code says whether anything was found."""
    checks = (*wf.doctor(), *_command_checks(wf))
    found = sum(1 for check in checks if check.problem)
    if args.json:
        from ..wire import to_plain

        streams.json({"checks": [to_plain(check) for check in checks], "problems": found})
    else:
        rows = [
            ("FAIL" if c.problem else "off" if c.note else "ok", c.name, c.problem or c.note) for c in checks
        ]
        for line in table(rows, width=width_of(environ)):
            streams.text(line)
        off = sum(1 for check in checks if check.note and not check.problem)
        told = [f"{len(checks) - found - off} well", *([f"{off} off"] if off else [])]
        streams.text(f"\n{', '.join([*told, f'{found} failed' if found else 'no problem'])}")
    return CONFIG if found else OK


def _command_checks(wf: Webfetch) -> list[CheckReport]:
    return [
        CheckReport(name="commands", plugin=plugin, problem=problem)
        for plugin, problem in collect(wf).problems
    ]
