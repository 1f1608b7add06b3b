"""``webfetch cache export|import|verify|compact``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CacheError
from ..pipeline.cache_check import RowCheck, check_rows
from ..pipeline.cache_export import export_rows
from ..pipeline.cache_import import ImportReport, import_rows
from ..stages import Cache
from .exit_codes import CACHE, OK
from .output import Streams, told_size

if TYPE_CHECKING:
    from ..app import Webfetch

REPLACE = "webfetch cache export FILE, end what uses the cache, delete its files, webfetch cache import FILE"


def export(args: Namespace, wf: Webfetch, store: Cache, streams: Streams, width: int) -> int:
    """Write rows into a file."""
    report = export_rows(store, Path(args.file), _spaces(args, store))
    if args.json:
        from ..wire import to_plain

        streams.json({"exported": to_plain(report)})
    else:
        streams.text(f"{_counted(report.rows)} written to {report.path}, {told_size(report.bytes)}")
    if report.left_out:
        streams.note(f"webfetch: {_number(report.left_out, 'row')} left out: too large for the file")
    return OK


def _spaces(args: Namespace, store: Cache) -> Sequence[str]:
    if args.all and args.space:
        from .parser import UsageFault

        raise UsageFault("--all contradicts --space", fix="leave one of them away")
    if not args.all:
        return tuple(args.space)
    from ..pipeline.cache_check import spaces_of

    return spaces_of(store)


def import_(args: Namespace, wf: Webfetch, store: Cache, streams: Streams, width: int) -> int:
    """Store the rows of a file; 7 when some of it could not be used."""
    report = import_rows(store, Path(args.file), now=wf.host.clock.time(), spaces=args.space)
    if args.json:
        from ..wire import to_plain

        streams.json({"imported": to_plain(report)})
    else:
        streams.text(f"{_counted(report.stored)} imported, {report.kept} kept as they were")
    for line in _import_notes(report, args.file):
        streams.note(f"webfetch: {line}")
    return CACHE if report.problem or report.left_out else OK


def _import_notes(report: ImportReport, file: str) -> list[str]:
    notes = [f"{_number(n, 'row')} left out: {reason}" for reason, n in sorted(report.left_out.items())]
    return notes + ([f"{file}: {report.problem}"] if report.problem else [])


def verify(args: Namespace, wf: Webfetch, store: Cache, streams: Streams, width: int) -> int:
    """Look for damage in the store and in its rows; 7 when there is some."""
    look = getattr(store, "verify", None)
    problems = [str(line) for line in look()] if callable(look) else []
    # Rows of a damaged file are not read through: that could end the process.
    rows = check_rows(store, wf.host.clock.time()) if not problems else RowCheck(rows={}, damaged={})
    sound = not problems and not rows.damaged
    aside = [str(file) for file in store.stats().get("set_aside", ())] if not problems else []
    if args.json:
        from ..wire import to_plain

        checked = {"store": problems if callable(look) else None, "rows": to_plain(rows), "set_aside": aside}
        streams.json({"sound": sound, **checked})
    elif sound:
        streams.text(f"sound: {_counted(rows.rows)}")
    else:
        streams.text("\n".join(problems) or _bad_rows(rows))
    if not callable(look):
        streams.note("webfetch: this store cannot look through itself; its rows were looked at")
    for file in aside:
        streams.note(f"webfetch: {file} was damaged and is kept; delete it when you do not need it")
    if problems:
        streams.note(f"fix: {REPLACE}")
    elif not sound:
        streams.note(
            "fix: such a row counts as missing; webfetch cache purge --space S removes all of a space"
        )
    return OK if sound else CACHE


def _bad_rows(rows: RowCheck) -> str:
    lines = [f"{row.space} {row.key[:12]}: {row.reason}" for row in rows.told]
    more = sum(rows.damaged.values()) - len(rows.told)
    return "\n".join(lines + ([f"and {more} more"] if more else []))


def compact(args: Namespace, wf: Webfetch, store: Cache, streams: Streams, width: int) -> int:
    """Give the disk back what deleted rows left."""
    work = getattr(store, "compact", None)
    if not callable(work):
        raise CacheError("this cache cannot be compacted while it is in use", fix=REPLACE)
    told: Mapping[str, Any] = work()
    if args.json:
        streams.json({"compacted": dict(told)})
    else:
        before, after = int(told.get("before", 0)), int(told.get("after", 0))
        streams.text(f"{told_size(before)} before, {told_size(after)} after")
    return OK


def _counted(rows: Mapping[str, int]) -> str:
    """``12 rows (2 pages, 10 queries)``."""
    each = ", ".join(f"{n} {space}" for space, n in sorted(rows.items()) if n)
    return _number(sum(rows.values()), "row") + (f" ({each})" if each else "")


def _number(n: int, noun: str) -> str:
    return f"{n} {noun if n == 1 else noun + 's'}"
