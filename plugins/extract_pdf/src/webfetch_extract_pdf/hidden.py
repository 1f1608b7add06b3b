"""Text that nobody sees: drawn in no colour, beneath something, beside the page, or too small to read."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from .records import Area, Box, Char, PageContent, Style

WHITE = (255, 255, 255)
SAME_COLOUR = 14
"""Largest difference (of 255) in any channel that still counts as the same colour: nobody reads it."""
TINY = 1.6
"""Points on a page of A4 size: a third of what print calls fine print."""
_A4_SIDE = 595.0
SCAN = 0.45
"""Share of the page that images cover where invisible text is the text layer of a scan."""


@frozen(kw_only=True)
class Seen:
    """``chars`` a reader of the page sees; how many were ``removed``; ``scan`` says that they are the text
    layer of an image."""

    chars: list[Char]
    removed: int = 0
    scan: bool = False


def seen_of(content: PageContent) -> Seen:
    """Leave out what is hidden. Blanks do not count as removed."""
    page = Box(0.0, 0.0, content.width, content.height)
    tiny = TINY * min(1.0, min(content.width, content.height) / _A4_SIDE)
    scan = _covered_share(content.images, page) >= SCAN
    fills = [area for area in content.fills if area.box.area > 4.0]
    images = [area for area in content.images if area.box.area > 4.0]
    kept: list[Char] = []
    removed = layered = 0
    bare = not fills and not images
    last: Style | None = None
    hidden = False
    for char in content.chars:
        style = char.style
        if style is not last:
            last = style
            hidden = style.size < tiny or (bare and (style.ghost or _is_alike(style.colour, WHITE)))
        if bare:
            if hidden or _is_beside(char, page):
                removed += not char.text.isspace()
            else:
                kept.append(char)
            continue
        x, y = (char.x0 + char.x1) / 2, (char.y0 + char.y1) / 2
        under = scan and any(area.box.holds(x, y, 1.0) for area in images)
        if style.ghost and under:
            layered += 1
        elif style.ghost or hidden or _is_beside(char, page):
            removed += not char.text.isspace()
            continue
        elif under and any(area.z > style.z and area.box.holds(x, y) for area in images):
            layered += 1  # a scan painted over its text layer
        elif _is_covered(x, y, style, fills, images) or _is_camouflaged(x, y, style, fills, images):
            removed += not char.text.isspace()
            continue
        kept.append(char)
    return Seen(chars=kept, removed=removed, scan=scan and layered > 0)


def _is_beside(char: Char, page: Box) -> bool:
    """Whether no more than a sliver of a character is on the page."""
    reach = 0.2 * char.style.size
    return char.x1 < reach or char.y1 < reach or char.x0 > page.x1 - reach or char.y0 > page.y1 - reach


def _is_covered(x: float, y: float, style: Style, fills: Sequence[Area], images: Sequence[Area]) -> bool:
    if style.z < 0:
        return False
    return any(area.z > style.z and area.box.holds(x, y) for area in fills) or any(
        area.z > style.z and area.box.holds(x, y) for area in images
    )


def _is_camouflaged(x: float, y: float, style: Style, fills: Sequence[Area], images: Sequence[Area]) -> bool:
    if style.colour is None:
        return False
    below: Area | None = None
    for area in fills:
        if area.z < style.z and area.box.holds(x, y, 0.5) and (below is None or area.z > below.z):
            below = area
    for area in images:
        if area.z < style.z and area.box.holds(x, y, 0.5) and (below is None or area.z > below.z):
            return False  # what an image looks like there is not known
    ground = below.colour if below is not None and below.colour is not None else WHITE
    return _is_alike(style.colour, ground)


def _is_alike(colour: tuple[int, int, int] | None, ground: tuple[int, int, int]) -> bool:
    return colour is not None and all(
        abs(one - other) <= SAME_COLOUR for one, other in zip(colour, ground, strict=True)
    )


def _covered_share(images: Sequence[Area], page: Box) -> float:
    """Share of the page under images, overlaps counted once, on a grid of 20 by 20."""
    if not images or page.area <= 0:
        return 0.0
    steps = 20
    hit = 0
    for row in range(steps):
        y = page.y0 + (row + 0.5) * page.height / steps
        spans = [area.box for area in images if area.box.y0 <= y <= area.box.y1]
        for column in range(steps) if spans else ():
            x = page.x0 + (column + 0.5) * page.width / steps
            hit += any(box.x0 <= x <= box.x1 for box in spans)
    return hit / (steps * steps)
