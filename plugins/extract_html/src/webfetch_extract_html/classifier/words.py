"""The words around a block that a linear model weighs: names of its ancestors, its own, its heading's."""

from __future__ import annotations

from collections.abc import Sequence

from ..blocks import Block
from .layout import Layout

SHORT = 8
"""Words up to which a block's own are looked at; and how many of a heading's are."""
NEAREST = 6
"""Elements, from the block's own upwards, whose class and id words count."""

Evidence = tuple[Sequence[str], Sequence[str], Sequence[str]]


def evidence(blocks: Sequence[Block], layout: Layout) -> list[Evidence]:
    """Per block the names, the own words (if few) and the words of the last heading, each with its prefix."""
    chains: dict[int, list[str]] = {}
    parent = layout.parent.tolist()
    heading: list[str] = []
    found: list[Evidence] = []
    for block, element in zip(blocks, layout.element_of.tolist(), strict=True):
        names = chains.get(element)
        if names is None:
            names = chains[element] = _names(layout.names, parent, element)
        if block.kind == "heading":
            heading = ["h:" + word for word in dict.fromkeys(block.tokens[:SHORT])]
        own = ["w:" + word for word in block.tokens] if len(block.tokens) <= SHORT else []
        found.append((names, own, heading))
    return found


def _names(names: Sequence[tuple[str, ...]], parent: Sequence[int], element: int) -> list[str]:
    words: list[str] = []
    for _ in range(NEAREST):
        if element < 0:
            break
        words += names[element]
        element = parent[element]
    return ["c:" + word for word in dict.fromkeys(words)]
