"""What cells hold, and which rows of a table are its header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from .prose import mend
from .tables import Rows
from .words import is_bullet

MAX_HEADER_LINES = 7
_NUMBER = re.compile(r"^[(\[<>~≈±+\-–−$€£¥]*\s*\d[\d.,  ’'/:%–-]*(?:\s?%|[a-zA-Z]{0,3})?[)\]*†‡]*$")
_NOTHING = frozenset({"-", "–", "—", "..", "...", "n/a", "N/A", "NA", "n.a.", "*", "x", "X", "–-"})


def is_number(text: str) -> bool:
    """Whether a cell holds a figure, or the mark of a missing one."""
    return bool(_NUMBER.match(text)) or text in _NOTHING


def with_one_header(rows: Rows, tops: Sequence[float], size: float) -> Rows:
    """Write the lines of a header above the first row of figures as one row. ``tops`` are the base lines at
    which the rows begin, ``size`` is the type's."""
    first = _first_figures(rows)
    if not 2 <= first <= MAX_HEADER_LINES:
        return rows
    if any(b - a > 1.5 * size for a, b in pairwise(tops[:first])):
        return rows
    while first > 1 and not any(rows[first - 1][1:]):  # a title of the first group of rows
        first -= 1
    header = [mend([rows[i][column] for i in range(first)]) for column in range(len(rows[0]))]
    return [header, *rows[first:]]


def _first_figures(rows: Rows) -> int:
    """The first row that is mostly figures, under a label where rows have one."""
    labelled = sum(bool(row[0]) for row in rows) >= 0.7 * len(rows)
    for number, row in enumerate(rows):
        filled = [text for text in row[1:] if text]
        figures = sum(is_number(text) for text in filled)
        if figures and figures >= 0.5 * len(filled) and (row[0] or not labelled):
            return number
    return 0


def without_markers(rows: Rows) -> Rows:
    """Put bullets and numbers that fill a column of their own in front of what they mark."""
    column = 0
    while rows and column + 1 < len(rows[0]):
        filled = [row[column] for row in rows if row[column]]
        if len(filled) >= 2 and all(is_bullet(text) for text in filled):
            for row in rows:
                row[column : column + 2] = [" ".join(part for part in row[column : column + 2] if part)]
        else:
            column += 1
    return rows
