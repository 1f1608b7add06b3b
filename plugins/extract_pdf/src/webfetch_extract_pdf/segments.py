"""Pieces of lines between wide gaps, and the gutters that run between them from line to line."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence

from attrs import define, field

from .records import Box
from .tables import Table
from .words import Line, Word, is_bullet

COLUMN_GAP = 0.9
"""Least gap between columns, in ems."""
CELL_GAP = 0.55
"""Least gap between two cells of a row, in ems, where a gutter runs between them."""
CROSSED = 0.2
"""Share of the rows that may cross a gutter: titles within the table and headers over several columns."""
_MARKER = re.compile(r"(?:\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]|\[\d{1,3}\])$")


@define(slots=True, kw_only=True, eq=False)
class Segment:
    """Words of one line without a wide gap."""

    words: list[Word]
    x0: float
    x1: float


@define(slots=True, kw_only=True, eq=False)
class Row:
    """A line cut at its wide gaps, or a drawn table, which has none. ``spans`` are the free stretches
    between what stands at this height, neighbours on other base lines included."""

    line: Line | None
    table: Table | None
    segments: list[Segment]
    box: Box
    size: float
    gaps: list[tuple[float, float]] = field(factory=list)

    @property
    def base(self) -> float:
        return self.line.base if self.line is not None else self.box.y1


def rows_of(lines: Sequence[Line], tables: Sequence[Table]) -> list[Row]:
    """Return lines and drawn tables from top to bottom."""
    rows = [
        Row(
            line=line,
            table=None,
            segments=segments_of(line),
            box=Box(line.x0, line.base - 0.9 * line.size, line.x1, line.base + 0.3 * line.size),
            size=line.size,
        )
        for line in lines
    ]
    for table in tables:
        segment = Segment(words=[], x0=table.x0, x1=table.x1)
        box = Box(table.x0, table.y0, table.x1, table.y1)
        rows.append(Row(line=None, table=table, segments=[segment], box=box, size=10.0))
    rows.sort(key=lambda r: (r.box.y0 if r.table else r.base - 0.75 * r.size, r.box.x0))
    return rows


def segments_of(line: Line, gap: float = COLUMN_GAP) -> list[Segment]:
    """Cut a line at gaps wider than ``gap`` ems; a bullet or number stays with what it marks."""
    found: list[Segment] = []
    current: list[Word] = []
    for word in line.words:
        if current:
            last = current[-1]
            wide = word.x0 - max(w.x1 for w in current[-3:]) > gap * max(min(word.size, last.size), 4.0)
            if wide and not (len(current) == 1 and _marks(last, word, line.size)):
                found.append(Segment(words=current, x0=current[0].x0, x1=max(w.x1 for w in current)))
                current = []
        current.append(word)
    if current:
        found.append(Segment(words=current, x0=current[0].x0, x1=max(w.x1 for w in current)))
    return found


def _marks(word: Word, after: Word, size: float) -> bool:
    """Whether ``word`` is the bullet or number of the item that begins with ``after``."""
    near = after.x0 - word.x1 < 4.0 * size
    return near and (is_bullet(word.text) or bool(_MARKER.match(word.text)))


def gutters_of(lines: Sequence[Line]) -> list[tuple[float, float]]:
    """Stretches that almost all of the lines leave free that are cut at all, with text on both sides."""
    steps: list[tuple[float, int]] = []
    parted = [line for line in lines if len(segments_of(line)) > 1] or list(lines)
    for line in parted:
        for segment in segments_of(line, CELL_GAP):
            steps.append((segment.x0, 1))
            steps.append((segment.x1, -1))
    steps.sort()
    allowed = int(CROSSED * len(parted))
    found: list[tuple[float, float]] = []
    depth = 0
    free_from: float | None = None
    for x, change in steps:
        before = depth
        depth += change
        if before > allowed >= depth:
            free_from = x
        elif before <= allowed < depth and free_from is not None:
            found.append((free_from, x))
            free_from = None
    size = statistics.median(line.size for line in lines)
    return [(a, b) for a, b in found if b - a >= 0.4 * size]


def with_gaps(rows: Sequence[Row]) -> None:
    """Fill in ``gaps``: where nothing stands between the first and the last thing at a row's height."""
    for number, row in enumerate(rows):
        if row.table is not None:
            row.gaps = []
            continue
        middle = row.base - 0.3 * row.size
        taken = [(s.x0, s.x1) for s in row.segments]
        for other in _neighbours(rows, number, middle):
            taken.extend((s.x0, s.x1) for s in other.segments)
        taken.sort()
        gaps: list[tuple[float, float]] = []
        right = taken[0][1]
        for x0, x1 in taken[1:]:
            if x0 - right > COLUMN_GAP * row.size * 0.9:
                gaps.append((right, x0))
            right = max(right, x1)
        row.gaps = gaps


def _neighbours(rows: Sequence[Row], number: int, y: float) -> list[Row]:
    found = []
    for step in (-1, 1):
        index = number + step
        while 0 <= index < len(rows) and abs(index - number) <= 8:
            other = rows[index]
            if other.box.y0 <= y <= other.box.y1:
                found.append(other)
            elif other.table is None and abs(other.base - rows[number].base) > 3 * rows[number].size:
                break
            index += step
    return found


def crosses(row: Row, gutter: tuple[float, float]) -> bool:
    """Whether something of the row stands in the gutter."""
    return any(s.x0 < gutter[1] - 0.5 and s.x1 > gutter[0] + 0.5 for s in row.segments)


def narrowed(row: Row, gutters: Sequence[tuple[float, float]], least: float) -> list[tuple[float, float]]:
    """What the row leaves of each gutter; those that become narrower than ``least`` are gone."""
    found = []
    for start, end in gutters:
        pieces = [(start, end)]
        for segment in row.segments:
            pieces = [
                piece
                for a, b in pieces
                for piece in ((a, min(b, segment.x0)), (max(a, segment.x1), b))
                if piece[1] - piece[0] >= least
            ]
        found.extend(pieces)
    merged = sorted(set(found))
    return [
        g
        for i, g in enumerate(merged)
        if not any(_within(g, other) for j, other in enumerate(merged) if i != j)
    ]


def _within(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return other[0] <= one[0] and one[1] <= other[1] and one != other
