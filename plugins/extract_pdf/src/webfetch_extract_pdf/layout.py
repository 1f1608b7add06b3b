"""Reading order: columns are found by the gutters that run between them, tables by what stands in them.

A region is cut into bands, from top to bottom. Within a band at least one gutter runs through; it is a
table when its rows belong together, else its columns are read one after the other, each a region again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import frozen

from .prose import goes_on
from .records import Rule
from .segments import Row, crosses, narrowed, rows_of, segments_of, with_gaps
from .tables import Table
from .text_tables import table_of
from .words import Line

MAX_DEPTH = 6
PROSE_WORDS = 3.6
"""Mean words a line from which a column holds running text."""
PROSE_FILL = 0.55
"""Mean share of its column that a line of running text fills."""


@frozen(kw_only=True)
class Piece:
    """A line or a table, in reading order; ``column`` numbers the columns of the page."""

    line: Line | None = None
    table: Table | None = None
    column: int = 0
    left: float = 0.0
    right: float = 0.0


class _Columns:
    def __init__(self) -> None:
        self.count = 0

    def next(self) -> int:
        self.count += 1
        return self.count


def in_order(lines: Sequence[Line], tables: Sequence[Table], rules: Sequence[Rule]) -> list[Piece]:
    """Return everything on a sheet in the order in which it is read. ``rules`` are its level lines."""
    rows = rows_of(lines, tables)
    return list(_region(rows, rules, _Columns(), 0))


def _region(rows: list[Row], rules: Sequence[Rule], columns: _Columns, depth: int) -> Iterator[Piece]:
    if not rows:
        return
    with_gaps(rows)
    plain: list[Row] = []
    at = 0
    while at < len(rows):
        band = _band(rows, at) if depth < MAX_DEPTH else None
        if band is None:
            plain.append(rows[at])
            at += 1
            continue
        start, end, gutters = band
        # Lines above that only stand in one of the columns belong to them.
        while plain and start > 0 and _joins(plain[-1], rows[start], gutters):
            plain.pop()
            start -= 1
        inside = rows[start:end]
        yield from _flow(plain, columns.next())
        plain = []
        yield from _resolve(inside, gutters, rules, columns, depth)
        at = end
    yield from _flow(plain, columns.next())


def _flow(rows: Sequence[Row], column: int) -> Iterator[Piece]:
    if not rows:
        return
    left, right = min(r.box.x0 for r in rows), max(r.box.x1 for r in rows)
    for row in rows:
        yield Piece(line=row.line, table=row.table, column=column, left=left, right=right)


def _band(rows: Sequence[Row], start: int) -> tuple[int, int, list[tuple[float, float]]] | None:
    """The rows from ``start`` on through which a gutter runs; None when there are none."""
    first = rows[start]
    if not first.gaps:
        return None
    least = 0.8 * first.size
    gutters = first.gaps
    end = start + 1
    while end < len(rows):
        left = narrowed(rows[end], gutters, min(least, 0.8 * rows[end].size))
        if not left:
            break
        gutters = left
        end += 1
    # What only stands below on one side, at the end, is not held in by the gutter.
    while end > start + 1 and not rows[end - 1].gaps and not _is_beside(rows, start, end, gutters):
        end -= 1
    parted = sum(1 for row in rows[start:end] if row.gaps)
    if parted < 2:
        return None
    return start, end, gutters


def _is_beside(rows: Sequence[Row], start: int, end: int, gutters: Sequence[tuple[float, float]]) -> bool:
    """Whether the last row goes on in a column that it stands in: near the one above, on one side."""
    last, gutter = rows[end - 1], gutters[0]
    above = [r for r in rows[start : end - 1] if (r.box.x0 < gutter[0]) == (last.box.x0 < gutter[0])]
    if not above or last.table is not None:
        return bool(above)
    left_edge = min(
        s.x0 for r in above for s in r.segments if (s.x0 < gutter[0]) == (last.box.x0 < gutter[0])
    )
    return last.base - above[-1].base < 2.2 * last.size and abs(last.box.x0 - left_edge) < 3.0 * last.size


def _joins(row: Row, below: Row, gutters: Sequence[tuple[float, float]]) -> bool:
    if row.table is not None or any(crosses(row, gutter) for gutter in gutters):
        return False
    if not below.box.y0 - row.box.y1 < 1.1 * row.size:
        return False
    return row.box.x0 > gutters[0][0] or row.size <= below.size * 1.05


def _resolve(
    rows: list[Row], gutters: list[tuple[float, float]], rules: Sequence[Rule], columns: _Columns, depth: int
) -> Iterator[Piece]:
    if not _is_prose(rows, gutters):
        yield from _tables_within(rows, rules, columns)
        return
    split = _split(rows, gutters)
    for part in split:
        yield from _region(part, rules, columns, depth + 1)


def _tables_within(rows: list[Row], rules: Sequence[Rule], columns: _Columns) -> Iterator[Piece]:
    """A band that is no running text: its tables, and what stands before, between and after them."""
    for group in _by_distance(rows):
        found = table_of(group, rules)
        if found is None:
            yield from _flow(group, columns.next())
            continue
        table, start, end = found
        yield from _flow(group[:start], columns.next())
        yield Piece(table=table, column=columns.next(), left=table.x0, right=table.x1)
        yield from _flow(group[end:], columns.next())


def _by_distance(rows: Sequence[Row]) -> list[list[Row]]:
    groups: list[list[Row]] = []
    for row in rows:
        above = groups[-1][-1] if groups else row
        near = row.box.y0 - above.box.y1 < 3.2 * max(row.size, above.size)
        if groups and near and max(row.size, above.size) < 1.18 * min(row.size, above.size):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _split(rows: Sequence[Row], gutters: Sequence[tuple[float, float]]) -> list[list[Row]]:
    middles = sorted((a + b) / 2 for a, b in gutters)
    parts: list[list[Row]] = [[] for _ in range(len(middles) + 1)]
    for row in rows:
        if row.line is None:
            parts[sum(m < (row.box.x0 + row.box.x1) / 2 for m in middles)].append(row)
            continue
        words: dict[int, list] = {}  # type: ignore[type-arg]
        for word in row.line.words:
            words.setdefault(sum(m < (word.x0 + word.x1) / 2 for m in middles), []).append(word)
        for part, found in words.items():
            line = Line.of(found)
            parts[part].extend(rows_of([line], []))
    return [part for part in parts if part]


def _is_prose(rows: Sequence[Row], gutters: Sequence[tuple[float, float]]) -> bool:
    """Whether the columns of a band are read one by one."""
    parts = _split(rows, gutters)
    if len(parts) < 2:
        return True
    if any(row.table is not None for row in rows):
        return True
    prose = [_is_running(part) for part in parts]
    if sum(prose) >= 2:
        return True
    if not any(prose):
        return False
    # One column of text beside something short: a margin, or labels that belong to the lines beside them.
    texts = max(parts, key=len)
    return not all(_aligned(part, texts) for part in parts if part is not texts)


def _is_running(part: Sequence[Row]) -> bool:
    lines = [row.line for row in part if row.line is not None]
    if len(lines) < 3:
        return False
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    words = sum(_weight(line) for line in lines) / len(lines)
    fill = sum(line.x1 - line.x0 for line in lines) / len(lines) / max(right - left, 1.0)
    if sum(len(segments_of(line)) == 1 for line in lines) < 0.75 * len(lines):
        return False
    if words >= PROSE_WORDS and fill >= PROSE_FILL:
        return True
    # Narrow columns: sentences run on from line to line, evenly.
    steps = [b.base - a.base for a, b in pairwise(lines)]
    within = sum(goes_on(line.text) for line in lines[1:])
    return words >= 2.4 and fill >= 0.7 and within >= 0.4 * len(steps) and max(steps) < 1.4 * min(steps)


def _weight(line: Line) -> float:
    """Words, a run of ideographs counted by its length."""
    return sum(max(1.0, sum(c > "\u2e7f" for c in w.text) / 2.5) for w in line.words)


def _aligned(part: Sequence[Row], texts: Sequence[Row]) -> bool:
    bases = [row.base for row in texts]
    hits = sum(any(abs(row.base - base) < 2.0 for base in bases) for row in part)
    return hits >= 0.85 * len(part) and len(part) >= 2
