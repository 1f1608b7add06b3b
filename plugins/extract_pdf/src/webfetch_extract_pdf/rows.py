"""Characters on one base line, those that are drawn twice taken once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .records import Char

SAME_LINE = 0.28
"""How far base lines may lie apart within one line, in ems of the larger type (indices, crooked scans)."""


def without_doubles(chars: Iterable[Char]) -> list[Char]:
    """Drop characters that are drawn again in the same place: bold type and shadows for want of a font.

    Letters of one ligature share their place, too, but are drawn at once.
    """
    seen: dict[tuple[str, int, int], Char] = {}
    kept = []
    for char in chars:
        text = char.text
        if not text.isspace():
            step = max(char.style.size * 0.15, 0.5)
            x, y = int(char.x0 / step), int(char.base / step)
            key = (text, x, y)
            if key in seen or (text, x - 1, y) in seen or (text, x + 1, y) in seen:
                doubled = False
                for place in (key, (text, x - 1, y), (text, x + 1, y)):
                    other = seen.get(place)
                    if (
                        other is not None
                        and abs(other.x0 - char.x0) < step
                        and abs(other.base - char.base) < step
                        and (other.style.z != char.style.z or char.style.z < 0)
                    ):
                        doubled = True
                if doubled:
                    continue
            seen[key] = char
        kept.append(char)
    return kept


def rows_of_chars(chars: Sequence[Char]) -> list[list[Char]]:
    """Characters by base line; smaller ones set higher or lower join the line that they belong to."""
    by_base: dict[float, list[Char]] = {}
    for char in chars:
        by_base.setdefault(round(char.base, 1), []).append(char)
    rows: list[tuple[float, float, list[Char]]] = []  # base, size, characters
    for base in sorted(by_base):
        group = by_base[base]
        size = max(c.style.size for c in group)
        if rows and base - rows[-1][0] <= SAME_LINE * max(size, rows[-1][1]):
            last_base, last_size, last = rows[-1]
            last.extend(group)
            # The larger or the longer part holds the base line.
            heavier = size > last_size or (size == last_size and len(group) > len(last) / 2)
            rows[-1] = (base if heavier else last_base, max(size, last_size), last)
        else:
            rows.append((base, size, list(group)))
    return [row for _, _, row in _with_indices(rows)]


def _with_indices(rows: list[tuple[float, float, list[Char]]]) -> list[tuple[float, float, list[Char]]]:
    """Rows of small characters between the letters of a larger line are its indices and exponents."""
    kept: list[tuple[float, float, list[Char]]] = []
    for number, (base, size, row) in enumerate(rows):
        home = None
        for other in rows[max(number - 1, 0) : number + 2]:
            if other[2] is row or size > 0.8 * other[1] or abs(base - other[0]) > 0.55 * other[1]:
                continue
            if all(_touches(char, other[2]) for char in row if not char.text.isspace()):
                home = other
        if home is not None and len(row) < len(home[2]):
            home[2].extend(row)
        else:
            kept.append((base, size, row))
    return kept


def _touches(char: Char, row: Sequence[Char]) -> bool:
    reach = 0.3 * char.style.size
    return any(
        other.style.size > char.style.size
        and not other.text.isspace()
        and (
            abs(char.x0 - other.x1) < reach
            or abs(other.x0 - char.x1) < reach
            or other.x0 < char.x0 < other.x1
        )
        for other in row
    ) or any(
        other is not char and other.style.size == char.style.size and 0 <= char.x0 - other.x1 < reach
        for other in row
    )
