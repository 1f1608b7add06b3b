"""Tables without lines: columns by the gaps between them, rows by their base lines."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise

from attrs import define

from .cells import is_number, with_one_header, without_markers
from .prose import mend as fold
from .records import Rule
from .segments import CELL_GAP, Row, Segment, gutters_of, segments_of
from .tables import MAX_COLUMNS, Table
from .words import Word, join


@define(slots=True, kw_only=True, eq=False)
class _Cells:
    """A row's words by column; ``spans`` maps the first column of a piece to the last that it covers."""

    row: Row
    words: dict[int, list[Word]]
    spans: dict[int, int]

    @property
    def columns(self) -> list[int]:
        return sorted(self.words)

    def text(self, column: int) -> str:
        return join(self.words[column]) if column in self.words else ""


def table_of(rows: Sequence[Row], rules: Sequence[Rule]) -> tuple[Table, int, int] | None:
    """Return the table in ``rows`` and which of them it takes (from, to); None when there is none."""
    start, end = _trimmed(rows)
    if end - start < 2:
        return None
    inside = rows[start:end]
    gutters = gutters_of([row.line for row in inside if row.line is not None])
    if not gutters or len(gutters) >= MAX_COLUMNS:
        return None
    cells = [_cells(row, gutters) for row in inside]
    if not _is_tabular(cells, len(gutters) + 1):
        return None
    merged = _merged(cells, rules)
    width = len(gutters) + 1
    table_rows = [_texts(group, width) for group in merged]
    table_rows = with_one_header(table_rows, [group[0].row.base for group in merged], inside[0].size)
    used = [c for c in range(width) if any(row[c] for row in table_rows)]
    table_rows = without_markers([[row[c] for c in used] for row in table_rows])
    if len(table_rows) < 2 or len(table_rows[0]) < 2:
        return None
    lefts = [min((w.x0 for c in cells for w in c.words.get(column, ())), default=0.0) for column in used]
    table = Table(
        rows=table_rows,
        x0=min(r.box.x0 for r in inside),
        x1=max(r.box.x1 for r in inside),
        y0=inside[0].box.y0,
        y1=inside[-1].box.y1,
        edges=lefts,
    )
    return table, start, end


def _trimmed(rows: Sequence[Row]) -> tuple[int, int]:
    """Without the lines of one piece before and after: titles and notes. Pieces of a header that stand
    over later columns stay."""
    left = min(row.box.x0 for row in rows)
    start, end = 0, len(rows)
    while start < end and len(rows[start].segments) < 2 and rows[start].box.x0 < left + 3 * rows[start].size:
        start += 1
    while end > start and len(rows[end - 1].segments) < 2 and not _goes_on_above(rows, end - 1, start):
        end -= 1
    return start, end


def _goes_on_above(rows: Sequence[Row], index: int, start: int) -> bool:
    """Whether a last line of one piece is the rest of a cell of the row above."""
    if index <= start:
        return False
    row, above = rows[index], rows[index - 1]
    if row.base - above.base > 1.35 * row.size or len(above.segments) < 2:
        return False
    piece = row.segments[0]
    return any(
        abs(piece.x0 - s.x0) < 1.5 * row.size and piece.x1 < s.x1 + 4 * row.size for s in above.segments
    )


def _cells(row: Row, gutters: Sequence[tuple[float, float]]) -> _Cells:
    assert row.line is not None
    middles = [(a + b) / 2 for a, b in gutters]
    words: dict[int, list[Word]] = {}
    spans: dict[int, int] = {}
    for segment in segments_of(row.line, CELL_GAP):
        for part in _cut(segment, gutters):
            first = sum(m < part[0].x0 + 0.1 for m in middles)
            last = sum(m < part[-1].x1 - 0.1 for m in middles)
            centre = sum(m < (part[0].x0 + part[-1].x1) / 2 for m in middles)
            home = first if last > first else centre
            words.setdefault(home, []).extend(part)
            if last > first:
                spans[home] = last
    return _Cells(row=row, words=words, spans=spans)


def _cut(segment: Segment, gutters: Sequence[tuple[float, float]]) -> list[list[Word]]:
    """Cut a piece where a gap between its words lies in a gutter, unless it runs over the gutter's words."""
    parts: list[list[Word]] = [[]]
    for word in segment.words:
        if parts[-1]:
            last = parts[-1][-1]
            gap = (last.x1, word.x0)
            if any(gap[0] <= b and gap[1] >= a and gap[1] - gap[0] > 0.3 * word.size for a, b in gutters):
                parts.append([])
        parts[-1].append(word)
    return parts


def _is_tabular(cells: Sequence[_Cells], width: int) -> bool:
    """Whether rows of short pieces stand in columns."""
    full = [c for c in cells if len(c.columns) >= 2]
    if len(full) < 2 or len(full) < 0.4 * len(cells):
        return False
    texts = [c.text(column) for c in full for column in c.columns]
    words = statistics.mean(len(text.split()) for text in texts)
    numbers = sum(is_number(text) for text in texts) / len(texts)
    if words > 7:
        return False
    if len(full) == 2:
        return numbers >= 0.3 or (width >= 3 and words <= 3)
    if width == 2:
        return numbers >= 0.2 or words <= 6
    return True


def _merged(cells: Sequence[_Cells], rules: Sequence[Rule]) -> list[list[_Cells]]:
    """Group the lines that make one row of the table."""
    tight = _row_pitch(cells)
    parts = _parting(cells, rules)
    groups: list[list[_Cells]] = []
    for number, here in enumerate(cells):
        if groups and not parts[number] and _same_row(groups[-1], here, tight):
            groups[-1].append(here)
        else:
            groups.append([here])
    return groups


def _parting(cells: Sequence[_Cells], rules: Sequence[Rule]) -> list[bool]:
    """Whether a level line parts each line from the one above."""
    found = [True]
    for above, here in pairwise(cells):
        top, bottom = above.row.base - 0.2, here.row.base - 0.3 * here.row.size
        found.append(any(top < r.at < bottom and r.end - r.start > 20 for r in rules))
    return found


def _row_pitch(cells: Sequence[_Cells]) -> float:
    """The distance of base lines up to which lines may be one row; 0 when they are all alike."""
    gaps = sorted(round(b.row.base - a.row.base, 1) for a, b in pairwise(cells))
    if len(gaps) < 3:
        return 0.0
    for one, other in pairwise(gaps):
        if other > 1.25 * one and one > 0 and gaps.index(other) >= 1:
            return (one + other) / 2
    return 0.0


def _same_row(group: Sequence[_Cells], here: _Cells, tight: float) -> bool:
    above = group[-1]
    distance = here.row.base - above.row.base
    if distance > 1.6 * max(here.row.size, above.row.size):
        return False
    columns = here.columns
    shared = [c for c in columns if any(c in a.words for a in group)]
    if not shared:
        # Pieces that complete the row above: its cells stand on different base lines.
        return distance < 0.9 * here.row.size
    figures = [c for c in columns if c and is_number(here.text(c))]
    if any(a.text(c) for a in group for c in figures):
        return False  # a figure beneath a figure or a header is the next row's
    if tight and distance < tight:
        return not figures or not any(is_number(a.text(c)) for a in group for c in a.columns)
    first = here.text(columns[0])
    return len(columns) == 1 and first[:1].islower() and columns[0] in above.words


def _texts(group: Sequence[_Cells], width: int) -> list[str]:
    return [fold([c.text(column) for c in group]) for column in range(width)]
