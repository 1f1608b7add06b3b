"""A page through pdfplumber (pdfminer.six): another reading of fonts, for pages that PDFium cannot tell."""

from __future__ import annotations

import io
import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .records import Char, PageContent, Style
from .ruling import Rulings


@contextmanager
def _quiet() -> Iterator[None]:
    """pdfminer tells of every oddity of a file; here the result is judged instead."""
    logger = logging.getLogger("pdfminer")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def page_count(body: bytes) -> int:
    """How many pages pdfplumber finds; 0 when it fails."""
    import pdfplumber

    try:
        with _quiet(), pdfplumber.open(io.BytesIO(body)) as document:
            return len(document.pages)
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception:  # damaged files make the library raise almost anything
        return 0


def read(body: bytes, number: int, max_chars: int) -> PageContent | None:
    """Return page ``number`` (from 0); None when the library fails at it."""
    import pdfplumber

    try:
        with _quiet(), pdfplumber.open(io.BytesIO(body), pages=[number + 1]) as document:
            return _content(document.pages[0], number, max_chars) if document.pages else None
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception:  # damaged files make the library raise almost anything
        return None


def _content(page: Any, number: int, max_chars: int) -> PageContent:
    content = PageContent(number=number, width=float(page.width), height=float(page.height))
    styles: dict[tuple[Any, ...], Style] = {}
    for item in page.chars[:max_chars]:
        text = item["text"]
        if not text:
            continue
        key = (
            item["fontname"],
            item["size"],
            item.get("matrix", ())[:4],
            repr(item.get("non_stroking_color")),
        )
        if (style := styles.get(key)) is None:
            style = styles[key] = _style(item)
        x0, y0, x1, y1 = float(item["x0"]), float(item["top"]), float(item["x1"]), float(item["bottom"])
        base = _base(item, style, float(page.height))
        content.chars.append(Char(text, x0, y0, x1, y1, base, style, text.startswith("(cid:")))
    content.truncated = len(page.chars) > max_chars
    rulings = Rulings()
    for line in page.lines:
        rulings.stroke([(line["x0"], line["top"]), (line["x1"], line["bottom"])], closed=False)
    for rect in page.rects:
        left, right, top, bottom = rect["x0"], rect["x1"], rect["top"], rect["bottom"]
        corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
        if rect.get("stroke"):
            rulings.stroke(corners, closed=True)
        if rect.get("fill"):
            rulings.fill(corners)
    content.across, content.down = rulings.across, rulings.down
    return content


def _style(item: Any) -> Style:
    a, b = item.get("matrix", (1, 0, 0, 1, 0, 0))[:2]
    angle = round(-math.degrees(math.atan2(b, a))) % 360
    name = str(item["fontname"])
    lower = name.lower()
    return Style(
        float(item["size"]),
        angle,
        "bold" in lower or "black" in lower,
        "mono" in lower or "courier" in lower,
        _colour(item.get("non_stroking_color")),
        -1,
        False,
        name,
    )


def _base(item: Any, style: Style, height: float) -> float:
    x, y = item.get("matrix", (1, 0, 0, 1, float(item["x0"]), height - float(item["bottom"])))[4:6]
    return float(x) if style.angle in (90, 270) else height - float(y)


def _colour(value: Any) -> tuple[int, int, int] | None:
    """Grey, RGB or CMYK as red, green and blue; None for what is none of them."""
    parts = value if isinstance(value, (tuple, list)) else (value,) if isinstance(value, (int, float)) else ()
    if not all(isinstance(part, (int, float)) for part in parts):
        return None
    levels = [min(max(float(part), 0.0), 1.0) for part in parts]
    if len(levels) == 1:
        grey = round(255 * levels[0])
        return grey, grey, grey
    if len(levels) == 3:
        return round(255 * levels[0]), round(255 * levels[1]), round(255 * levels[2])
    if len(levels) == 4:
        black = 1 - levels[3]
        red, green, blue = (round(255 * (1 - part) * black) for part in levels[:3])
        return red, green, blue
    return (0, 0, 0) if not parts else None
