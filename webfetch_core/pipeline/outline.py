"""The outline of a Markdown text: its lines, what each is, and its sections. Linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from attrs import define

PARAGRAPH, LINE, CODE_LINE, SENTENCE, CLAUSE, WRAP, WORD, HEADING_END = 6.0, 5.0, 4.5, 4.0, 3.0, 2.0, 1.0, 0.5
"""How good a place is to end a passage; higher is better."""

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|\Z)")
_FENCE = re.compile(r"(?P<lead>[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?)(?P<mark>`{3,}+(?!.*`)|~{3,}+)")
_ITEM = re.compile(r"\s*(?:[-*+•] |\d{1,9}[.)] |> )")
_TERMINAL = tuple(".!?:;…؟۔।॥。！？：；")


@define(kw_only=True)
class Line:
    start: int
    end: int
    kind: str
    border: float = LINE
    header: str = ""
    """What a passage that begins here needs in front: of a table row below the header the header rows, of a
    line inside a fenced block the line that opens it; with their line breaks."""
    closes: bool = False
    """Ends a fenced block: no place to begin at."""
    level: int = 0
    title: str = ""


def lines_of(text: str) -> list[Line]:
    """The lines of Markdown with their kind and the worth of a cut at their end."""
    lines: list[Line] = []
    fence: re.Match[str] | None = None
    opener = ""
    listed = False  # the text is inside a list, where a fence may be indented further
    header = ""
    rows = 0
    position = 0
    raw_lines = text.split("\n")
    for number, raw in enumerate(raw_lines):
        start, end = position, position + len(raw)
        position = end + 1
        following = raw_lines[number + 1] if number + 1 < len(raw_lines) else ""
        if fence:
            closes = _closes(raw, fence)
            # What closes the block stays with its last line.
            border = LINE if closes else HEADING_END if _closes(following, fence) else CODE_LINE
            lines.append(Line(start=start, end=end, kind="code", border=border, header=opener, closes=closes))
            fence = None if closes else fence
            continue
        fence = _opens(raw, listed)
        opener = raw[fence.start("mark") :].rstrip() + "\n" if fence else ""
        if raw.lstrip().startswith("|"):
            if rows == 0 and "-" in following and not following.strip(" \t|:-"):
                header = f"{raw}\n{following}\n" if re.search(r"[^\s|]", raw) else ""
            rows += 1
            # The first row stays with its header.
            border = HEADING_END if rows <= 2 and (rows == 1 or header) else LINE
            lines.append(
                Line(start=start, end=end, kind="row", border=border, header=header if rows > 2 else "")
            )
            continue
        header, rows = "", 0
        listed = bool(_ITEM.match(raw)) or (listed and (raw[:1] in (" ", "\t") or not raw.strip()))
        if fence:
            lines.append(Line(start=start, end=end, kind="code", border=HEADING_END))
        elif not raw.strip():
            lines.append(Line(start=start, end=end, kind="blank", border=PARAGRAPH))
        elif heading := _HEADING.match(raw):
            lines.append(
                Line(
                    start=start,
                    end=end,
                    kind="heading",
                    border=HEADING_END,
                    level=len(heading.group(1)),
                    title=_heading_title(raw[heading.end() :]),
                )
            )
        else:
            lines.append(Line(start=start, end=end, kind="text", border=_line_end(raw, following)))
    # A blank line's worth belongs to the line before it: that is where the text ends.
    for line, after in pairwise(lines):
        if after.kind == "blank" and line.kind in ("text", "row", "code") and line.border >= WRAP:
            line.border = PARAGRAPH
    return lines


def _opens(raw: str, listed: bool) -> re.Match[str] | None:
    """The fence with which a line opens a block of code. Four blanks before it make it code itself, but not
    in a list, where its item is indented too."""
    fence = _FENCE.match(raw)
    if fence and not listed and len(raw[: fence.start("mark")].expandtabs(4)) > 3 and not _ITEM.match(raw):
        return None
    return fence


def _closes(raw: str, fence: re.Match[str]) -> bool:
    """Whether a line ends the block: the opener's mark, at least as often, and nothing else."""
    bare = raw.strip()
    mark = fence["mark"]
    if not bare.startswith(mark) or bare.strip(mark[0]):
        return False
    indent = len(raw.expandtabs(4)) - len(raw.expandtabs(4).lstrip())
    return indent <= len(fence["lead"].expandtabs(4)) + 3


def _heading_title(rest: str) -> str:
    title = rest.strip()
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else title


def _line_end(raw: str, following: str) -> float:
    """Hard-wrapped prose breaks its lines anywhere; lists, verse and labels do not."""
    if _ITEM.match(following) or raw.rstrip().endswith(_TERMINAL) or not 55 <= len(raw) <= 100:
        return LINE
    return WRAP


def sections_of(lines: list[Line], size: int) -> Iterator[tuple[int, int, tuple[str, ...], bool]]:
    """Yield (start, end, path, has a body) of what lies under one heading; headings in a row count as one."""
    stack: list[tuple[int, str]] = []
    start, body = 0, False
    for line in lines:
        if line.kind == "heading":
            if body:
                yield start, line.start, tuple(title for _, title in stack if title), True
                start, body = line.start, False
            stack = [entry for entry in stack if entry[0] < line.level]
            stack.append((line.level, line.title))
        elif line.kind != "blank":
            body = True
    yield start, size, tuple(title for _, title in stack if title), body
