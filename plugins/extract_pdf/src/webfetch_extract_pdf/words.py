"""From characters to words and lines.

Words are told apart by the gaps between characters, in proportion to the size of the type and to how
widely its letters are set; blanks in the file are believed, too.
"""

from __future__ import annotations

import statistics
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from attrs import define

from . import bidi
from .records import Box, Char
from .rows import rows_of_chars, without_doubles

WORD_GAP = 0.16
"""Least gap between two words, in ems: a narrow word space is a fifth of an em, kerning far less."""
WIDE_WORD_GAP = 0.18
"""The same where the line has blanks of its own: a gap without one is tracking or justification."""
TRACKED = 0.12
"""Median gap, in ems, from which the letters of a line count as spaced out."""
_WIDE = frozenset({"W", "F"})
_BULLETS = frozenset(
    "•◦▪▫‣∙●○■□◆◇❑❖–—-*·➢➤►▶→✓✔✗§¾\uf0b7\uf0a7\uf0a8\uf0d8\uf0fc\uf0fb\uf076\uf071\uf06e\uf06f\uf0e0"
)


@define(slots=True, kw_only=True, eq=False)
class Word:
    """A word and where it stands; ``size`` is its type's, ``space`` says that a blank precedes it."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    base: float
    size: float
    bold: bool = False
    mono: bool = False
    font: str = ""

    @property
    def box(self) -> Box:
        return Box(self.x0, self.y0, self.x1, self.y1)


@define(slots=True, kw_only=True, eq=False)
class Line:
    """Words on one base line, from left to right."""

    words: list[Word]
    x0: float
    x1: float
    y0: float
    y1: float
    base: float
    size: float

    @classmethod
    def of(cls, words: list[Word]) -> Line:
        words = sorted(words, key=lambda w: w.x0)
        weights: Counter[float] = Counter()
        for word in words:
            weights[round(word.size, 1)] += len(word.text)
        size = weights.most_common(1)[0][0]
        main = [w for w in words if abs(w.size - size) < 0.5] or words
        return cls(
            words=words,
            x0=words[0].x0,
            x1=max(w.x1 for w in words),
            y0=min(w.y0 for w in main),
            y1=max(w.y1 for w in main),
            base=statistics.median(w.base for w in main),
            size=size,
        )

    @property
    def text(self) -> str:
        return join(self.words)

    @property
    def bold(self) -> bool:
        letters = sum(len(w.text) for w in self.words)
        return sum(len(w.text) for w in self.words if w.bold) > 0.7 * letters

    @property
    def mono(self) -> bool:
        letters = sum(len(w.text) for w in self.words)
        return sum(len(w.text) for w in self.words if w.mono) > 0.9 * letters


def lines_of(chars: Iterable[Char]) -> list[Line]:
    """Return the lines from top to bottom, each across the whole width of the page."""
    found = []
    for row in rows_of_chars(without_doubles(chars)):
        words = _words(row)
        if words:
            found.append(Line.of(words))
    return sorted(found, key=lambda line: (line.base, line.x0))


def join(words: Sequence[Word]) -> str:
    """The text of words from left to right, in reading order and with blanks where there are any."""
    words = bidi.ordered(words)
    parts: list[str] = []
    last: Word | None = None
    for word in words:
        if last is not None and not (
            is_wide(last.text[-1]) and is_wide(word.text[0]) and abs(word.x0 - last.x1) < 0.6 * word.size
        ):
            parts.append(" ")
        parts.append(word.text)
        last = word
    return "".join(parts)


def is_wide(char: str) -> bool:
    """Whether a character belongs to a script that sets no blanks between words."""
    return (
        char > "\u2e7f" and unicodedata.east_asian_width(char) in _WIDE and not "\uac00" <= char <= "\ud7af"
    )


def is_bullet(text: str) -> bool:
    """Whether a word only marks an item of a list."""
    return len(text) == 1 and (text in _BULLETS or text == "o")


# ---- words ------------------------------------------------------------------------------------------


def _words(row: Sequence[Char]) -> list[Word]:
    ordered = sorted(row, key=lambda c: c.x0 + c.x1)
    limit = _limit(ordered)
    words: list[Word] = []
    current: list[Char] = []
    blank = False
    right = 0.0
    for char in ordered:
        text = char.text
        if text == " " or text.isspace():
            blank = True
            continue
        if current:
            gap = char.x0 - right
            if blank or gap > 0.0:
                last = current[-1]
                size = max(min(char.style.size, last.style.size), 0.1)
                wide = text > "\u2e7f" and is_wide(text) and is_wide(last.text)
                if gap > limit * size * (2.5 if wide else 1.0) or (
                    blank and gap > -0.3 * size and not (wide and gap < 0.6 * size)
                ):
                    words.append(_word(current))
                    current = []
        current.append(char)
        if char.x1 > right or len(current) == 1:
            right = char.x1
        blank = False
    if current:
        words.append(_word(current))
    return words


def _limit(ordered: Sequence[Char]) -> float:
    """The gap that ends a word on this line, in ems."""
    gaps = []
    blanks = 0
    last: Char | None = None
    for char in ordered:
        if char.text.isspace():
            blanks += 1
            last = None
            continue
        if last is not None:
            gaps.append((char.x0 - last.x1) / max(char.style.size, 0.1))
        last = char
    if len(gaps) < 5:
        return WIDE_WORD_GAP if blanks else WORD_GAP
    tracking = statistics.median(gaps)
    if tracking > 1.0:  # single characters far apart: columns, not a word
        return WORD_GAP
    if tracking > TRACKED:
        return tracking + (WIDE_WORD_GAP if blanks else max(WORD_GAP, 0.5 * tracking))
    return max(tracking, 0.0) + (WIDE_WORD_GAP if blanks * 12 > len(gaps) else WORD_GAP)


def _word(chars: Sequence[Char]) -> Word:
    first = chars[0]
    style = first.style
    text = bidi.logical("".join([c.text for c in chars]))
    if all(c.style is style for c in chars):
        return Word(
            text=text,
            x0=min([c.x0 for c in chars]),
            y0=min([c.y0 for c in chars]),
            x1=max([c.x1 for c in chars]),
            y1=max([c.y1 for c in chars]),
            base=first.base,
            size=style.size,
            bold=style.bold,
            mono=style.mono,
            font=style.font,
        )
    style = max((c.style for c in chars), key=lambda s: s.size)
    return Word(
        text=text,
        x0=min(c.x0 for c in chars),
        y0=min(c.y0 for c in chars),
        x1=max(c.x1 for c in chars),
        y1=max(c.y1 for c in chars),
        base=max(c.base for c in chars) if style.size == first.style.size else first.base,
        size=style.size,
        bold=sum(c.style.bold for c in chars) * 2 > len(chars),
        mono=style.mono,
        font=style.font,
    )
