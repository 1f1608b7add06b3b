"""What is printed on every page beside the text: running heads and feet, and page numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from .flow import TextLine

MARGIN = 0.13
"""Share of the page's height at either end in which running heads and feet stand."""
EDGE_LINES = 4
"""Lines from either end of a page that may be running heads or feet."""
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"^[\W_]*(?:(?:page|seite|p\.|pag\.?|página|pagina|стр\.?|σελ\.?|第)\s*)?(\d{1,4}|[ivxlc]{1,7})\s*(?:页|頁)?"
    r"(?:\s*(?:/|of|von|de|из|sur|di)\s*\d{1,4})?[\W_]*$",
    re.I,
)


def furniture(pages: Sequence[Sequence[TextLine]], heights: Sequence[float]) -> set[int]:
    """Return the ids (``id()``) of lines that are no text of the document.

    A line is one when it stands in a margin and, numbers aside, comes again at the same height on at
    least three pages and a third of them (on both, where there are two), or when it is a page number.
    """
    spots: dict[tuple[str, int], list[tuple[int, TextLine]]] = defaultdict(list)
    for number, lines in enumerate(pages):
        for line in _edges(lines, heights[number]):
            pattern = _DIGITS.sub("0", line.text.lower()).strip()
            spots[pattern, round(line.base / 4)].append((number, line))
    found: set[int] = set()
    count = sum(1 for lines in pages if lines)
    for (pattern, place), occurrences in spots.items():
        near = occurrences + spots.get((pattern, place + 1), []) + spots.get((pattern, place - 1), [])
        on = {number for number, _ in near}
        needed = 2 if count <= 3 else max(3, count // 3)
        # Left and right pages may differ: those of one parity are enough.
        if count > 5:
            needed = min(needed, max(3, int(0.8 * (count // 2))))
        if len(on) >= needed and count > 1:
            found.update(id(line) for _, line in occurrences)
    for number, lines in enumerate(pages):
        for line in _edges(lines, heights[number]):
            if _is_page_number(line, lines, number, count):
                found.add(id(line))
    return found


def _edges(lines: Sequence[TextLine], height: float) -> list[TextLine]:
    """The outermost lines in the margins, as they stand on the page."""
    if len(lines) < 2:
        return []
    standing = sorted(lines, key=lambda line: line.base)
    top = [line for line in standing[: EDGE_LINES * 2] if line.base < MARGIN * height]
    bottom = [line for line in standing[-EDGE_LINES * 2 :] if line.base > (1 - MARGIN) * height]
    return top[: EDGE_LINES * 2] + bottom


def _is_page_number(line: TextLine, lines: Sequence[TextLine], number: int, count: int) -> bool:
    found = _PAGE_NUMBER.match(line.text)
    if found is None:
        return False
    outermost = line.base <= min(o.base for o in lines) + 1 or line.base >= max(o.base for o in lines) - 1
    if not outermost:
        return False
    if line.text.strip().isdigit() and count == 1:
        # On its own a figure may be content; a page's number stands well apart.
        gap = min((abs(o.base - line.base) for o in lines if o is not line), default=0.0)
        return gap > 2.5 * line.size
    return True
