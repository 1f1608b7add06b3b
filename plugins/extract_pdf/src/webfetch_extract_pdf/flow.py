"""Lines in reading order, light enough to keep those of a whole file."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define

from .layout import Piece
from .lettering import clean
from .tables import Table


@define(slots=True, kw_only=True, eq=False)
class TextLine:
    """A line of text. ``first_width`` is how wide its first word is, ``left`` and ``right`` are the sides
    of its column; ``page`` counts from 0."""

    text: str
    x0: float
    x1: float
    base: float
    size: float
    bold: bool
    mono: bool
    first_width: float
    left: float
    right: float
    column: int
    page: int


def flow_of(pieces: Iterable[Piece], page: int) -> list[TextLine | Table]:
    """Return pieces without their words."""
    found: list[TextLine | Table] = []
    for piece in pieces:
        if piece.table is not None:
            piece.table.rows = [[clean(cell) for cell in row] for row in piece.table.rows]
            found.append(piece.table)
            continue
        line = piece.line
        assert line is not None
        text = clean(line.text)
        if not text.strip():
            continue
        first = line.words[0]
        found.append(
            TextLine(
                text=text,
                x0=line.x0,
                x1=line.x1,
                base=line.base,
                size=line.size,
                bold=line.bold,
                mono=line.mono,
                first_width=first.x1 - first.x0,
                left=piece.left,
                right=piece.right,
                column=piece.column,
                page=page,
            )
        )
    return found
