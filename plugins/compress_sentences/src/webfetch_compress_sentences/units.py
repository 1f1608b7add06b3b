"""Text to units: sentences, list items, table rows and code blocks, each kept or dropped whole. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

from .lines import Kind, Line, lines_of

MAX_UNIT_CHARS = 320
"""Longer sentences are cut at a clause or a blank, so that one of them cannot eat the budget."""


@frozen
class Unit:
    """One unit.

    Attributes:
        text: ``source[start:end]`` with runs of blanks and joined line breaks as one blank (code as it is).
        line: number of its line, hard-wrapped lines counted as one.
        block: number of its run of lines of one kind without a blank line between them.
        header: how many rows at the head of its block name the columns; 0 outside tables.
    """

    text: str
    start: int
    end: int
    kind: Kind
    line: int
    block: int
    header: int = 0


_RULE_CHARS = frozenset(" \t:|+-")
_PADDING = re.compile(r"\s{2,}|[\t\xa0]")
_DASHES = re.compile(r"-{4,}")

_BREAK = re.compile(
    r"(?<=[.!?…])[\"'”’»)\]*_]*(?:\[\d+\])*\s+(?=[^\s])"  # Latin marks need a blank after them
    r"|(?<=[。！？｡])[」』”’）)]*\s*(?=\S)"
    r"|(?<=[।॥؟۔])\s*(?=\S)"
)
# Words whose full stop ends no sentence, at the end of what was said so far.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'])(?:[A-Z]|(?:[A-Za-z]\.)+[A-Za-z]|(?i:mrs?|ms|drs?|prof|st|sr|jr|gen|col|lt|capt|sgt|rev|hon|gov"
    r"|sen|rep|pres|nos?|vols?|pp?|figs?|eds?|ch|sec|eq|vs?|ca?|approx|est|cf|al|inc|ltd|co|corp|bros|ave|blvd|mt|ft"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|nr|bd|bzw|usw|abb|etc))\.\Z"
)


_CUTS = tuple(map(re.compile, (r"(?<=;)\s+|\s+[–—|•·]\s+", r"(?<=[,:])\s+", r"\s+")))
"""Where an overlong sentence may be cut, best first."""
_SHORTEST_CUT = 80


def split_units(text: str) -> list[Unit]:
    """Return the units of ``text`` in order. Blank lines are none."""
    units: list[Unit] = []
    block = -1
    previous: Line | None = None
    for number, line in enumerate(lines_of(text)):
        if previous is None or line.after_blank or line.kind is not previous.kind:
            block += 1
        previous = line
        if line.kind in (Kind.PROSE, Kind.ITEM):
            for start, end in _sentences(line.text):
                units.append(
                    Unit(
                        _squeeze(line.text[start:end]),
                        line.start + start,
                        line.start + end,
                        line.kind,
                        number,
                        block,
                    )
                )
        else:
            kept = line.text if line.kind is Kind.CODE else _squeeze(line.text)
            units.append(Unit(kept, line.start, line.end, line.kind, number, block))
    return _with_table_headers(units)


def _squeeze(text: str) -> str:
    """Drop the padding of aligned tables and columns; runs of dashes in a table's rule shrink too."""
    text = _PADDING.sub(" ", text)
    return _DASHES.sub("---", text) if _is_rule(text) else text


# ---- sentences -----------------------------------------------------------------------------------


def _sentences(line: str) -> Iterator[tuple[int, int]]:
    start = 0
    for mark in _BREAK.finditer(line):
        if _is_abbreviation(line, start, mark):
            continue
        closing = mark.group().rstrip()
        yield from _clauses(line, start, mark.start() + len(closing))
        start = mark.end()
    if start < len(line):
        yield from _clauses(line, start, len(line))


def _is_abbreviation(line: str, start: int, mark: re.Match[str]) -> bool:
    if line[mark.start() - 1] not in ".…":
        return False
    said = line[start : mark.start()].strip()
    if said.rstrip(".").isdigit():
        return True  # the number of a list item
    return line[mark.end()].islower() or _ABBREVIATION.search(said[-12:]) is not None


def _clauses(line: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > MAX_UNIT_CHARS:
        cut = next(
            (
                marks[-1]
                for pattern in _CUTS
                if (marks := list(pattern.finditer(line, start + _SHORTEST_CUT, start + MAX_UNIT_CHARS)))
            ),
            None,
        )
        if cut is None:
            yield start, start + MAX_UNIT_CHARS
            start += MAX_UNIT_CHARS
        else:
            yield start, cut.start()
            start = cut.end()
    if start < end:
        yield start, end


# ---- tables --------------------------------------------------------------------------------------


def _is_rule(row: str) -> bool:
    """Whether a row is the line between a table's head and its body."""
    return "--" in row and set(row) <= _RULE_CHARS


def _with_table_headers(units: list[Unit]) -> list[Unit]:
    """Give each table row the number of rows at the head of its block that name its columns."""
    by_block: dict[int, list[int]] = {}
    for i, unit in enumerate(units):
        if unit.kind is Kind.ROW:
            by_block.setdefault(unit.block, []).append(i)
    for rows in by_block.values():
        rule = next((k for k, i in enumerate(rows[:4]) if _is_rule(units[i].text)), None)
        header = rule + 1 if rule is not None else int(len(rows) > 1)
        for i in rows:
            u = units[i]
            units[i] = Unit(u.text, u.start, u.end, u.kind, u.line, u.block, header)
    return units
