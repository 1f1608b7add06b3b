"""Where the blocks of a page stand: its elements as arrays, with what they inherit from their ancestors."""

from __future__ import annotations

from array import array
from collections.abc import MutableSequence, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..blocks import Block
from ..inline import BLOCKS
from .vocabulary import CATEGORIES, names_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ANCESTORS = [
    "nav",
    "header",
    "footer",
    "aside",
    "main",
    "article",
    "form",
    "table",
    "list",
    "section",
    "dialog",
    "button",
    "a",
    "figure",
    "details",
    "blockquote",
    "pre",
    "heading",
    "thead",
    "dl",
    "label",
    "noscript",
]
"""Kinds of ancestors, in the order of their bits."""

_KIND_OF_TAG = {name: name for name in ANCESTORS} | {
    **{f"h{level}": "heading" for level in range(1, 7)},
    **dict.fromkeys(("ul", "ol", "menu", "dir"), "list"),
    "summary": "button",
}
_KIND_OF_ROLE = {
    "navigation": "nav",
    "menu": "nav",
    "menubar": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
    "main": "main",
    "article": "article",
    "dialog": "dialog",
    "alertdialog": "dialog",
    "search": "form",
    "button": "button",
    "list": "list",
    "heading": "heading",
}
_TAG_BITS = {tag: 1 << ANCESTORS.index(kind) for tag, kind in _KIND_OF_TAG.items()}
_ROLE_BITS = {role: 1 << ANCESTORS.index(kind) for role, kind in _KIND_OF_ROLE.items()}
_FAR = -1_000
_Marks = tuple[int, int, tuple[str, ...], int]
"""Of an element: kinds, categories, words of its names, and signature."""
_NAMELESS: tuple[int, tuple[str, ...]] = (0, ())


@frozen(kw_only=True)
class Layout:
    """The elements of a page in document order and the blocks that stand in them.

    Arrays of length E (elements): ``parent`` (-1 for the root), ``depth``, ``kinds`` (bit mask over
    ``ANCESTORS``, inherited), ``row`` (index into ``nearest``), ``signature`` (same for elements of equal
    tag and class), ``first`` and ``last`` (blocks ``[first, last)`` stand in the element), ``inline``
    (categories of the inline elements within its own text, a bit mask). ``nearest[r, c]`` is the depth of
    the nearest ancestor-or-self of category c, far negative where there is none. ``element_of`` (length B)
    is the element of each block; ``names`` the class and id words of each element, ``tags`` its tag.
    """

    parent: Ints
    depth: Ints
    kinds: Ints
    row: Ints
    signature: Ints
    first: Ints
    last: Ints
    inline: Ints
    nearest: Ints
    element_of: Ints
    names: Sequence[tuple[str, ...]]
    tags: Sequence[str]


def lay_out(root: Any, blocks: Sequence[Block]) -> Layout:
    """Read the tree once. Every block's element has to be in the tree."""
    parent: list[int] = []
    depth: list[int] = []
    kinds: list[int] = []
    row: list[int] = []
    signature: list[int] = []
    names: list[tuple[str, ...]] = []
    tags: list[str] = []
    inline: list[int] = []
    home: list[int] = []  # the block-level element that an element's text belongs to
    rows = [array("q", [_FAR] * len(CATEGORIES))]
    signatures: dict[tuple[str, str], int] = {}
    marks: dict[tuple[str, str, str | None, str | None], _Marks] = {}
    index: dict[Any, int] = {}
    for here, element in enumerate(root.iter("*")):
        above = index.get(element.getparent(), -1)
        index[element] = here
        tag, get = element.tag, element.get
        key = (tag, get("class", ""), get("id"), get("role"))
        known = marks.get(key)
        if known is None:
            number = signatures.setdefault(key[:2], len(signatures))
            known = marks[key] = _marks_of(*key, number)
        kind, bits, own, number = known
        level, line = 0, 0
        if above >= 0:
            level, line = depth[above] + 1, row[above]
            kind |= kinds[above]
        if bits:
            rows.append(rows[line][:])
            line = len(rows) - 1
            _mark(rows[line], bits, level)
        parent.append(above)
        depth.append(level)
        kinds.append(kind)
        row.append(line)
        signature.append(number)
        names.append(own)
        tags.append(tag)
        inline.append(0)
        if tag in BLOCKS or above < 0:
            home.append(here)
        else:
            home.append(home[above])
            inline[home[above]] |= bits
    element_of = [index[block.element] for block in blocks]
    first, last = _spans(parent, element_of)
    return Layout(
        parent=np.array(parent, dtype=np.int64),
        depth=np.array(depth, dtype=np.int64),
        kinds=np.array(kinds, dtype=np.int64),
        row=np.array(row, dtype=np.int64),
        signature=np.array(signature, dtype=np.int64),
        first=np.array(first, dtype=np.int64),
        last=np.array(last, dtype=np.int64),
        inline=np.array(inline, dtype=np.int64),
        nearest=np.frombuffer(b"".join(rows), dtype=np.int64).reshape(len(rows), len(CATEGORIES)),
        element_of=np.array(element_of, dtype=np.int64),
        names=names,
        tags=tags,
    )


def _marks_of(tag: str, label: str, name: str | None, role: str | None, signature: int) -> _Marks:
    kind = _TAG_BITS.get(tag, 0) | (_ROLE_BITS.get(role, 0) if role else 0)
    bits, own = names_of(f"{label} {name}" if name else label) if label or name else _NAMELESS
    return kind, bits, own, signature


def _mark(line: MutableSequence[int], bits: int, level: int) -> None:
    while bits:
        lowest = bits & -bits
        line[lowest.bit_length() - 1] = level
        bits ^= lowest


def _spans(parent: list[int], element_of: list[int]) -> tuple[list[int], list[int]]:
    """First and one past the last block of each element; an element without blocks has an empty span."""
    count = len(parent)
    first, last = [len(element_of)] * count, [0] * count
    for block, element in enumerate(element_of):
        first[element] = min(first[element], block)
        last[element] = block + 1
    for element in range(count - 1, 0, -1):
        above = parent[element]
        if above >= 0 and last[element]:
            first[above] = min(first[above], first[element])
            last[above] = max(last[above], last[element])
    for element in range(count):
        if not last[element]:
            first[element] = 0
    return first, last
