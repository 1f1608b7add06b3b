"""Rows that no line parts: cells of a drawn row that hold one line for each of several rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from .cells import MAX_HEADER_LINES, is_number
from .prose import mend as fold


def stacked_cells(
    cells: Sequence[int], row: int, columns: int, texts: dict[int, list[tuple[float, str]]]
) -> list[list[tuple[float, str]]]:
    """The lines of each cell that begins in a row."""
    roots = dict.fromkeys(cells[row * columns + column] for column in range(columns))
    return [texts[root] for root in roots if root // columns == row and texts.get(root)]


def stack_of(stacked: Sequence[Sequence[tuple[float, str]]], alone: bool) -> list[float]:
    """The base lines at which rows begin that no line parts; one of them when the cells are one row.
    ``alone`` says that nothing is drawn but one row."""
    bases = sorted({round(base, 1) for lines in stacked for base, _ in lines})
    bases = [b for i, b in enumerate(bases) if i == 0 or b - bases[i - 1] > 2.5]
    if len(bases) < 2 or len(stacked) < 2:
        return bases[:1]
    counts = [len(lines) for lines in stacked]
    most = max(counts)
    words = sum(len(text.split()) for lines in stacked for _, text in lines)
    hits = sum(any(abs(base - other) < 2.5 for other in bases) for lines in stacked for base, _ in lines)
    alike = sum(count >= most - 1 for count in counts) >= max(2, 0.7 * len(counts))
    later = [text for lines in stacked[1:] for _, text in lines]
    figures = sum(map(is_number, later))
    # Few lines without figures are the header's, or those of wrapped cells.
    rows_of_words = alone or most > MAX_HEADER_LINES or figures >= 0.5 * len(later)
    if most >= 3 and alike and rows_of_words and words <= 4 * sum(counts) and hits >= 0.9 * sum(counts):
        return bases
    if most >= 3 and len(later) >= 3 and max(counts[1:]) >= 2 and figures >= 0.6 * len(later):
        return bases if _are_level(stacked) else bases[:1]
    # Blocks of lines, apart in all cells at once.
    steps = [b - a for a, b in pairwise(bases)]
    apart = 1.3 * min(steps)
    starts = [bases[0]] + [b for step, b in zip(steps, bases[1:], strict=True) if step > apart]
    if len(starts) < 2 or len(starts) > 0.7 * len(bases):
        return bases[:1]
    blocks = [
        sum(any(start - 2.5 <= base < end - 2.5 for base, _ in lines) for lines in stacked)
        for start, end in zip(starts, [*starts[1:], math.inf], strict=True)
    ]
    return starts if sum(count >= 2 for count in blocks) >= 2 else bases[:1]


def _are_level(stacked: Sequence[Sequence[tuple[float, str]]]) -> bool:
    """Whether the lines of the later cells stand on base lines of the first."""
    first = [base for base, _ in stacked[0]]
    later = [base for lines in stacked[1:] for base, _ in lines]
    return sum(any(abs(base - other) < 2.5 for other in first) for base in later) >= 0.7 * len(later)


def unstacked(
    roots: Sequence[int], own: Sequence[list[tuple[float, str]]], starts: Sequence[float]
) -> list[list[str]]:
    rows: list[list[list[str]]] = [[[] for _ in roots] for _ in starts]
    for column, lines in enumerate(own):
        if column and roots[column - 1] == roots[column]:
            continue
        for base, text in lines:
            place = max(sum(start <= base + 2.5 for start in starts) - 1, 0)
            rows[place][column].append(text)
    return [[fold(cell) for cell in row] for row in rows]
