"""What both engines hand over: a page as characters, lines and areas, upright and from its top left corner.

Lengths are points (1/72 inch); ``y`` grows downwards.
"""

from __future__ import annotations

from typing import NamedTuple

from attrs import Factory, define


class Box(NamedTuple):
    """An area with ``x0 <= x1`` and ``y0 <= y1``."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        return (self.x1 - self.x0) * (self.y1 - self.y0)

    def holds(self, x: float, y: float, slack: float = 0.0) -> bool:
        return self.x0 - slack <= x <= self.x1 + slack and self.y0 - slack <= y <= self.y1 + slack


class Style(NamedTuple):
    """How a run of characters is drawn.

    ``size`` is the height of the em as it appears; ``angle`` the writing direction in degrees, counted
    clockwise from left-to-right, rounded to whole degrees; ``colour`` (0-255 each) is None for a pattern;
    ``z`` the place in the order of painting; ``ghost`` says that nothing is painted at all.
    """

    size: float
    angle: int = 0
    bold: bool = False
    mono: bool = False
    colour: tuple[int, int, int] | None = (0, 0, 0)
    z: int = 0
    ghost: bool = False
    font: str = ""


class Char(NamedTuple):
    """A character. The box spans its advance and the font's height; ``base`` is its base line."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    base: float
    style: Style
    unmapped: bool = False
    """The file does not say which character this glyph is."""


class Rule(NamedTuple):
    """A straight line, horizontal or vertical, from ``start`` to ``end`` at ``at``."""

    at: float
    start: float
    end: float


class Area(NamedTuple):
    """A painted area: a fill of one colour, or an image (``colour`` None)."""

    box: Box
    colour: tuple[int, int, int] | None
    z: int


class Link(NamedTuple):
    """A link to a URL."""

    box: Box
    url: str


@define(slots=True, kw_only=True)
class PageContent:
    """One page as an engine read it.

    ``truncated`` says that a cap ended the reading; ``shapes`` counts the paths that are neither lines nor
    areas, ``texts`` the operations that draw text; ``notes`` are values of form fields that have no
    appearance of their own.
    """

    number: int
    width: float
    height: float
    chars: list[Char] = Factory(list)
    across: list[Rule] = Factory(list)
    down: list[Rule] = Factory(list)
    fills: list[Area] = Factory(list)
    images: list[Area] = Factory(list)
    links: list[Link] = Factory(list)
    notes: list[str] = Factory(list)
    truncated: bool = False
    shapes: int = 0
    texts: int = 0
