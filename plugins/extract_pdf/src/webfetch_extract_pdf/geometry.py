"""From a file's own coordinates to those of the page as it is seen."""

from __future__ import annotations

from typing import NamedTuple

from .records import Box


class Matrix(NamedTuple):
    """``x' = a x + c y + e`` and ``y' = b x + d y + f``."""

    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 1.0
    e: float = 0.0
    f: float = 0.0

    def then(self, after: Matrix) -> Matrix:
        """This one first, ``after`` on its result."""
        return Matrix(
            self.a * after.a + self.b * after.c,
            self.a * after.b + self.b * after.d,
            self.c * after.a + self.d * after.c,
            self.c * after.b + self.d * after.d,
            self.e * after.a + self.f * after.c + after.e,
            self.e * after.b + self.f * after.d + after.f,
        )

    def point(self, x: float, y: float) -> tuple[float, float]:
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f

    def box(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        """The upright box around a transformed one."""
        ax, ay = self.point(x0, y0)
        bx, by = self.point(x1, y1)
        if self.b or self.c:
            cx, cy = self.point(x0, y1)
            dx, dy = self.point(x1, y0)
            return Box(min(ax, bx, cx, dx), min(ay, by, cy, dy), max(ax, bx, cx, dx), max(ay, by, cy, dy))
        return Box(min(ax, bx), min(ay, by), max(ax, bx), max(ay, by))


def to_view(crop: Box, rotation: int) -> tuple[Matrix, float, float]:
    """Map user space (``y`` upwards) to the page as it is seen, and its width and height there.

    ``rotation`` is the page's ``/Rotate`` in quarter turns clockwise.
    """
    width, height = crop.width, crop.height
    turn = rotation % 4
    if turn == 0:
        return Matrix(1, 0, 0, -1, -crop.x0, crop.y1), width, height
    if turn == 1:
        return Matrix(0, 1, 1, 0, -crop.y0, -crop.x0), height, width
    if turn == 2:
        return Matrix(-1, 0, 0, 1, crop.x1, -crop.y0), width, height
    return Matrix(0, -1, -1, 0, crop.y1, crop.x1), height, width


def upright(angle: int, width: float, height: float) -> tuple[Matrix, float, float]:
    """Turn a page as it is seen so that text written at ``angle`` (0, 90, 180, 270) reads left to right."""
    if angle == 90:  # top to bottom
        return Matrix(0, -1, 1, 0, 0, width), height, width
    if angle == 180:
        return Matrix(-1, 0, 0, -1, width, height), width, height
    if angle == 270:  # bottom to top
        return Matrix(0, 1, -1, 0, height, 0), height, width
    return Matrix(), width, height
