"""``webfetch index add | list | remove | refresh``."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from webfetch_core.api import CommandSet, ConfigError, PluginContext, WebfetchError

from .indexing import Changes
from .library import Library
from .manifest import Manifest
from .settings import LocalSettings
from .upkeep import Upkeep, check_folder, check_indexed_folder
from .urls import check_web_url, read_url_map

SCHEMA_VERSION = 1
_SHOWN_SKIPS = 20
_SHOWN_KINDS = 6


def add_index_command(commands: CommandSet) -> None:
    """Add the command ``index``."""
    commands.add("index", help="make your own folders searchable", configure=_configure, run=run)


def _configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="index_action", metavar="ACTION", required=True)
    add = actions.add_parser("add", help="index a folder")
    add.add_argument("path", metavar="PATH", help="the folder")
    add.add_argument("--name", default="", help="name of the index (default: the folder's)")
    add.add_argument(
        "--base-url",
        default="",
        metavar="URL",
        help="public address of the folder; hits carry it instead of local:",
    )
    add.add_argument(
        "--url-map",
        default="",
        metavar="FILE",
        help='JSON lines {"path": ..., "url": ...}: addresses of single files',
    )
    actions.add_parser("list", help="show the indexes")
    remove = actions.add_parser("remove", help="forget an index; its folder is not touched")
    remove.add_argument("name", metavar="NAME")
    refresh = actions.add_parser("refresh", help="bring one index, or all of them, up to date")
    refresh.add_argument("name", metavar="NAME", nargs="?", default="")


def run(args: Namespace, context: PluginContext, out: TextIO) -> int:
    """Carry out one action; return the exit code. Raises ConfigError and CacheError with their fix."""
    action: Callable[[Namespace, PluginContext, TextIO], int] = {
        "add": _add,
        "list": _list,
        "remove": _remove,
        "refresh": _refresh,
    }[args.index_action]
    return action(args, context, out)


def _upkeep(context: PluginContext) -> tuple[Library, Upkeep]:
    library = Library(lambda: context.data_dir)
    return library, Upkeep(library, context.settings or LocalSettings(), context.extract)


def _add(args: Namespace, context: PluginContext, out: TextIO) -> int:
    folder = check_folder(args.path)
    base_url = check_web_url(args.base_url, "--base-url") if args.base_url else ""
    urls = read_url_map(Path(args.url_map).expanduser(), folder) if args.url_map else {}
    _, upkeep = _upkeep(context)
    manifest, changes = upkeep.add(
        folder, name=args.name, base_url=base_url, urls=urls, now=context.clock.time()
    )
    others = {n: held for n, held in upkeep.overlapping(folder).items() if n != manifest.name}
    notes = [
        f"{'the same folder' if held == folder else shown(str(held))} is indexed as {name!r} too: "
        "what both hold is found twice"
        for name, held in others.items()
    ]
    _report([(manifest, changes)], args, out, notes=notes)
    return 0


def _refresh(args: Namespace, context: PluginContext, out: TextIO) -> int:
    library, upkeep = _upkeep(context)
    names = [args.name] if args.name else library.names()
    if not names:
        raise ConfigError("there is no index to refresh", fix="run `webfetch index add PATH` first")
    done: list[tuple[Manifest, Changes]] = []
    faults: list[WebfetchError] = []
    for name in names:
        try:
            done.append(upkeep.refresh(name, now=context.clock.time()))
        except WebfetchError as exc:
            faults.append(exc)
    if done:
        _report(done, args, out, faults)
    if faults:
        raise faults[0]
    return 0


def _remove(args: Namespace, context: PluginContext, out: TextIO) -> int:
    _, upkeep = _upkeep(context)
    manifest = upkeep.remove(args.name)
    if args.json:
        _print_json({"removed": manifest.name, "folder": shown(manifest.folder)}, out)
    else:
        print(f"{manifest.name}: index removed; {shown(manifest.folder)} was not touched", file=out)
    return 0


def _list(args: Namespace, context: PluginContext, out: TextIO) -> int:
    library, _ = _upkeep(context)
    rows = [_row(library, name) for name in library.names()]
    if args.json:
        _print_json({"indexes": rows}, out)
        return 0
    if not rows:
        print("no folder is indexed; run `webfetch index add PATH`", file=out)
        return 0
    table = [("NAME", "DOCUMENTS", "SKIPPED", "UPDATED", "FOLDER", "STATE")]
    table += [
        (
            r["name"],
            str(r["documents"]),
            str(r["skipped"]),
            r["updated"],
            r["folder"],
            f"{r['state']}: {r['reason']}" if r["reason"] else r["state"],
        )
        for r in rows
    ]
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for row in table:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(), file=out
        )
    for r in rows:
        if r["left_out"]:
            print(f"{r['name']}: {told_left_out(r['left_out'])}", file=out)
    return 0


def _row(library: Library, name: str) -> dict[str, Any]:
    """One index as plain data; ``state`` is ``ready``, ``missing`` (its folder cannot be read, but what was
    indexed of it answers) or ``unusable``, with the reason and the fix."""
    row = {
        "name": name,
        "folder": "",
        "documents": 0,
        "skipped": 0,
        "left_out": {},
        "base_url": "",
        "mapped_urls": 0,
        "updated": "",
    }
    try:
        manifest = library.manifest(name)
        row |= {
            "folder": shown(manifest.folder),
            "documents": len(manifest.files),
            "skipped": len(manifest.skipped),
            "left_out": {shown(kind): n for kind, n in manifest.left_out.items()},
            "base_url": manifest.base_url,
            "mapped_urls": len(manifest.urls),
            "updated": datetime.fromtimestamp(manifest.updated, UTC).isoformat(timespec="seconds"),
        }
        library.open(name)
        try:
            check_indexed_folder(manifest)
        except ConfigError as exc:
            return {**row, "state": "missing", "reason": shown(str(exc))}
    except WebfetchError as exc:
        return {**row, "state": "unusable", "reason": str(exc)}
    return {**row, "state": "ready", "reason": ""}


def _report(
    done: Sequence[tuple[Manifest, Changes]],
    args: Namespace,
    out: TextIO,
    faults: Sequence[WebfetchError] = (),
    notes: Sequence[str] = (),
) -> None:
    rows = [_changes_row(manifest, changes, notes) for manifest, changes in done]
    if args.json:
        failed = [{"kind": fault.kind, "reason": str(fault)} for fault in faults]
        _print_json({"indexes": rows, "failed": failed}, out)
        return
    for row in rows:
        print(
            f"{row['name']}: {row['documents']} documents of {row['folder']}"
            f" ({row['added']} added, {row['updated']} updated, {row['removed']} removed,"
            f" {row['unchanged']} unchanged, {len(row['skipped'])} skipped)",
            file=out,
        )
        if row["left_out"]:
            print(f"  {told_left_out(row['left_out'])}", file=out)
        for note in row["notes"]:
            print(f"  note: {note}", file=out)
        for skip in row["skipped"][:_SHOWN_SKIPS]:
            print(f"  skipped {skip['path']}: {skip['reason']}", file=out)
        if len(row["skipped"]) > _SHOWN_SKIPS:
            print(f"  ... and {len(row['skipped']) - _SHOWN_SKIPS} more; --json lists them", file=out)


def _changes_row(manifest: Manifest, changes: Changes, more_notes: Sequence[str] = ()) -> dict[str, Any]:
    notes = [*more_notes]
    if not manifest.files:
        notes.append("nothing was found to index; plugins.search_local.extensions says which types are")
    unused = [path for path in manifest.urls if path not in manifest.files]
    if unused:
        notes.append(f"{len(unused)} paths of the URL map are not indexed, such as {shown(unused[0])}")
    return {
        "name": manifest.name,
        "folder": shown(manifest.folder),
        "documents": len(manifest.files),
        "added": len(changes.added),
        "updated": len(changes.updated),
        "removed": len(changes.removed),
        "unchanged": changes.unchanged,
        "skipped": [{"path": shown(p), "reason": shown(r)} for p, r in changes.skipped.items()],
        "left_out": {shown(kind): n for kind, n in manifest.left_out.items()},
        "notes": notes,
    }


def _print_json(data: dict[str, Any], out: TextIO) -> None:
    print(json.dumps({"schema_version": SCHEMA_VERSION, **data}, ensure_ascii=False, indent=2), file=out)


def shown(text: str) -> str:
    """Return ``text`` fit for a terminal: what cannot be printed is escaped, so a name cannot act."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def told_left_out(left_out: Mapping[str, int]) -> str:
    """``4 files of other types left out (.json 3, .csv 1)``, the most frequent first."""
    kinds = sorted(left_out.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{kind} {count}" for kind, count in kinds[:_SHOWN_KINDS]]
    if len(kinds) > _SHOWN_KINDS:
        told.append(f"others {sum(count for _, count in kinds[_SHOWN_KINDS:])}")
    total = sum(left_out.values())
    return f"{total} {'file' if total == 1 else 'files'} of other types left out ({', '.join(told)})"
