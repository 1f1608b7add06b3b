"""What introduces a unit: the bold or asking sentence before an answer, the heading above a text. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .layout import Placed
from .lines import Kind

_FURTHEST = 6
"""Sentences from a lead-in to the last one that it introduces."""

_LOOK_BACK = 200
"""Units of a block that are gone through to find what stands above it; those further down do without."""

_BOLD = re.compile(r"(?:\*\*(?!\s)[^*]+\*\*|__(?!\s)[^_]+__)[.:!?：？]?")
_MARKER = re.compile(r"(?:[-*+•‣◦]|\d{1,3}[.)]|\(?[a-z][.)]|>|#+)\s+")
_ASKS = ("?", "？", "؟")
_NOT_WORD = re.compile(r"[\W_]+")


def leads_in(text: str) -> bool:
    """Whether a sentence introduces the ones after it: it is wholly bold, or a question."""
    bare = _MARKER.sub("", text.strip(), count=1)
    return _BOLD.fullmatch(bare) is not None or bare.rstrip("*_\"'”’»)").endswith(_ASKS)


def lead_ins(i: int, placed: Sequence[Placed], title: str) -> list[int]:
    """Return what to keep with unit ``i``: the lead-in of its paragraph, and the heading or the question
    that stands directly above that.

    Args:
        title: that of the source, which stands in its header: a heading that it holds is not needed.
    """
    if placed[i].unit.kind is Kind.HEADING:
        return []
    found: list[int] = []
    first, furthest = i, max(0, i - _LOOK_BACK)
    while first > furthest and _same_paragraph(placed, first - 1, first):
        first -= 1
        opens_line = not first or placed[first - 1].unit.line != placed[first].unit.line
        if not found and i - first <= _FURTHEST and opens_line and leads_in(placed[first].unit.text):
            found.append(first)
    while first > furthest and _same_block(placed, first - 1, first):
        first -= 1
    above = first - 1
    if above < 0 or _same_block(placed, above, first) or placed[above].chain != placed[i].chain:
        return found
    unit = placed[above].unit
    if unit.kind is Kind.HEADING:
        if f" {_plain(unit.text)} " not in f" {_plain(title)} ":
            found.append(above)
    elif unit.kind is Kind.PROSE and leads_in(unit.text) and _stands_alone(placed, above):
        found.append(above)
    return sorted(found)


def introduced(i: int, placed: Sequence[Placed]) -> list[int]:
    """Return what stands below a heading, lead-in or question, without which it tells nothing; else [].

    One unit; of a table its header and its first row.
    """
    unit = placed[i].unit
    below = i + 1
    if (unit.kind is not Kind.HEADING and not leads_in(unit.text)) or below == len(placed):
        return []
    if placed[below].chain != placed[i].chain or placed[below].unit.kind is Kind.HEADING:
        return []
    last = min(below + placed[below].unit.header, len(placed) - 1)
    return [k for k in range(below, last + 1) if _same_block(placed, below, k)]


def _plain(text: str) -> str:
    """Words only, case folded: the form in which a heading and a title are compared."""
    return _NOT_WORD.sub(" ", text.casefold()).strip()


def _same_block(placed: Sequence[Placed], one: int, other: int) -> bool:
    return placed[one].chain == placed[other].chain and placed[one].unit.block == placed[other].unit.block


def _same_paragraph(placed: Sequence[Placed], one: int, other: int) -> bool:
    """A list is one block, and each of its items a paragraph."""
    a, b = placed[one].unit, placed[other].unit
    return _same_block(placed, one, other) and (b.kind is Kind.PROSE or a.line == b.line)


def _stands_alone(placed: Sequence[Placed], i: int) -> bool:
    return not i or not _same_block(placed, i - 1, i)
