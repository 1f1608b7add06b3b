"""What a table tells of its rows beside their words: which are its head, its ends, its extremes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from .layout import Placed
from .lines import Kind
from .question import Question
from .words import terms

_FIRST = re.compile(r"\b(?:first|earliest|oldest)\b")
_LAST = re.compile(r"\b(?:last|latest|final|newest|most recent)\b")
_MOST = re.compile(r"\b(?:most|highest|largest|greatest|longest|tallest|biggest|maximum|best|top)\b")
_LEAST = re.compile(r"\b(?:least|lowest|smallest|shortest|fewest|minimum|worst)\b")
_VALUE = re.compile(r"[^\w|]*(-?\d[\d,]*(?:\.\d+)?)")
_BAR = re.compile(r"(?<!\\)\|")
_LONGEST_MATCH = 3


@frozen(kw_only=True)
class RowFacts:
    """What is known of one row from its table.

    Attributes:
        head: it is one of the rows that name the columns (or the rule below them).
        at_end: it is the first row of the body and the query asks for a first, or the last and for a last.
        extreme: it holds the largest or the smallest number of a column that the query names, as it asks.
        cell_asked: how much of one cell, whole, stands in the query: terms, up to 3, as a share of 3.
    """

    head: bool
    at_end: bool
    extreme: bool
    cell_asked: float


def facts_of_rows(question: Question, placed: Sequence[Placed]) -> Mapping[int, RowFacts]:
    """Return the facts of each unit that is a row, by its index. Superlatives are English ones."""
    asked = frozenset(question.terms)
    lower = question.text.lower()
    first, last = bool(_FIRST.search(lower)), bool(_LAST.search(lower))
    most, least = bool(_MOST.search(lower)), bool(_LEAST.search(lower))
    facts: dict[int, RowFacts] = {}
    for start, stop in _tables(placed):
        body = start + placed[start].unit.header
        grid = [_cells(placed[i].unit.text) for i in range(start, stop)]
        extremes = _extremes(grid, body - start, asked, most, least) if most or least else frozenset()
        for i in range(start, stop):
            facts[i] = RowFacts(
                head=i < body,
                at_end=(first and i == body) or (last and i == stop - 1 and i >= body),
                extreme=i - start in extremes,
                cell_asked=0.0 if i < body else _cell_asked(grid[i - start], asked),
            )
    return facts


def _tables(placed: Sequence[Placed]) -> Iterator[tuple[int, int]]:
    """Yield where each run of rows of one block starts and stops."""
    start = None
    for i, p in enumerate(placed):
        row = p.unit.kind is Kind.ROW
        if start is not None:
            opened = placed[start]
            if row and (p.chain, p.unit.block) == (opened.chain, opened.unit.block):
                continue
            yield start, i
        start = i if row else None
    if start is not None:
        yield start, len(placed)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _BAR.split(row.strip().removeprefix("|").removesuffix("|"))]


def _cell_asked(cells: Sequence[str], asked: frozenset[str]) -> float:
    said = (set(terms(cell)) for cell in cells)
    longest = max((len(s) for s in said if s and s <= asked), default=0)
    return min(_LONGEST_MATCH, longest) / _LONGEST_MATCH


def _extremes(
    grid: Sequence[Sequence[str]], head: int, asked: frozenset[str], most: bool, least: bool
) -> frozenset[int]:
    """Rows with the extreme number of a column whose name shares a term with the query."""
    found: set[int] = set()
    if not head:
        return frozenset()
    for column, name in enumerate(grid[0]):
        if asked.isdisjoint(terms(name)):
            continue
        values = [
            (float(number.group(1).replace(",", "")), row)
            for row in range(head, len(grid))
            if column < len(grid[row]) and (number := _VALUE.match(grid[row][column]))
        ]
        if len(values) > 1:
            ordered = sorted(values, key=lambda value: value[0])
            found |= {ordered[-1][1]} if most else set()
            found |= {ordered[0][1]} if least else set()
    return frozenset(found)
