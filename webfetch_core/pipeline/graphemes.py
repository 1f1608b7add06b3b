"""Where two user-perceived characters meet: the main rules of UAX #29, by the standard library alone."""

from __future__ import annotations

import unicodedata

LONGEST = 64
"""Longer runs of joined code points are an attack, not a letter; they are cut like text."""


def grapheme_cut(text: str, start: int, limit: int) -> int:
    """The last grapheme border in ``(start, limit]``, else the end of the first grapheme."""
    for position in range(limit, start, -1):
        if is_boundary(text, position, start):
            return position
    for position in range(max(limit, start) + 1, min(start + LONGEST, len(text)) + 1):
        if is_boundary(text, position, start):
            return position
    return max(limit, start + 1)


def is_boundary(text: str, position: int, floor: int) -> bool:
    """Whether two graphemes meet at ``position``: the main rules of UAX #29. ``floor`` is a known border."""
    if position <= floor or position >= len(text):
        return True
    before, after = text[position - 1], text[position]
    if after < "\u0300":
        return not (before == "\r" and after == "\n")
    if after in "\u200c\u200d\u0e33\u0eb3\uff9e\uff9f" or unicodedata.category(after)[0] == "M":
        return before in "\r\n"
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return False  # skin tones, tag sequences
    if before == "\u200d":
        return after.isspace()
    if unicodedata.combining(before) == 9:  # a virama joins the consonants around it
        return not after.isalpha()
    if _is_regional(before) and _is_regional(after):
        run = position
        while run > floor and _is_regional(text[run - 1]):
            run -= 1
        return (position - run) % 2 == 0
    if "\u1100" <= before <= "\u115f":  # Hangul: leading consonants join what follows
        return not ("\u1100" <= after <= "\u11a7" or "\uac00" <= after <= "\ud7a3")
    if "\u1160" <= after <= "\u11ff":  # vowels and finals join what precedes
        return not ("\u1160" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3")
    return True


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
