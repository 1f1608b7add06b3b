"""Tables that are drawn: cells are what their lines enclose."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .cells import with_one_header, without_markers
from .drawn import NEAR, Grid, grids_of, merged
from .prose import mend as fold
from .records import Rule
from .segments import CELL_GAP, gutters_of, segments_of
from .sheets import Sheet
from .stacks import stack_of, stacked_cells, unstacked
from .tables import Table, without_empty
from .words import Line, Word, join

PROSE_WORDS = 45
"""Mean words a cell from which the lines frame the page's layout, not a table."""
LAYOUT_LINES = 6
"""Mean lines a cell from which the same holds, unless the lines are rows."""


def drawn_tables(sheet: Sheet, lines: Sequence[Line]) -> tuple[list[Table], list[Line]]:
    """Return the tables, and the lines without the words that stand in them."""
    grids = grids_of(merged(sheet.across), merged(sheet.down))
    if not grids:
        return [], list(lines)
    tables: list[Table] = []
    taken: set[int] = set()
    words = [word for line in lines for word in line.words]
    for grid in grids:
        inside = [
            w
            for w in words
            if id(w) not in taken
            and grid.xs[0] - 1 <= (w.x0 + w.x1) / 2 <= grid.xs[-1] + 1
            and grid.ys[0] - 1 <= (w.y0 + w.y1) / 2 <= grid.ys[-1] + 1
        ]
        table = _table(grid, inside)
        if table is not None:
            tables.append(table)
            taken.update(id(w) for w in inside)
    rest = []
    for line in lines:
        left = [w for w in line.words if id(w) not in taken]
        if len(left) == len(line.words):
            rest.append(line)
        elif left:
            rest.append(Line.of(left))
    return tables, rest


def _table(grid: Grid, words: Sequence[Word]) -> Table | None:
    lines = [_band_lines(grid, words, row) for row in range(len(grid.ys) - 1)]
    virtual = _text_edges(grid, lines)
    xs = sorted(grid.xs + virtual)
    columns, rows = len(xs) - 1, len(grid.ys) - 1
    cells = _cells(grid, xs, _parted_by_text(grid, xs, virtual, lines))
    content: dict[int, list[Word]] = {}
    for row, band in enumerate(lines):
        for line in band:
            for word in line:
                column = _place(xs, (word.x0 + word.x1) / 2)
                content.setdefault(cells[row * columns + column], []).append(word)
    texts = {root: cell_lines(found) for root, found in content.items()}
    if len(texts) < 2:
        return None
    if sum(len(found) for found in content.values()) > PROSE_WORDS * len(texts):
        return None
    if len({cell % columns for cell in texts}) < 2:
        return None
    if sum(map(len, texts.values())) > LAYOUT_LINES * len(texts):
        stacks = [stack_of(stacked_cells(cells, row, columns, texts), rows == 1) for row in range(rows)]
        if not any(len(stack) > LAYOUT_LINES for stack in stacks):
            return None
    filled: list[list[str]] = []
    size = words[0].size
    for row in range(rows):
        filled += _grid_row(cells, row, columns, texts, size, rows == 1)
    found_rows = without_markers(without_empty(filled))
    if len(found_rows) < 2 or len(found_rows[0]) < 2:
        return None
    return Table(
        rows=found_rows,
        x0=xs[0],
        x1=xs[-1],
        y0=grid.ys[0],
        y1=grid.ys[-1],
        edges=[round(x, 1) for x in xs[:-1]],
    )


def _band_lines(grid: Grid, words: Sequence[Word], row: int) -> list[list[Word]]:
    """The words of one row of the grid by base line, each from left to right."""
    inside = [w for w in words if _place(grid.ys, (w.y0 + w.y1) / 2) == row]
    return [sorted(line, key=lambda w: w.x0) for line in by_base(inside)]


def _text_edges(grid: Grid, lines: Sequence[Sequence[Sequence[Word]]]) -> list[float]:
    """Where the text tells columns apart that no line does."""
    found: list[float] = []
    for left, right in pairwise(grid.xs):
        pieces = []
        for band in lines:
            for line in band:
                inside = [w for w in line if left <= (w.x0 + w.x1) / 2 < right]
                if inside:
                    pieces.append(Line.of(inside))
        parted = sum(len(segments_of(line, CELL_GAP)) > 1 for line in pieces)
        if parted >= 3 and parted >= 0.5 * len(pieces):
            found += [(a + b) / 2 for a, b in gutters_of(pieces)]
    return found


def _parted_by_text(
    grid: Grid, xs: Sequence[float], virtual: Sequence[float], lines: Sequence[Sequence[Sequence[Word]]]
) -> set[tuple[int, int]]:
    """(row, edge) pairs at which no line is drawn and the text stands apart all the same."""
    found: set[tuple[int, int]] = set()
    for edge in range(1, len(xs) - 1):
        x = xs[edge]
        clear, crossed, silent = [], [], []
        for row, band in enumerate(lines):
            if x not in virtual and _parted(grid.down, x, grid.ys[row], grid.ys[row + 1]):
                continue
            verdicts = [_stands_apart(line, x) for line in band]
            if False in verdicts:
                crossed.append(row)
            elif True in verdicts:
                clear.append(row)
            else:
                silent.append(row)
        if len(clear) >= 2 and len(clear) >= 1.5 * len(crossed):
            found.update((row, edge) for row in clear)
            if x in virtual:
                found.update((row, edge) for row in silent)
    return found


def _stands_apart(line: Sequence[Word], x: float) -> bool | None:
    """Whether a line has a gap between cells at ``x``; None when it stands on one side of it."""
    before = [w for w in line if (w.x0 + w.x1) / 2 < x]
    after = [w for w in line if (w.x0 + w.x1) / 2 >= x]
    if not before or not after:
        return None if not any(w.x0 < x - 2 and w.x1 > x + 2 for w in line) else False
    gap = min(w.x0 for w in after) - max(w.x1 for w in before)
    return gap >= CELL_GAP * max(before[-1].size, 4.0)


def _cells(grid: Grid, xs: Sequence[float], by_text: set[tuple[int, int]]) -> list[int]:
    """For every field of the grid the first field of the cell that it belongs to, row by row."""
    columns, rows = len(xs) - 1, len(grid.ys) - 1
    home = list(range(columns * rows))

    def root(i: int) -> int:
        while home[i] != i:
            i = home[i]
        return i

    def unite(one: int, other: int) -> None:
        one, other = root(one), root(other)
        home[max(one, other)] = min(one, other)

    for row in range(rows):
        for column in range(columns):
            here = row * columns + column
            if (
                column + 1 < columns
                and (row, column + 1) not in by_text
                and not _parted(grid.down, xs[column + 1], grid.ys[row], grid.ys[row + 1])
            ):
                unite(here, here + 1)
            if row + 1 < rows and not _parted(grid.across, grid.ys[row + 1], xs[column], xs[column + 1]):
                unite(here, here + columns)
    return [root(i) for i in range(columns * rows)]


def _parted(rules: Sequence[Rule], at: float, start: float, end: float) -> bool:
    covered = sum(
        max(0.0, min(rule.end, end) - max(rule.start, start)) for rule in rules if abs(rule.at - at) <= NEAR
    )
    return covered >= 0.55 * (end - start)


def _place(edges: Sequence[float], value: float) -> int:
    for index in range(1, len(edges) - 1):
        if value < edges[index]:
            return index - 1
    return len(edges) - 2


def by_base(words: Sequence[Word]) -> list[list[Word]]:
    """Words grouped by base line, from top to bottom."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda w: (w.base, w.x0)):
        if rows and word.base - rows[-1][0].base <= 0.45 * max(word.size, rows[-1][0].size):
            rows[-1].append(word)
        else:
            rows.append([word])
    return rows


def cell_lines(words: Sequence[Word]) -> list[tuple[float, str]]:
    """The lines of a cell, each with its base line."""
    return [(row[0].base, join(sorted(row, key=lambda w: w.x0))) for row in by_base(words)]


def _grid_row(
    cells: Sequence[int],
    row: int,
    columns: int,
    texts: dict[int, list[tuple[float, str]]],
    size: float,
    alone: bool,
) -> list[list[str]]:
    """One row of the grid as one row of the table, or as several where only the text tells rows apart."""
    roots = [cells[row * columns + column] for column in range(columns)]
    own = [texts.get(root, []) if root // columns == row else [] for root in roots]
    starts = stack_of(stacked_cells(cells, row, columns, texts), alone)
    if len(starts) > 1:
        return with_one_header(unstacked(roots, own, starts), starts, size)
    line = []
    whole = len(set(roots)) == 1
    for column, root in enumerate(roots):
        spanned = column > 0 and roots[column - 1] == root
        if spanned and whole:  # a title within the table: once is enough
            line.append("")
            continue
        line.append(fold([text for _, text in texts.get(root, [])]))
    return [line]
