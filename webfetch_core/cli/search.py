"""``webfetch search``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from .exit_codes import NOTHING_FOUND, OK
from .explain import explain_search
from .output import Streams, is_terminal, is_unicode, width_of
from .progress import Progress
from .sources import sources_table

if TYPE_CHECKING:
    from ..app import Webfetch


def run(args: Namespace, wf: Webfetch, streams: Streams, environ: Mapping[str, str]) -> int:
    """Search, and print the text that a model would get; on a terminal also where it is from."""
    width = width_of(environ)
    with Progress(wf, streams.err, width) if is_terminal(streams.err) else nullcontext():
        result = wf.search(
            " ".join(args.query),
            limit=args.limit,
            freshness=args.freshness,
            force_fresh=args.force_fresh,
            cache_only=args.cache_only,
            include_domains=args.include_domain,
            exclude_domains=args.exclude_domain,
            language=args.language,
            country=args.country,
            deadline_s=args.deadline,
            engines=args.engine,
        )
        text = (
            ""
            if args.json
            else wf.render(result, budget_tokens=args.max_tokens, full_results=args.full_results)
        )
    note_lost_cache(wf, streams)
    if args.json:
        streams.record(result)
    else:
        streams.text(text)
        if is_terminal(streams.out) and result.hits:
            streams.text("\n" + "\n".join(sources_table(result, width, unicode=is_unicode(streams.out))))
    if args.explain:
        kept = wf.excerpts(result, args.max_tokens, full_results=args.full_results)
        # Beside JSON it goes to stderr: stdout is one document then.
        stream = streams.err if args.json else streams.out
        lines = explain_search(result, kept, width, unicode=is_unicode(stream))
        (streams.note if args.json else streams.text)("\n" + "\n".join(lines))
    return OK if result.chunks else NOTHING_FOUND


def note_lost_cache(wf: Webfetch, streams: Streams) -> None:
    """Say on stderr that the cache could not be opened: it went without, and every search costs in full."""
    if wf.host.store_problem:
        streams.note(f"webfetch: note: no cache is in use: {wf.host.store_problem}")
