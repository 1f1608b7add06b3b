"""Blocks written as Markdown: lists nest by the width of their markers, quotations and code nest in them."""

from __future__ import annotations

from collections.abc import Sequence

from .blocks import Block, Frame

_OWN_LINE = frozenset({"heading", "table"})
"""Kinds that would lose their meaning behind an item's marker."""


def render(blocks: Sequence[Block]) -> str:
    """Write blocks as Markdown. A container's marker stands before the first block that is left of it."""
    parts: list[str] = []
    opened: set[int] = set()
    previous: Block | None = None
    before: tuple[Frame, ...] = ()
    for block in blocks:
        frames = _frames(block, opened)
        lines = _lines(block)
        first, rest = _prefixes(frames, opened)
        if previous is not None:
            parts.append(_gap(previous, before, block, frames, opened))
        parts.append(_joined(first, rest, lines))
        opened.update(map(id, frames))
        previous, before = block, frames
    return "".join(parts)


def _frames(block: Block, opened: set[int]) -> tuple[Frame, ...]:
    """Those that are written: a list item around this one of which nothing was written leaves no trace."""
    if block.kind in _OWN_LINE:
        return tuple(frame for frame in block.frames if frame.kind == "quote")
    inner = next((frame for frame in reversed(block.frames) if frame.kind != "quote"), None)
    return tuple(
        frame for frame in block.frames if frame.kind == "quote" or frame is inner or id(frame) in opened
    )


def _prefixes(frames: Sequence[Frame], opened: set[int]) -> tuple[str, str]:
    first = rest = ""
    for frame in frames:
        if frame.kind == "quote":
            first, rest = first + "> ", rest + "> "
            continue
        blank = " " * (len(frame.marker) + 1)
        first += blank if id(frame) in opened else f"{frame.marker} "
        rest += blank
    return first, rest


def _joined(first: str, rest: str, lines: Sequence[str]) -> str:
    written = [first + lines[0], *((rest + line) if line else rest.rstrip() for line in lines[1:])]
    return "\n".join(written)


def _gap(
    previous: Block, before: Sequence[Frame], block: Block, frames: Sequence[Frame], opened: set[int]
) -> str:
    """A line break between items and between a term and its meaning, else a blank line."""
    common = []
    for one, other in zip(before, frames, strict=False):
        if one is not other:
            break
        common.append(one)
    quotes = [frame for frame in frames if frame.kind == "quote"]
    same_quotes = quotes == [frame for frame in before if frame.kind == "quote"]
    begins = next((frame for frame in reversed(frames) if frame.kind != "quote"), None)
    if same_quotes and begins is not None and id(begins) not in opened:
        if begins.kind == "item" and before and before[-1].kind == "item":
            return "\n"
        if begins.kind == "definition" and previous.kind in ("term", "definition"):
            return "\n"
    return f"\n{_prefixes(common, {id(frame) for frame in common})[0].rstrip()}\n"


def _lines(block: Block) -> list[str]:
    text = block.text
    if block.kind == "heading":
        number = f"{block.marker} " if block.marker and not text[:1].isdigit() else ""
        text = f"{'#' * block.level} {number}{text}"
    return text.split("\n")
