"""Values with separators as a Markdown table."""

from __future__ import annotations

import csv
from itertools import islice

_MOST_ROWS = 20_000
_MOST_COLUMNS = 200
_MOST_PADDED = 4
"""Cells of the table for each that the text has, beyond which it is no table."""
_SEPARATORS = ",;\t|"
_SAMPLE_LINES = 50


def to_table(text: str) -> str:
    """The rows as a Markdown table, the first as its header; the text itself where it is no table of two
    columns or more, or hardly any row has all of them."""
    lines = text.splitlines()
    separator = _separator(lines[:_SAMPLE_LINES])
    if not separator:
        return text
    try:
        rows = [row for row in islice(csv.reader(lines, delimiter=separator), _MOST_ROWS) if any(row)]
    except csv.Error:
        return text
    width = min(max((len(row) for row in rows), default=0), _MOST_COLUMNS)
    if width < 2 or len(rows) < 2:
        return text
    if width * len(rows) > _MOST_PADDED * sum(map(len, rows)):  # a few wide rows would widen all the others
        return text
    written = [_row(row + [""] * (width - len(row)), width) for row in rows]
    rest = lines[_MOST_ROWS:] if len(rows) >= _MOST_ROWS else []
    return "\n".join([written[0], _row(["---"] * width, width), *written[1:], *rest])


def _separator(lines: list[str]) -> str:
    """The sign that parts every line in the same way; empty when none does."""
    best = ""
    most = 1
    for sign in _SEPARATORS:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=sign) if row]
        except csv.Error:
            continue
        usual = max(set(widths), key=widths.count, default=0)
        if usual > most and widths.count(usual) >= 0.8 * len(widths):
            best, most = sign, usual
    return best


def _row(values: list[str], width: int) -> str:
    cells = [" ".join(value.split()).replace("|", "\\|") for value in values[:width]]
    return "| " + " | ".join(cells) + " |"
