"""Right-to-left scripts: a page has characters where they stand, text has them in the order they are read."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

_RTL = frozenset({"R", "AL"})
_MIRRORED = str.maketrans("()[]{}<>«»‹›", ")(][}{><»«›‹")


def direction(char: str) -> str:
    """``R``, ``L``, ``N`` for digits, or nothing for what takes the direction of its surroundings."""
    if char < "\u0590":
        return "L" if char.isalpha() else "N" if char.isdigit() else ""
    kind = unicodedata.bidirectional(char)
    return "R" if kind in _RTL else "L" if kind == "L" else "N" if kind in ("EN", "AN") else ""


def is_rtl(text: str) -> bool:
    """Whether more letters of ``text`` run to the left than to the right."""
    if text.isascii():
        return False
    marks = [direction(c) for c in text]
    return marks.count("R") > marks.count("L")


def logical(text: str) -> str:
    """Return a word whose characters stand from left to right in reading order."""
    if text.isascii() or not any(direction(c) == "R" for c in text):
        return text
    parts: list[str] = []
    run, kept = "", False
    for char in reversed(text):
        ltr = direction(char) in ("L", "N") or (kept and char in ".,:/-%")
        if ltr:
            run = char + run
        else:
            if run:
                parts.append(run)
                run = ""
            parts.append(char.translate(_MIRRORED))
        kept = ltr
    return "".join(parts) + run


def ordered(words: Sequence[Any]) -> list[Any]:
    """Return words (with ``text``) that stand from left to right in reading order."""
    words = list(words)
    if all(word.text.isascii() for word in words) or not is_rtl("".join(word.text for word in words)):
        return words
    found: list[Any] = []
    run: list[Any] = []
    for word in reversed(words):
        if any(direction(c) == "L" for c in word.text) and not is_rtl(word.text):
            run.insert(0, word)
        else:
            found += run
            run = []
            found.append(word)
    return found + run
