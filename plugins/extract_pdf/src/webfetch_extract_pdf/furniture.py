"""What is printed on every page beside the text: running heads and feet, and page numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

from attrs import frozen

from .flow import TextLine

MARGIN = 0.13
"""Share of the page's height at either end in which running heads and feet stand."""
GAP = 1.8
"""Distance of base lines, in ems, that parts running heads from the text."""
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"^[\W_]*(?:(?:page|seite|p\.|pag\.?|página|pagina|стр\.?|σελ\.?|第)\s*)?(\d{1,4}|[ivxlc]{1,7})\s*(?:页|頁)?"
    r"(?:\s*(?:/|of|von|de|из|sur|di)\s*\d{1,4})?[\W_]*$",
    re.I,
)


@frozen
class Furniture:
    """Lines that are no text of the document, by ``id()``: ``dropped`` ones, and those ``kept`` since what
    they say is said for the first time."""

    dropped: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()


def furniture(pages: Sequence[Sequence[TextLine]], heights: Sequence[float]) -> Furniture:
    """Find what is printed beside the text.

    A line is furniture when it stands in a margin and, numbers aside, comes again at the same height on
    at least three pages and a third of them (on both, where there are two), or when it is a page number.
    Where what comes again runs on into the page, it is a form or a table, and stays.
    """
    standing = [sorted(lines, key=lambda line: line.base) for lines in pages]
    count = sum(1 for lines in pages if lines)
    again = _repeated(standing, heights, count) if count > 1 else set()
    dropped: set[int] = set()
    kept: set[int] = set()
    said: set[str] = set()
    for lines, height in zip(standing, heights, strict=True):
        if len(lines) < 2:
            continue
        top, bottom = MARGIN * height, (1 - MARGIN) * height
        repeated = _run(lines, again, lambda line, y=top: line.base < y)  # type: ignore[misc]
        repeated += _run(lines[::-1], again, lambda line, y=bottom: line.base > y)  # type: ignore[misc]
        for line in repeated:
            pattern = _pattern(line)
            new = pattern not in said and not _PAGE_NUMBER.match(line.text)
            (kept if new else dropped).add(id(line))
            said.add(pattern)
        for line in (lines[0], lines[-1]):
            if not top < line.base < bottom and _is_page_number(line, lines, count):
                dropped.add(id(line))
    return Furniture(frozenset(dropped), frozenset(kept - dropped))


def _pattern(line: TextLine) -> str:
    return _DIGITS.sub("0", line.text.lower()).strip()


def _repeated(pages: Sequence[Sequence[TextLine]], heights: Sequence[float], count: int) -> set[int]:
    """The ids of lines near either end of a page that come again on enough others."""
    spots: dict[tuple[str, int], list[tuple[int, TextLine]]] = defaultdict(list)
    for number, lines in enumerate(pages):
        edge = 2 * MARGIN * heights[number]
        for line in lines:
            if line.base < edge or line.base > heights[number] - edge:
                spots[_pattern(line), round(line.base / 4)].append((number, line))
    needed = 2 if count <= 3 else max(3, count // 3)
    if count > 5:  # left and right pages may differ: those of one parity are enough
        needed = min(needed, max(3, int(0.8 * (count // 2))))
    found: set[int] = set()
    for (pattern, place), occurrences in spots.items():
        near = occurrences + spots.get((pattern, place + 1), []) + spots.get((pattern, place - 1), [])
        if len({number for number, _ in near}) >= needed:
            found.update(id(line) for _, line in occurrences)
    return found


def _run(lines: Sequence[TextLine], again: set[int], in_margin: Callable[[TextLine], bool]) -> list[TextLine]:
    """The repeated lines from one end of a page on, up to a gap or to a line of this page's own."""
    taken: list[TextLine] = []
    pending: list[TextLine] = []
    for line, after in zip(lines, [*lines[1:], None], strict=True):
        if id(line) not in again:
            return taken + pending
        if not in_margin(line):
            return taken
        pending.append(line)
        if after is not None and abs(after.base - line.base) > GAP * max(line.size, after.size):
            taken += pending
            pending = []
    return taken


def _is_page_number(line: TextLine, lines: Sequence[TextLine], count: int) -> bool:
    """Whether the first or last line of a page is its number."""
    if _PAGE_NUMBER.match(line.text) is None:
        return False
    if line.text.strip().isdigit() and count == 1:
        # On its own a figure may be content; a page's number stands well apart.
        gap = min((abs(other.base - line.base) for other in lines if other is not line), default=0.0)
        return gap > 2.5 * line.size
    return True
