"""A part of a Markdown text, made to mean by itself what it means in its place. Pure.

A part may begin inside of a block of code, a table or a nested list. Read alone, the code would be prose,
the fence that closes it would open another, the rows would be a paragraph, and the items code.
"""

from __future__ import annotations

import re
from itertools import takewhile

_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})(.*)$")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*$")
_ITEM = re.compile(r"([ \t]+)(?:[-*+]|\d{1,9}[.)])[ \t]")


def standing_alone(text: str, start: int, stop: int) -> str:
    """Return ``text[start:stop]`` with what it needs before it: the fence of the code, or the head of the
    table, in which it begins; without the indentation of the list in which it begins."""
    part = text[start:stop]
    if start <= 0:
        return part
    before = text[:start]
    if fence := _open_fence(before):
        indent, marks = fence
        code, closed, rest = _until_closed(part, marks)
        code = "\n".join(_without(indent, line) for line in code.split("\n"))
        return f"{marks}\n{code}" + (f"\n{marks}{rest}" if closed else "")
    if head := _table_head(before):
        return head + part
    if item := _ITEM.match(part):
        size = len(item[1])
        lines = part.split("\n")
        inner = list(takewhile(lambda line: not line.strip() or line[:size].isspace(), lines))
        return "\n".join([*(line[size:] for line in inner), *lines[len(inner) :]])
    return part


def _open_fence(before: str) -> tuple[str, str] | None:
    """The indentation and the marks of the code that is not closed at the end of ``before``."""
    opened: tuple[str, str] | None = None
    for line in before.split("\n"):
        match = _FENCE.match(line)
        if match is None:
            continue
        if opened is None:
            if not (match[2][0] == "`" and "`" in match[3]):
                opened = (match[1], match[2])
        elif match[2].startswith(opened[1]) and not match[3].strip():
            opened = None
    return opened


def _until_closed(part: str, marks: str) -> tuple[str, bool, str]:
    """The code in ``part``, whether it is closed there, and what comes after its fence."""
    lines = part.split("\n")
    for number, line in enumerate(lines):
        match = _FENCE.match(line)
        if match and match[2].startswith(marks) and not match[3].strip():
            rest = lines[number + 1 :]
            return "\n".join(lines[:number]), True, "\n" + "\n".join(rest) if rest else ""
    return part, False, ""


def _without(indent: str, line: str) -> str:
    return line[len(indent) :] if line.startswith(indent) else line.lstrip(" \t")


def _table_head(before: str) -> str:
    """The first two lines of the table whose rows go on after ``before``; empty when there is none."""
    lines = before.split("\n")
    partial = lines.pop()
    if partial and not partial.lstrip().startswith("|"):
        return ""
    rows = list(takewhile(lambda line: line.lstrip().startswith("|"), reversed(lines)))[::-1]
    if len(rows) < 2 or not _RULE.match(rows[1]):
        return ""
    return f"{rows[0].strip()}\n{rows[1].strip()}\n"
