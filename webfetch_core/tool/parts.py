"""One page for a model: part by part, or the passages that are about something. Pure.

Offsets are characters of the document's text, so they mean the same in every call for as long as the
page is the same, and the parts put one behind the other are the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from secrets import token_hex

from attrs import frozen

from ..models import Chunk, Document
from ..pipeline.graphemes import grapheme_cut
from ..pipeline.lookalikes import defused
from ..pipeline.outline import HEADING_END, Line, lines_of
from ..pipeline.render import frame_lines, one_line, source_header
from ..runtime.replies import visible

_HEAD_SHARE, _NOTES_SHARE = 6, 8
"""The source's header, and what is told of the page, may take so small a part of the room."""
_SEARCHED = 5
"""A part ends at a border in its last fifth, if there is one."""
_MARKER_CHARS = 120
"""Room that is kept for the line which tells how to go on."""
_MAX_REPEATED = 600
_LOOKED_BACK = 200_000
"""How far above a part the block of code is looked for that it begins in, in characters: longer ones are
no code that anybody reads, and two million characters take a second."""


@frozen(kw_only=True)
class Part:
    """A part of a page as text for a model, and where it is: ``document.text[start:stop]``.

    ``next_start`` is where to go on, or None at the end.
    """

    text: str
    start: int
    stop: int
    total: int

    @property
    def next_start(self) -> int | None:
        return self.stop if self.stop < self.total else None


def part(
    document: Document,
    start: int,
    room: int,
    *,
    boundary: Callable[[], str] = lambda: token_hex(4),
) -> Part:
    """The part of ``document`` from ``start`` on, in at most ``room`` characters with its frame and header.

    It ends at the end of a paragraph, line or sentence; a row of a table or a line of code is cut only where
    it alone is too long. Where a part begins inside of a table or a block of code, the head of the table
    or the line that opens the block is repeated in front of it.

    Args:
        start: 0 or a ``next_start`` of an earlier part; less than the length of the text, unless that is 0.
    """
    text = document.text
    head, opening, closing = _frame(document, room, boundary())
    left = room - sum(len(line) + 1 for line in (*head, opening, closing)) - _MARKER_CHARS
    repeated = _repeated(text, start) if start else ""
    if len(repeated) > min(_MAX_REPEATED, left // 4):
        repeated = ""
    stop = _stop(text, start, max(left - len(repeated), 1))
    body = defused(visible(repeated + text[start:stop])).strip("\n")
    told = Part(text="", start=start, stop=stop, total=len(text))
    lines = [*head, opening, body, closing, *_marker(told)]
    return Part(text="\n".join(lines), start=start, stop=stop, total=len(text))


def passages(
    document: Document,
    excerpts: Sequence[Chunk],
    query: str,
    room: int,
    *,
    boundary: Callable[[], str] = lambda: token_hex(4),
) -> str:
    """``excerpts`` of ``document``, best first, as many as fit into ``room``, in the order of the page."""
    head, opening, closing = _frame(document, room, boundary())
    total = len(document.text)
    about = f'about "{one_line(query, 80)}"'
    if not excerpts:
        told = (
            f"[note: nothing in this page is {about}; fetch_url without query reads its {total} characters]"
        )
        return "\n".join([*head, told])
    told = (
        f"[note: passages of this page {about}; it has {total} characters: call fetch_url without query, "
        "with start, to read on at any of them]"
    )
    if len(told) > room // _HEAD_SHARE:
        told = f"[note: passages of a page of {total} characters]"
    left = room - sum(len(line) + 1 for line in (*head, told, opening, closing))
    kept: list[tuple[int, str]] = []
    for excerpt in excerpts:
        where = f" | {one_line(' > '.join(excerpt.heading_path), 100)}" if excerpt.heading_path else ""
        title = f"[characters {excerpt.start} to {excerpt.end}{where}]"
        shown = f"{title}\n{defused(visible(excerpt.text)).strip()}"
        if len(shown) + 1 > left:
            if kept:  # a shorter one may fit
                continue
            shown = shown[: max(left - 3, 0)].rstrip() + " …"
        left -= len(shown) + 1
        kept.append((excerpt.start, shown))
    return "\n".join([*head, told, opening, *(shown for _, shown in sorted(kept)), closing])


# ---- around the text -----------------------------------------------------------------------------


def _frame(document: Document, room: int, word: str) -> tuple[list[str], str, str]:
    opening, closing = frame_lines(word)
    chunk = Chunk(text="", url=document.url, title=document.title)
    header = source_header(chunk, "url")
    if len(header) > room // _HEAD_SHARE:
        header = source_header(chunk, "host", 40)
    head = [header[: room // _HEAD_SHARE], *_facts(document, room // _NOTES_SHARE)]
    return head, opening, closing


def _facts(document: Document, room: int) -> Iterable[str]:
    """What a reader should know of the page before its text."""
    facts = []
    if document.published:
        facts.append(f"published {one_line(document.published, 40)}")
    if document.flags:
        facts.append(f"flags {one_line(', '.join(document.flags), 200)}")
    line = f"[note: {'; '.join(facts)}]"
    return [line] if facts and len(line) <= room else []


def _marker(told: Part) -> list[str]:
    if told.next_start is None:
        return []
    return [
        f"[truncated: characters {told.start} to {told.stop} of {told.total}; for the next part call "
        f"fetch_url again with start={told.next_start}]"
    ]


# ---- where a part ends and begins ----------------------------------------------------------------


def _stop(text: str, start: int, room: int) -> int:
    """Where a part of at most ``room`` characters from ``start`` ends."""
    limit = start + room
    if limit >= len(text):
        return len(text)
    line_start = text.rfind("\n", 0, limit) + 1
    if start < line_start < limit and _line_at(text, line_start).kind in ("row", "code"):
        return _with_what_follows(text, max(line_start - room // _SEARCHED, start + 1), line_start)
    nearest = max(limit - room // _SEARCHED, start + 1)
    for border in ("\n\n", "\n", ". ", "。", "? ", "! ", " "):
        found = text.rfind(border, nearest, limit)
        if found >= 0:
            return _with_what_follows(text, nearest, found + len(border))
    return grapheme_cut(text, start, limit)


def _with_what_follows(text: str, earliest: int, stop: int) -> int:
    """``stop``, or where the heading, the head of a table or the opening fence begins that would come last:
    it belongs to what comes after it. ``stop`` also where that would be before ``earliest``."""
    last = stop
    for line in reversed(_lines_about(text, stop)):
        if line.start >= stop or not text[line.start : line.end].strip():
            continue
        if line.border != HEADING_END:
            return last
        if line.start < earliest:
            break
        last = line.start
    return stop


def _repeated(text: str, start: int) -> str:
    """What a part that begins at ``start`` needs in front: the head of a table, the fence of code."""
    line = _line_at(text, start)
    return line.header if line.start == start or line.kind == "code" else ""


def _line_at(text: str, position: int) -> Line:
    """The line that ``position`` is in."""
    lines = _lines_about(text, position)
    return next((line for line in reversed(lines) if line.start <= position), lines[-1])


def _lines_about(text: str, position: int) -> list[Line]:
    """The lines up to the one after that of ``position``, in which it shows whether a row is the first of
    its table. Far above it begins at a paragraph: a fence that was opened there may still be open, and one
    beyond that is no longer looked for."""
    first = text.rfind("\n\n", 0, max(position - _LOOKED_BACK, 0)) + 1
    end = text.find("\n", position)
    following = text.find("\n", end + 1) if end >= 0 else -1
    lines = lines_of(text[first : following if following >= 0 else len(text)])
    for line in lines if first else ():
        line.start, line.end = line.start + first, line.end + first
    return lines
