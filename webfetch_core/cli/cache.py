"""``webfetch cache``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..errors import CacheError
from ..pipeline import cache_admin
from ..pipeline.cache_rows import FINDINGS, QUERIES
from ..pipeline.counters import Counters
from ..pipeline.render import human_age
from ..stages import Cache
from . import cache_files
from .exit_codes import NOTHING_FOUND, OK
from .output import Streams, table, told_size, width_of
from .parser import UsageFault
from .status import cache_rows

if TYPE_CHECKING:
    from ..app import Webfetch

WORTH_TELLING_BYTES = 10_000_000
KEY_DIGITS = 12
"""How much of a key is shown; ``show`` and ``purge --query`` take 8 digits or more."""


def run(args: Namespace, wf: Webfetch, streams: Streams, environ: Mapping[str, str]) -> int:
    """Carry out one action on the cache in use. Raises CacheError when there is none."""
    actions: dict[str, Callable[[Namespace, Webfetch, Cache, Streams, int], int]] = {
        "stats": _stats,
        "list": _list,
        "show": _show,
        "purge": _purge,
        "export": cache_files.export,
        "import": cache_files.import_,
        "verify": cache_files.verify,
        "compact": cache_files.compact,
    }
    return actions[args.action](args, wf, _store(wf), streams, width_of(environ))


def _store(wf: Webfetch) -> Cache:
    store = wf.cache()
    if wf.host.handles("cache")[0].entry.plugin == "builtin":
        raise CacheError(
            "no cache is in use: nothing is kept",
            fix="pip install webfetch-cache-lmdb" if wf.settings.cache == "auto" else "see the setting cache",
        )
    return store


def _stats(args: Namespace, wf: Webfetch, store: Cache, streams: Streams, width: int) -> int:
    stats = dict(store.stats())
    counters = Counters(store).lifetime()
    if args.json:
        streams.json({"cache": stats, "counters": counters})
        return OK
    rows = cache_rows(stats)
    if isinstance(stats.get("reclaimable"), int) and stats["reclaimable"] >= WORTH_TELLING_BYTES:
        rows.append(("gaps", f"{told_size(stats['reclaimable'])}, which webfetch cache compact gives back"))
    rows += [("damaged", f"{file} is kept") for file in stats.get("set_aside", ())]
    rows += [(name.replace("_", " "), str(number)) for name, number in sorted(counters.items())]
    streams.text("\n".join(table(rows, width=width)))
    return OK


def _list(args: Namespace, wf: Webfetch, store: Cache, streams: Streams, width: int) -> int:
    rows = list(cache_admin.list_queries(store, wf.host.clock.time()))
    if args.json:
        from ..wire import to_plain

        streams.json({"queries": [to_plain(row) for row in rows]})
    elif not rows:
        streams.text("the cache holds no search and no finding")
    else:
        lines = [("KEY", "AGE", "FRESHNESS", "PASSAGES", "QUERY")]
        lines += [
            (
                row.key[:KEY_DIGITS],
                human_age(row.age_s),
                str(row.freshness),
                "finding" if row.space == FINDINGS else str(row.chunks),
                row.query,
            )
            for row in rows
        ]
        streams.text("\n".join(table(lines, width=width)))
    return OK


def _show(args: Namespace, wf: Webfetch, store: Cache, streams: Streams, width: int) -> int:
    found = cache_admin.show(store, args.which, wf.host.clock.time())
    if args.json:
        from ..wire import to_plain

        streams.json({"results": [to_plain(row.result) for row in found]})
    elif found:
        streams.text("\n\n".join(wf.render(row.result, full_results=True) for row in found))
    if not found:
        streams.note(f"webfetch: the cache holds nothing for {args.which!r}")
        streams.note("fix: webfetch cache list shows what it holds")
        return NOTHING_FOUND
    return OK


def _purge(args: Namespace, wf: Webfetch, store: Cache, streams: Streams, width: int) -> int:
    if args.query is None and args.space is None and args.older_than is None and not args.all:
        raise UsageFault(
            "purge what?", fix="give --query, --older-than or --space, or --all for all that can be had again"
        )
    if args.all and (args.query is not None or args.space is not None):
        raise UsageFault("--all contradicts --query and --space", fix="leave one of them away")
    if args.query is not None and args.space not in (None, QUERIES, FINDINGS):
        raise UsageFault(
            f"--query contradicts --space {args.space}, whose rows answer none", fix="leave one of them away"
        )
    count = cache_admin.purge(
        store,
        now=wf.host.clock.time(),
        space=args.space,
        older_than_s=args.older_than,
        query=args.query,
    )
    if args.json:
        streams.json({"purged": count})
    else:
        streams.text(f"{count} {'row' if count == 1 else 'rows'} purged")
    return OK
