"""Text to lines: fenced and indented code as one, hard wrapping undone. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from attrs import evolve, frozen


class Kind(StrEnum):
    """What a unit is."""

    PROSE = "prose"
    HEADING = "heading"
    ITEM = "item"
    ROW = "row"
    CODE = "code"


@frozen(kw_only=True)
class Line:
    """A line, a hard-wrapped one whole, or a block of code.

    Attributes:
        text: ``source[start:end]``; line breaks that were joined are as many blanks, so that offsets hold.
        indent: columns before it.
        after_blank: a blank line, or nothing, stands before it.
        hard_break: it asks for its line break (two blanks or a backslash at its end).
    """

    text: str
    start: int
    end: int
    kind: Kind
    indent: int = 0
    after_blank: bool = False
    hard_break: bool = False


_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_ITEM = re.compile(r"(\s*(?:[-*+•‣◦]|\d{1,3}[.)]|\(?[a-z][.)])\s+)\S")
_ROW = re.compile(r"\s*\||[^|]*\S\s*\|[^|]*\|")
_FENCE = re.compile(r"[ \t]*+(?:(?:[-*+]|\d{1,3}[.)])[ \t]++)?(?P<mark>`{3,}+(?!.*`)|~{3,}+)\s*+(?P<info>.*)")
_CLOSING = ".!?:;。！？…|"
_SHORTEST_WRAPPED = 12
_LONG = 55
"""A line of this length that ends open was broken for want of room."""


def lines_of(text: str) -> Iterator[Line]:
    """Yield the lines of ``text`` in order; blank lines are none."""
    return _join_wrapped(_lines(text))


def _lines(text: str) -> Iterator[Line]:
    code: list[tuple[int, int]] = []
    code_after_blank = blank = True
    fence = _fence_before(text)
    content = 0  # the column where the text of the list item that we are in begins; 0 outside of lists
    at = 0

    def flush() -> Iterator[Line]:
        if code:
            start, end = code[0][0], code[-1][1]
            yield Line(
                text=text[start:end], start=start, end=end, kind=Kind.CODE, after_blank=code_after_blank
            )
            code.clear()

    for raw in text.splitlines(keepends=True):
        start, at = at, at + len(raw)
        bare = raw.rstrip()
        end = start + len(bare)
        if fence is not None:
            if bare:
                code.append((start, end))
            if _closes(bare, fence):
                fence = None
                yield from flush()
            blank = False
            continue
        fence = _FENCE.fullmatch(bare)
        if fence is not None:
            yield from flush()
            code.append((start, end))
            code_after_blank, blank = blank, False
            continue
        if not bare:
            blank = True
            continue
        lead = len(bare) - len(bare.lstrip())
        indent = len(bare[:lead].expandtabs(4))
        item = _ITEM.match(bare)
        if blank and indent < content and item is None:
            content = 0
        if indent >= content + 4 and (code or blank) and item is None:
            if not code:
                code_after_blank = blank
            code.append((start, end))
            blank = False
            continue
        yield from flush()
        kind = _kind(bare)
        if kind is Kind.ITEM and item is not None:
            content = len(item.group(1).expandtabs(4))
        yield Line(
            text=bare[lead:],
            start=start + lead,
            end=end,
            kind=kind,
            indent=indent,
            after_blank=blank,
            hard_break=bare.endswith("\\") or raw[len(bare) :].startswith("  "),
        )
        blank = False
    yield from flush()


def _kind(line: str) -> Kind:
    if _HEADING.match(line):
        return Kind.HEADING
    if _ROW.match(line):
        return Kind.ROW
    return Kind.ITEM if _ITEM.match(line) else Kind.PROSE


# ---- fences --------------------------------------------------------------------------------------


def _closes(line: str, fence: re.Match[str]) -> bool:
    mark, bare = fence["mark"], line.strip()
    return bare.startswith(mark) and not bare.strip(mark[0])


def _fence_before(text: str) -> re.Match[str] | None:
    """The fence of a block that ``text`` begins inside of, as far as its first fence tells: None, mostly.

    That one closes a block when it is bare and the next one opens a block of a language, or when it
    stands before a blank line, a heading or the end, and has no partner or a line of code right before it.
    """
    if "```" not in text and "~~~" not in text:
        return None
    lines = text.splitlines()
    found = [(n, fence) for n, line in enumerate(lines) if (fence := _FENCE.fullmatch(line.rstrip()))]
    if not found:
        return None
    at, first = found[0]
    if first["info"]:
        return None
    alike = [fence for _, fence in found if fence["mark"].startswith(first["mark"])]
    if len(alike) > 1 and alike[1]["info"]:
        return first
    following = lines[at + 1].strip() if at + 1 < len(lines) else ""
    if following and not _HEADING.match(following + " "):
        return None
    touches = at > 0 and bool(lines[at - 1].strip())
    return first if touches or len(alike) % 2 else None


# ---- hard wrapping -------------------------------------------------------------------------------


def _join_wrapped(lines: Iterator[Line]) -> Iterator[Line]:
    """Undo hard wrapping: a line that ends open runs on in the next, unless either is a line by nature."""
    held: Line | None = None
    for line in lines:
        if held is not None and _runs_on(held, line):
            gap = " " * (line.start - held.end)
            held = evolve(held, text=held.text + gap + line.text, end=line.end, hard_break=line.hard_break)
            continue
        if held is not None:
            yield held
        held = line
    if held is not None:
        yield held


def _runs_on(line: Line, following: Line) -> bool:
    if following.after_blank or following.kind is not Kind.PROSE or line.kind not in (Kind.PROSE, Kind.ITEM):
        return False
    if line.kind is Kind.ITEM and following.indent > line.indent:
        return True  # it stands under the item's text: it is the item's, whatever it says
    if line.hard_break or len(line.text) < _SHORTEST_WRAPPED or line.text[-1] in _CLOSING:
        return False
    if following.text[:1].islower():
        return True
    if line.kind is Kind.ITEM:
        return len(line.text) >= _LONG
    return len(following.text) > 20 or following.text.isupper()
