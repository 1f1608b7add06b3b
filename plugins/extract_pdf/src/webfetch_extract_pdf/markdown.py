"""Blocks as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .blocks import Block
from .prose import mend, tidy
from .tables import to_markdown

_LEADERS = re.compile(r"\s*(?:[.·…_]\s?){5,}\s*")
_SPACES = re.compile(r"[ \t\u2000-\u200a\u202f\u3000]+")


def write(blocks: Sequence[Block], known: frozenset[str] = frozenset()) -> str:
    """Return the text of a document. ``known`` are its words, which tell how divided ones are made whole."""
    parts: list[str] = []
    last = ""
    for block in blocks:
        text = _one(block, known)
        if not text:
            continue
        if parts:
            parts.append("\n" if block.kind == last == "item" else "\n\n")
        parts.append(text)
        last = block.kind
    return "".join(parts)


def _one(block: Block, known: frozenset[str]) -> str:
    if block.table is not None:
        return to_markdown(block.table)
    if block.kind == "code":
        return "```\n" + "\n".join(tidy(piece).rstrip() for piece in block.pieces) + "\n```"
    text = _text(block, known)
    if not text:
        return ""
    if block.kind == "heading":
        return "#" * min(max(block.level, 1), 6) + " " + text.replace("\n", " ")
    if block.kind == "item":
        indent = "  " * (min(block.level, 6) - 1)
        return f"{indent}{block.marker} " + text.replace("\n", "\n" + indent + "  ")
    return "\n".join("\\" + line if line.startswith("#") else line for line in text.split("\n"))


def _text(block: Block, known: frozenset[str]) -> str:
    runs: list[list[str]] = [[]]
    for number, piece in enumerate(block.pieces):
        if number in block.breaks:
            runs.append([])
        runs[-1].append(piece)
    lines = [tidy(mend(run, known)) for run in runs]
    return "\n".join(
        line for line in (_SPACES.sub(" ", _LEADERS.sub(" … ", line)).strip() for line in lines) if line
    )
