"""Blocks over the ends of pages, and headings that only their weight tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from .blocks import Block
from .prose import ends_sentence, goes_on, letters, mend
from .shape import Shape

_NUMBERED_HEADING = re.compile(r"^(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?|[A-Z]\.|[IVX]{1,5}\.)\s+\S")


def whole(blocks: list[Block]) -> list[Block]:
    """Mend what page ends cut in two: paragraphs around footnotes, headings told by their weight."""
    found: list[Block] = []
    for block in blocks:
        home = cut_paragraph(found, block)
        if home is not None:
            home.pieces.extend(block.pieces)
            home.last = block.last
            continue
        found.append(block)
    return found


def cut_paragraph(found: Sequence[Block], block: Block) -> Block | None:
    """The paragraph of the page before that ``block`` goes on with, smaller type in between passed over."""
    if block.kind != "text" or not block.pieces or not goes_on(block.pieces[0]):
        return None
    for back in range(1, min(len(found), 8) + 1):
        before = found[-back]
        if before.aside:
            continue
        if before.page == block.page or before.page < block.page - 1:
            return None
        if before.kind not in ("text", "item") or before.size < 0.93 * block.size:
            continue
        if (
            abs(before.size - block.size) < 0.6
            and before.last is not None
            and not ends_sentence(before.last.text)
        ):
            return before
        return None
    return None


def with_bold_headings(blocks: Sequence[Block], shape: Shape) -> None:
    """Make headings of short bold lines that stand alone before text, where the text is not bold."""
    if shape.bold:
        return
    level = min(len(shape.sizes) + 1, 5)
    for block, after in pairwise(blocks):
        if (
            block.kind in ("text", "item")
            and block.last is not None
            and block.last.bold
            and len(block.pieces) <= 2
            and not block.breaks
            and block.size >= 0.95 * shape.body
            and after.kind in ("text", "item", "table", "code")
        ):
            text = (
                f"{block.marker} {mend(block.pieces)}".strip() if block.kind == "item" else mend(block.pieces)
            )
            if block.kind == "item" and block.marker == "-":
                continue
            if len(text) <= 100 and not text.endswith((".", ",", ";")) and letters([text]) >= 3:
                numbers = _NUMBERED_HEADING.match(text)
                block.kind, block.pieces = "heading", [text]
                block.level = min(level + (text[: numbers.end()].count(".") > 1 if numbers else 0), 6)
