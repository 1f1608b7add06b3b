"""Data tables as Markdown, spans resolved."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

MAX_COLUMNS = 60
MAX_CELLS = 60_000
_CONTENT = ("p", "h2", "h3", "h4", "section", "form")
_DIGIT = re.compile(r"\d")


def is_layout(table: Any) -> bool:
    """Whether the table only places things on the page: its cells are then content of their own."""
    if table.get("role") in ("presentation", "none"):
        return True
    if (
        any(True for _ in table.iter("table") if _ is not table)
        or next(table.iter("pre", "h1", "main", "article"), None) is not None
    ):
        return True
    rows = rows_of(table)
    widest = max((len(row) for row in rows), default=0)
    if widest <= 1:
        return True
    if next(table.iter("th"), None) is not None or table.find("caption") is not None:
        return False
    cells = [cell for row in rows for cell in row]
    blocks = sum(next(cell.iter(*_CONTENT), None) is not None for cell in cells)
    longest = max((len("".join(cell.itertext())) for cell in cells), default=0)
    return (longest > 600 and len(rows) <= 3) or (blocks * 2 > len(cells) and longest > 200)


def rows_of(table: Any) -> list[list[Any]]:
    """The cells of each row, nested tables left out."""
    rows = []
    for row in table.iter("tr"):
        if next((ancestor for ancestor in row.iterancestors("table")), None) is table:
            rows.append([cell for cell in row if cell.tag in ("td", "th")])
    return [row for row in rows if row]


def grid_of(rows: list[list[Any]], text: Callable[[Any], str]) -> list[list[tuple[str, bool]]]:
    """Expand spans: every cell of the grid has its text and whether it is a header cell."""
    grid: list[list[tuple[str, bool]]] = []
    carried: dict[int, tuple[int, tuple[str, bool]]] = {}
    count = 0
    for row in rows:
        line: list[tuple[str, bool]] = []
        cells = iter(row)
        cell = next(cells, None)
        while cell is not None or any(column >= len(line) for column in carried):
            column = len(line)
            if column >= MAX_COLUMNS or count >= MAX_CELLS:
                break
            if column in carried:
                left, value = carried.pop(column)
                line.append(value)
                if left > 1:
                    carried[column] = (left - 1, value)
                continue
            if cell is None:
                line.append(("", False))
                continue
            value = (text(cell), cell.tag == "th")
            down = _span(cell, "rowspan", len(rows) - len(grid))
            for _ in range(min(_span(cell, "colspan", MAX_COLUMNS), MAX_COLUMNS - column)):
                if down > 1:
                    carried[len(line)] = (down - 1, value)
                line.append(value)
                count += 1
            cell = next(cells, None)
        grid.append(line)
    return grid


def _span(cell: Any, name: str, most: int) -> int:
    try:
        span = int(cell.get(name) or 1)
    except ValueError:
        return 1
    return most if span == 0 and name == "rowspan" else max(1, min(span, most))


def to_markdown(table: Any, text: Callable[[Any], str]) -> str:
    """The table as Markdown rows, its caption above; empty when it has no text."""
    rows = rows_of(table)
    grid = [line for line in grid_of(rows, text) if any(value for value, _ in line)]
    if not grid:
        return ""
    width = max(len(line) for line in grid)
    header_rows = _header_rows(grid, table)
    header = [""] * width
    for line in grid[:header_rows]:
        for column, (value, _) in enumerate(line):
            if value and value not in header[column].split(" / "):
                header[column] = f"{header[column]} / {value}" if header[column] else value
    lines = [_row(header), _row(["---"] * width)]
    lines += [_row([value for value, _ in line] + [""] * (width - len(line))) for line in grid[header_rows:]]
    caption = table.find("caption")
    title = text(caption) if caption is not None else ""
    return "\n".join(([title, ""] if title else []) + lines)


def _header_rows(grid: list[list[tuple[str, bool]]], table: Any) -> int:
    count = 0
    for line in grid[:4]:
        if not all(header or not value for value, header in line):
            break
        count += 1
    if count:
        return count
    head = table.find("thead")
    if head is not None and (rows := len([row for row in head.iter("tr") if len(row)])):
        return min(rows, len(grid), 4)
    first, rest = grid[0], grid[1:]
    if any(header for line in grid for _, header in line) or not rest:
        return 0
    # No <th> anywhere: a first row without digits above rows with digits is a header.
    plain = all(value and not _DIGIT.search(value) and len(value) < 60 for value, _ in first)
    columns = [[line[column][0] for line in rest if column < len(line)] for column in range(len(first))]
    numbers = any(values and all(_DIGIT.search(value) for value in values) for values in columns)
    return 1 if plain and numbers else 0


def _row(values: list[str]) -> str:
    return "| " + " | ".join(value.replace("|", "\\|") for value in values) + " |"
