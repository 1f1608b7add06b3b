"""A page's text by writing direction: each sheet is turned so that its text reads from left to right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from attrs import Factory, define

from .geometry import upright
from .records import Box, Char, PageContent, Rule

SKEW = 8
"""Degrees off a quarter turn up to which a scan is crooked; beyond, the text is decoration."""
_CJK = (("\u2e80", "\u9fff"), ("\uac00", "\ud7af"), ("\uf900", "\ufaff"), ("\uff00", "\uffef"))


@define(slots=True, kw_only=True)
class Sheet:
    """``chars``, lines and areas of one writing direction."""

    width: float
    height: float
    chars: list[Char] = Factory(list)
    across: list[Rule] = Factory(list)
    down: list[Rule] = Factory(list)
    fills: list[Box] = Factory(list)


def sheets_of(content: PageContent, chars: Sequence[Char]) -> list[Sheet]:
    """Return the main direction first; the page's lines and areas go with it."""
    groups: dict[int, list[Char]] = {}
    angles = {char.style.angle for char in chars}
    if angles <= {0}:
        groups[0] = list(chars)
    else:
        quarters = {angle: _quarter(angle) for angle in angles}
        for char in chars:
            groups.setdefault(quarters[char.style.angle], []).append(char)
    found: list[Sheet] = []
    for angle, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        if angle < 0:
            found.append(_crooked(group))
            continue
        turned = _turned(content, group, angle, with_lines=not found)
        found.append(_columns_to_lines(turned) if angle == 0 and _is_vertical(turned.chars) else turned)
    return found


def _quarter(angle: int) -> int:
    """0, 90, 180 or 270, or -1 for text at another angle."""
    nearest = round(angle / 90) * 90
    return nearest % 360 if abs(angle - nearest) <= SKEW else -1


def _turned(content: PageContent, chars: list[Char], angle: int, *, with_lines: bool) -> Sheet:
    matrix, width, height = upright(angle, content.width, content.height)
    sheet = Sheet(width=width, height=height)
    if angle == 0:
        sheet.chars = chars
    else:
        for char in chars:
            box = matrix.box(char.x0, char.y0, char.x1, char.y1)
            base = matrix.point(char.base, char.base)[1]
            sheet.chars.append(char._replace(x0=box.x0, y0=box.y0, x1=box.x1, y1=box.y1, base=base))
    if with_lines:
        for rule in content.across:
            _add_rule(sheet, matrix.box(rule.start, rule.at, rule.end, rule.at))
        for rule in content.down:
            _add_rule(sheet, matrix.box(rule.at, rule.start, rule.at, rule.end))
        sheet.fills = [matrix.box(*area.box) for area in content.fills]
    return sheet


def _add_rule(sheet: Sheet, box: Box) -> None:
    if box.width >= box.height:
        sheet.across.append(Rule((box.y0 + box.y1) / 2, box.x0, box.x1))
    else:
        sheet.down.append(Rule((box.x0 + box.x1) / 2, box.y0, box.y1))


def _crooked(chars: list[Char]) -> Sheet:
    """Text at odd angles, set out along one line in the order it was drawn."""
    sheet = Sheet(width=1.0, height=1.0)
    x = y = 0.0
    last: Char | None = None
    for char in chars:
        size = char.style.size
        if last is not None:
            apart = abs(char.x0 - last.x0) + abs(char.y0 - last.y0)
            if char.style is not last.style and apart > 3 * size:
                x, y = 0.0, y + 2 * size
        sheet.chars.append(char._replace(x0=x, x1=x + size / 2, y0=y, y1=y + size, base=y + 0.8 * size))
        x += size / 2
        last = char
    sheet.width, sheet.height = max((c.x1 for c in sheet.chars), default=1.0), y + 50.0
    return sheet


def _is_vertical(chars: Sequence[Char]) -> bool:
    """Whether upright ideographs follow each other downwards."""
    down = along = 0
    if not any(char.text > "\u2e7f" for char in chars):
        return False
    for one, other in pairwise(chars):
        if not _is_wide(one.text) or not _is_wide(other.text):
            continue
        size = one.style.size
        dx, dy = other.x0 - one.x0, other.y0 - one.y0
        if abs(dx) < 0.3 * size and 0.5 * size < dy < 2.5 * size:
            down += 1
        elif abs(dy) < 0.3 * size and 0.5 * size < dx < 2.5 * size:
            along += 1
    return down > 3 and down > 2 * along


def _is_wide(text: str) -> bool:
    return any(first <= text[:1] <= last for first, last in _CJK)


def _columns_to_lines(sheet: Sheet) -> Sheet:
    """Lay columns that are read from right to left on their side: they become lines, top to bottom."""
    turned = Sheet(width=sheet.height, height=sheet.width)
    counts = Counter(round(char.style.size) for char in sheet.chars)
    side = float(counts.most_common(1)[0][0] or 10)
    for char in sheet.chars:
        middle = (char.x0 + char.x1) / 2
        centre = sheet.width - middle
        turned.chars.append(
            char._replace(
                x0=char.y0, x1=char.y1, y0=centre - side / 2, y1=centre + side / 2, base=centre + 0.38 * side
            )
        )
    return turned
