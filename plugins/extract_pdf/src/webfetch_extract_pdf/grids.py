"""Tables that are drawn: cells are what their lines enclose."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define

from .records import Rule
from .sheets import Sheet
from .tables import MAX_COLUMNS, Table, without_empty
from .words import Line, Word, join

NEAR = 3.0
"""Points by which lines that meet may miss each other."""
MAX_RULES = 3_000
"""More lines in one direction are a drawing."""
MAX_CELLS = 20_000
PROSE_WORDS = 45
"""Mean words a cell from which the lines frame the page's layout, not a table."""


@define(slots=True, kw_only=True, eq=False)
class _Grid:
    xs: list[float]
    ys: list[float]
    across: list[Rule]
    down: list[Rule]


def drawn_tables(sheet: Sheet, lines: Sequence[Line]) -> tuple[list[Table], list[Line]]:
    """Return the tables, and the lines without the words that stand in them."""
    grids = _grids(merged(sheet.across), merged(sheet.down))
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


def merged(rules: Sequence[Rule]) -> list[Rule]:
    """Join pieces of one line: dashes, cell borders drawn one by one, doubled lines."""
    if len(rules) > MAX_RULES:
        return []
    found: list[Rule] = []
    at: list[float] = []
    for rule in sorted(rules):
        if at and rule.at - at[-1] <= 1.5:
            at.append(rule.at)
            found.append(Rule(at[0], rule.start, rule.end))
        else:
            at = [rule.at]
            found.append(rule)
    joined: list[Rule] = []
    for rule in sorted(found):
        last = joined[-1] if joined else None
        if last is not None and last.at == rule.at and rule.start <= last.end + NEAR:
            joined[-1] = Rule(last.at, last.start, max(last.end, rule.end))
        else:
            joined.append(rule)
    return joined


def _grids(across: Sequence[Rule], down: Sequence[Rule]) -> list[_Grid]:
    """Groups of lines that meet, each with at least two in either direction."""
    home = list(range(len(across) + len(down)))

    def root(i: int) -> int:
        while home[i] != i:
            home[i] = home[home[i]]
            i = home[i]
        return i

    for j, upright in enumerate(down):
        for i, level in enumerate(across):
            if (
                level.start - NEAR <= upright.at <= level.end + NEAR
                and upright.start - NEAR <= level.at <= upright.end + NEAR
            ):
                home[root(i)] = root(len(across) + j)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for i, level in enumerate(across):
        groups.setdefault(root(i), ([], []))[0].append(level)
    for j, upright in enumerate(down):
        groups.setdefault(root(len(across) + j), ([], []))[1].append(upright)
    found = []
    for level_rules, upright_rules in groups.values():
        if len(level_rules) < 2 or not upright_rules:
            continue
        xs, ys = _clustered([r.at for r in upright_rules]), _clustered([r.at for r in level_rules])
        # Open sides: level lines that reach beyond the outermost upright ones.
        left, right = min(r.start for r in level_rules), max(r.end for r in level_rules)
        if left < xs[0] - 10:
            xs.insert(0, left)
            upright_rules.append(Rule(left, ys[0], ys[-1]))
        if right > xs[-1] + 10:
            xs.append(right)
            upright_rules.append(Rule(right, ys[0], ys[-1]))
        if len(xs) >= 3 and len(ys) >= 2 and len(xs) <= MAX_COLUMNS + 1 and (len(xs) - 1) * (len(ys) - 1) <= MAX_CELLS:
            found.append(_Grid(xs=xs, ys=ys, across=level_rules, down=upright_rules))
    return sorted(found, key=lambda g: (g.xs[-1] - g.xs[0]) * (g.ys[-1] - g.ys[0]))


def _clustered(values: Sequence[float]) -> list[float]:
    groups: list[list[float]] = []
    for value in sorted(values):
        if groups and value - groups[-1][-1] <= NEAR:
            groups[-1].append(value)
        else:
            groups.append([value])
    return [sum(group) / len(group) for group in groups]


def _table(grid: _Grid, words: Sequence[Word]) -> Table | None:
    columns, rows = len(grid.xs) - 1, len(grid.ys) - 1
    cells = _cells(grid)
    content: dict[int, list[Word]] = {}
    for word in words:
        column = _place(grid.xs, (word.x0 + word.x1) / 2)
        row = _place(grid.ys, (word.y0 + word.y1) / 2)
        content.setdefault(cells[row * columns + column], []).append(word)
    texts = {root: cell_lines(found) for root, found in content.items()}
    if len(texts) < 2:
        return None
    if sum(len(found) for found in content.values()) > PROSE_WORDS * len(texts):
        return None
    used_columns = {cell % columns for cell in texts}
    used_rows = {cell // columns for cell in texts}
    if len(used_columns) < 2 or len(used_rows) < 2:
        if not (len(used_columns) >= 2 and any(len(lines) > 1 for lines in texts.values())):
            return None
    filled: list[list[str]] = []
    for row in range(rows):
        filled += _grid_row(cells, row, columns, texts)
    found_rows = without_empty(filled)
    if len(found_rows) < 2 or len(found_rows[0]) < 2:
        return None
    return Table(
        rows=found_rows,
        x0=grid.xs[0],
        x1=grid.xs[-1],
        y0=grid.ys[0],
        y1=grid.ys[-1],
        edges=grid.xs[:-1],
    )


def _cells(grid: _Grid) -> list[int]:
    """For every field of the grid the first field of the cell that it belongs to, row by row."""
    columns, rows = len(grid.xs) - 1, len(grid.ys) - 1
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
            if column + 1 < columns and not _parted(
                grid.down, grid.xs[column + 1], grid.ys[row], grid.ys[row + 1]
            ):
                unite(here, here + 1)
            if row + 1 < rows and not _parted(grid.across, grid.ys[row + 1], grid.xs[column], grid.xs[column + 1]):
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


def cell_lines(words: Sequence[Word]) -> list[tuple[float, str]]:
    """The lines of a cell, each with its base line."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda w: (w.base, w.x0)):
        if rows and word.base - rows[-1][0].base <= 0.45 * max(word.size, rows[-1][0].size):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [(row[0].base, join(sorted(row, key=lambda w: w.x0))) for row in rows]


def _grid_row(
    cells: Sequence[int], row: int, columns: int, texts: dict[int, list[tuple[float, str]]]
) -> list[list[str]]:
    """One row of the grid as one row of the table, or as several where only the text tells rows apart."""
    roots = [cells[row * columns + column] for column in range(columns)]
    own = [texts.get(root, []) if root // columns == row else [] for root in roots]
    stacked = [lines for root, lines in dict(zip(roots, own, strict=True)).items() if lines]
    if len(stacked) >= 2 and _is_stack(stacked):
        return _unstacked(roots, own, stacked)
    line = []
    whole = len(set(roots)) == 1
    for column, root in enumerate(roots):
        spanned = column > 0 and roots[column - 1] == root
        if spanned and whole:  # a title within the table: once is enough
            line.append("")
            continue
        line.append(fold([text for _, text in texts.get(root, [])]))
    return [line]


def _is_stack(stacked: Sequence[Sequence[tuple[float, str]]]) -> bool:
    """Whether the cells of a row hold one line for each of several rows that no line parts."""
    counts = [len(lines) for lines in stacked]
    most = max(counts)
    if most < 3 or sum(count >= most - 1 for count in counts) < max(2, 0.7 * len(counts)):
        return False
    words = sum(len(text.split()) for lines in stacked for _, text in lines)
    if words > 4 * sum(counts):
        return False
    bases = [base for base, _ in max(stacked, key=len)]
    hits = sum(any(abs(base - other) < 2.5 for other in bases) for lines in stacked for base, _ in lines)
    return hits >= 0.9 * sum(counts)


def _unstacked(
    roots: Sequence[int],
    own: Sequence[list[tuple[float, str]]],
    stacked: Sequence[Sequence[tuple[float, str]]],
) -> list[list[str]]:
    bases = [base for base, _ in max(stacked, key=len)]
    rows = [[""] * len(roots) for _ in bases]
    for column, lines in enumerate(own):
        if column and roots[column - 1] == roots[column]:
            continue
        for base, text in lines:
            nearest = min(range(len(bases)), key=lambda i: abs(bases[i] - base))
            rows[nearest][column] = fold([rows[nearest][column], text])
    return rows


def fold(lines: Sequence[str]) -> str:
    """The lines of a cell as one, words that were divided at a line's end made whole."""
    from .prose import mend

    return mend([line for line in lines if line])
