"""Straight lines of a page: what tables are drawn with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .records import Box, Rule

THIN = 3.0
"""A filled rectangle up to this many points across is a line that was drawn as one."""
SHORT = 3.0
"""Lines shorter than this are dashes and dots."""
_STRAIGHT = 0.6
"""How far the ends of a line may be off its axis."""


class Rulings:
    """Collects the lines of one page. ``across`` are horizontal, ``down`` vertical."""

    def __init__(self) -> None:
        self.across: list[Rule] = []
        self.down: list[Rule] = []

    def stroke(self, points: Sequence[tuple[float, float]], closed: bool) -> None:
        """Take the axis-parallel sides of a stroked path."""
        for (ax, ay), (bx, by) in pairwise(points):
            self._line(ax, ay, bx, by)
        if closed and len(points) > 2:
            self._line(*points[-1], *points[0])

    def fill(self, points: Sequence[tuple[float, float]]) -> Box | None:
        """Take a filled path: a thin rectangle is a line; of a wider one the box is returned."""
        corners = points[:-1] if len(points) == 5 and _near(points[0], points[-1]) else points
        if len(corners) != 4:
            return None
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        box = Box(min(xs), min(ys), max(xs), max(ys))
        for x, y in corners:
            if (
                min(abs(x - box.x0), abs(x - box.x1)) > _STRAIGHT
                or min(abs(y - box.y0), abs(y - box.y1)) > _STRAIGHT
            ):
                return None
        if box.height <= THIN and box.width > SHORT and box.width > 2 * box.height:
            self.across.append(Rule((box.y0 + box.y1) / 2, box.x0, box.x1))
            return None
        if box.width <= THIN and box.height > SHORT and box.height > 2 * box.width:
            self.down.append(Rule((box.x0 + box.x1) / 2, box.y0, box.y1))
            return None
        return box

    def _line(self, ax: float, ay: float, bx: float, by: float) -> None:
        if abs(ay - by) <= _STRAIGHT and abs(ax - bx) > SHORT:
            self.across.append(Rule((ay + by) / 2, min(ax, bx), max(ax, bx)))
        elif abs(ax - bx) <= _STRAIGHT and abs(ay - by) > SHORT:
            self.down.append(Rule((ax + bx) / 2, min(ay, by), max(ay, by)))


def _near(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return abs(one[0] - other[0]) <= _STRAIGHT and abs(one[1] - other[1]) <= _STRAIGHT
