"""``webfetch fetch``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..events import Event
from ..models import Attempt, Document
from ..pipeline.render import CHARS_PER_TOKEN
from .exit_codes import OK
from .explain import explain_fetch
from .output import Streams, is_unicode, one_line, width_of
from .parser import UsageFault
from .search import note_lost_cache

if TYPE_CHECKING:
    from ..app import Webfetch

Shape = Callable[[Document, str], str]
"""Writes a part of a document's Markdown."""


def run(args: Namespace, wf: Webfetch, streams: Streams, environ: Mapping[str, str]) -> int:
    """Print a page, from ``--start`` as far as the budget goes."""
    shape = _shape(args.format)
    attempts: list[Attempt] = []
    end = wf.subscribe(lambda event: _collect(event, attempts))
    document: Document | None = None
    try:
        document = wf.fetch(args.url, force_fresh=args.force_fresh, deadline_s=args.deadline)
    finally:
        end()
        if args.explain:
            lines = explain_fetch(
                args.url, attempts, document, width_of(environ), unicode=is_unicode(streams.err)
            )
            streams.note("\n".join(lines))
    note_lost_cache(wf, streams)
    if args.json:
        _print_json(document, args, streams)
    else:
        _print_text(document, args, wf.settings.budget.fetch, streams, shape)
    return OK


def _shape(name: str) -> Shape:
    """What writes a part of a document in a format. Asked for before anything is fetched: a format that
    cannot be written is no reason to go to the network.

    Raises:
        UsageFault: the library for it is not installed.
    """
    if name not in ("html", "text"):
        return lambda document, part: part
    from .formats import require, to_html, to_text

    require()
    if name == "text":
        return lambda document, part: to_text(part)
    return lambda document, part: to_html(
        part, title=document.title, url=document.url, language=document.metadata.get("language", "")
    )


def _collect(event: Event, attempts: list[Attempt]) -> None:
    if event.name == "call.finished" and event.request_id == "fetch":
        attempts.append(
            Attempt(
                stage=event.stage,
                provider=event.provider,
                outcome=event.outcome,
                reason=event.reason,
                elapsed_s=event.elapsed_s,
                count=event.count,
                target=event.target,
            )
        )


def _print_text(document: Document, args: Namespace, default: int, streams: Streams, shape: Shape) -> None:
    budget = default if args.max_tokens is None else args.max_tokens * CHARS_PER_TOKEN
    stop = window(document.text, args.start, budget)
    streams.text(shape(document, document.text[args.start : stop]))
    if stop < len(document.text):
        tell = streams.text if args.format != "html" else streams.note
        tell(
            f"\n[truncated: characters {args.start} to {stop} of {len(document.text)}; "
            f"go on with: webfetch fetch {one_line(args.url)} --start {stop}]"
        )
    if document.flags:
        streams.note(f"webfetch: note: {', '.join(document.flags)}")


def _print_json(document: Document, args: Namespace, streams: Streams) -> None:
    """The whole record, unless a window was asked for; ``next_start`` is null at the end of the text."""
    from ..wire import to_plain

    total = len(document.text)
    stop = total
    if args.max_tokens is not None or args.start:
        budget = total if args.max_tokens is None else args.max_tokens * CHARS_PER_TOKEN
        stop = window(document.text, args.start, budget)
    data = to_plain(document) | {
        "text": document.text[args.start : stop],
        "start": args.start,
        "total_chars": total,
        "next_start": stop if stop < total else None,
    }
    streams.json(data)


def window(text: str, start: int, budget: int) -> int:
    """Where a part of ``text`` from ``start`` ends: after a line or a word, near ``budget`` characters.

    Raises:
        UsageFault: ``start`` is past the end.
    """
    if start and start >= len(text):
        raise UsageFault(f"--start {start} is past the end: the text has {len(text)} characters")
    stop = start + budget
    if stop >= len(text):
        return len(text)
    for mark in ("\n", " "):
        # A border in the last fifth; without one the text has no words to spare.
        border = text.rfind(mark, stop - budget // 5, stop)
        if border > start:
            return border + 1
    return stop
