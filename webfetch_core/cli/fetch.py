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

Shape = Callable[[Document, int, int], str]
"""Writes the part of a document's text from one character to another."""

PLAIN = "plain"
"""What ``text_format`` in the metadata says of a text that is no Markdown."""


def run(args: Namespace, wf: Webfetch, streams: Streams, environ: Mapping[str, str]) -> int:
    """Print a page, from ``--start`` as far as the budget goes."""
    shape = _shape(args.format)
    attempts: list[Attempt] = []
    end = wf.subscribe(lambda event: _collect(event, attempts))
    document: Document | None = None
    try:
        document = wf.fetch(
            args.url, force_fresh=args.force_fresh, cache_only=args.cache_only, deadline_s=args.deadline
        )
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
        return lambda document, start, stop: document.text[start:stop]
    from .formats import plain_to_html, require, to_html, to_text
    from .parts import standing_alone

    require()

    def shape(document: Document, start: int, stop: int) -> str:
        plain = document.metadata.get("text_format") == PLAIN
        part = document.text[start:stop] if plain else standing_alone(document.text, start, stop)
        if name == "text":
            return part if plain else to_text(part)
        write = plain_to_html if plain else to_html
        language = document.metadata.get("language", "")
        return write(part, title=document.title, url=document.url, language=language)

    return shape


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
    streams.text(shape(document, args.start, stop))
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
