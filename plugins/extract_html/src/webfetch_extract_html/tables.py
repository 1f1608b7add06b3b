"""Data tables as Markdown, spans resolved."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define

MAX_COLUMNS = 1_000
"""The most that HTML lets one cell span; a row may have more cells of its own."""

MAX_REPEATED = 200_000
"""Characters that spans may add to one table by repeating a cell's text; further copies stay empty."""

MAX_SPARE_CELLS = 20_000
"""Cells that spans may add to one table."""

MAX_PADDED = 200_000
"""Cells of a table up to which shorter rows are filled up with empty ones."""

_CONTENT = ("p", "h2", "h3", "h4", "section", "form")
_GRIDS = frozenset({"table", "grid", "treegrid"})
_ROLE_CELLS = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
_ROLE_HEADERS = frozenset({"columnheader", "rowheader"})
_DIGIT = re.compile(r"\d")
_LONG_SPAN = 80
"""Characters beyond which a cell that spans a whole row is written once."""

Cell = tuple[str, bool]


def is_table(element: Any) -> bool:
    """A table element, or other elements that say they are a table (ARIA roles)."""
    if element.tag == "table":
        return True
    return element.get("role") in _GRIDS and element.tag != "ul" and bool(rows_of(element))


def is_layout(table: Any) -> bool:
    """Whether the table only places things on the page: its cells are then content of their own."""
    if table.get("role") in ("presentation", "none"):
        return True
    if next(table.iter("pre", "h1", "main", "article"), None) is not None:
        return True
    nested = [each for each in table.iter("table") if each is not table]
    if any(next(each.iterdescendants("table"), None) is not None for each in nested):
        return True
    rows = rows_of(table)
    widest = max((len(row) for row in rows), default=0)
    if widest <= 1:
        return True
    cells = [cell for row in rows for cell in row]
    if nested:
        return not _holds_tables_in_cells(rows, nested)
    if next(table.iter("th"), None) is not None or table.find("caption") is not None:
        return False
    blocks = sum(next(cell.iter(*_CONTENT), None) is not None for cell in cells)
    longest = max((len("".join(cell.itertext())) for cell in cells), default=0)
    return (longest > 600 and len(rows) <= 3) or (blocks * 2 > len(cells) and longest > 200)


def _holds_tables_in_cells(rows: list[list[Any]], nested: list[Any]) -> bool:
    """Whether a table with others in it is a data table nevertheless: most of its rows are alike, and what
    stands in them is short."""
    widths = [len(row) for row in rows]
    usual = max(set(widths), key=widths.count)
    if usual < 2 or widths.count(usual) < 3 or widths.count(usual) * 2 < len(rows):
        return False
    hosts = {id(cell) for each in nested for cell in each.iterancestors("td", "th")}
    own, inner = [], 0
    for cell in (cell for row in rows if len(row) == usual for cell in row):
        size = len("".join(cell.itertext()).strip())
        if id(cell) in hosts:
            inner += size
        else:
            own.append(size)
    return bool(own) and inner <= sum(own) and sum(own) / len(own) < 60 and max(own) < 600


def rows_of(table: Any) -> list[list[Any]]:
    """The cells of each row, nested tables left out."""
    rows = []
    if table.tag == "table":
        for row in table.iter("tr"):
            if next((ancestor for ancestor in row.iterancestors("table")), None) is table:
                rows.append([cell for cell in row if cell.tag in ("td", "th")])
    else:
        for row in table.iter("div", "ul", "li", "section", "span", "a"):
            if row.get("role") == "row":
                rows.append([cell for cell in row if cell.get("role") in _ROLE_CELLS])
    return [row for row in rows if row]


@define
class _Spare:
    """What spans may still add."""

    cells: int = MAX_SPARE_CELLS
    characters: int = MAX_REPEATED

    def copy(self, value: Cell) -> Cell:
        self.cells -= 1
        self.characters -= len(value[0])
        return value if self.characters >= 0 else ("", value[1])


def grid_of(rows: Sequence[Sequence[Any]], text: Callable[[Any], str]) -> list[list[Cell]]:
    """Expand spans: every cell of the grid has its text and whether it is a header cell."""
    grid: list[list[Cell]] = []
    carried: dict[int, tuple[int, Cell]] = {}
    spare = _Spare()
    for number, row in enumerate(rows):
        line: list[Cell] = []
        cells = iter(row)
        cell = next(cells, None)
        last = max(carried, default=-1)
        while cell is not None or last >= len(line):
            column = len(line)
            if column in carried:
                left, value = carried.pop(column)
                line.append(spare.copy(value))
                if left > 1 and spare.cells > 0:
                    carried[column] = (left - 1, value)
                continue
            if cell is None:
                line.append(("", False))
                continue
            value = (text(cell), _is_header(cell))
            down = _span(cell, "rowspan", len(rows) - number)
            wide = min(_span(cell, "colspan", MAX_COLUMNS), max(spare.cells, 1))
            for copies in range(wide):
                if len(line) in carried:  # overlapping spans: the later cell wins
                    del carried[len(line)]
                if down > 1:
                    carried[len(line)] = (down - 1, value)
                line.append(spare.copy(value) if copies else value)
            cell = next(cells, None)
        grid.append(line)
    return grid


def _is_header(cell: Any) -> bool:
    return cell.tag == "th" or cell.get("role") in _ROLE_HEADERS


def _span(cell: Any, name: str, most: int) -> int:
    value = cell.get(name) or cell.get(f"aria-{name}")
    try:
        span = int(value.strip().rstrip(";%")) if value else 1
    except ValueError:
        return 1
    return most if span == 0 and name == "rowspan" else max(1, min(span, most))


def to_markdown(table: Any, text: Callable[[Any], str]) -> str:
    """The table as Markdown rows, its caption above; empty when it has no text.

    Several header rows become one, each column's headers joined; header rows of one cell are titles and
    stand above. Columns that are empty throughout are left out.
    """
    rows = rows_of(table)
    grid = [line for line in grid_of(rows, text) if any(value for value, _ in line)]
    if not grid:
        return ""
    width = max(len(line) for line in grid)
    if width * len(grid) <= max(MAX_PADDED, 4 * sum(map(len, grid))):
        grid = _without_empty_columns([line + [("", False)] * (width - len(line)) for line in grid])
        width = len(grid[0])
    caption = table.find("caption") if table.tag == "table" else None
    titles = [text(caption)] if caption is not None else []
    while len(grid) > 1 and width > 1 and _is_title(grid[0]):
        titles.append(grid.pop(0)[0][0])
    count = _header_rows(grid, table)
    header = [""] * width
    for line in grid[:count]:
        for column, (value, _) in enumerate(line):
            if value and value not in header[column].split(" / "):
                header[column] = f"{header[column]} / {value}" if header[column] else value
    lines = [_row(header), _row(["---"] * width)]
    lines += [_row(_written(line)) for line in grid[count:]]
    title = "\n".join(dict.fromkeys(each for each in titles if each))
    return "\n".join(([title, ""] if title else []) + lines)


def _is_title(line: list[Cell]) -> bool:
    """A header that spans the whole table names the table, not its columns."""
    return all(cell == line[0] for cell in line) and bool(line[0][0])


def _written(line: list[Cell]) -> list[str]:
    """The texts of a row; a long one that spans all of it once."""
    values = [value for value, _ in line]
    if len(values) > 1 and len(values[0]) > _LONG_SPAN and len(set(values)) == 1:
        return [values[0]] + [""] * (len(values) - 1)
    return values


def _without_empty_columns(grid: list[list[Cell]]) -> list[list[Cell]]:
    """Without the columns that say nothing: in every row empty, or a copy that a span made of the cell
    beside it."""
    kept = list(range(len(grid[0])))
    for column in range(len(grid[0])):
        place = kept.index(column)
        beside = [kept[at] for at in (place - 1, place + 1) if 0 <= at < len(kept)]
        if not any(line[column][0] for line in grid) or any(
            all(not line[column][0] or line[column] is line[other] for line in grid) for other in beside
        ):
            del kept[place]
    if len(kept) == len(grid[0]):
        return grid
    return [[line[column] for column in kept] for line in grid]


def _header_rows(grid: list[list[Cell]], table: Any) -> int:
    count = 0
    for line in grid[:4]:
        if not all(header or not value for value, header in line) or (count and _is_title(line)):
            break
        count += 1
    if count:
        return count if count < len(grid) else 1
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
