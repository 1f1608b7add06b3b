"""A table as it was found, and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import Factory, define

MAX_COLUMNS = 60

Rows = list[list[str]]


@define(slots=True, kw_only=True, eq=False)
class Table:
    """Rows of equal length; the box on the sheet; ``edges`` are the columns' left sides, for comparing it
    with the next page's. ``header`` rows come first and are written as one."""

    rows: Rows
    x0: float
    x1: float
    y0: float
    y1: float
    edges: list[float] = Factory(list)
    header: int = 1

    @property
    def width(self) -> int:
        return len(self.rows[0]) if self.rows else 0


def to_markdown(table: Table) -> str:
    """The table with its first row as the header."""
    rows = [row for row in table.rows if any(row)]
    if not rows:
        return ""
    lines = [_row(rows[0]), _row(["---"] * len(rows[0]))]
    return "\n".join(lines + [_row(row) for row in rows[1:]])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def without_empty(rows: Rows) -> Rows:
    """Drop rows and columns that hold nothing."""
    rows = [row for row in rows if any(row)]
    if not rows:
        return []
    used = [column for column in range(len(rows[0])) if any(row[column] for row in rows)]
    return [[row[column] for column in used] for row in rows]


def continues(table: Table, after: Table) -> bool:
    """Whether ``after``, the first thing on a page, goes on with ``table``, the last one before it."""
    if table.width != after.width or table.width < 2:
        return False
    reach = 0.05 * max(table.x1 - table.x0, 1.0) + 6.0
    if len(table.edges) != len(after.edges):
        return False
    return all(abs(one - other) <= reach for one, other in zip(table.edges, after.edges, strict=True))


def joined(table: Table, after: Table) -> None:
    """Append ``after`` to ``table``; a header that is repeated is dropped."""
    rows = after.rows
    if rows and rows[0] == table.rows[0]:
        rows = rows[1:]
    table.rows.extend(rows)
    table.y1 = after.y1
