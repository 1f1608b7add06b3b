"""Whether text is text: files may look right and yet say something else than what is seen.

A page is judged by its characters (codes that stand for nothing, glyphs that the file does not map) and,
where it has enough of them, by its letters: in every language of an alphabet the eight commonest letters
make up half of a text; where codes are shifted or shuffled they make up a third at most.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from attrs import frozen

from .lettering import clean
from .records import Char

MOST_BAD = 0.25
"""Share of characters that stand for nothing from which a page is illegible."""
LEAST_COMMON = 0.40
"""Share of the commonest letters below which a text is no language. By the letter frequencies of their
alphabets, natural texts have 0.50 (Hungarian, Polish) to 0.66 (English), shifted English has 0.18 to 0.33."""
ENOUGH = 160
"""Letters from which their shares say something."""
_COMMON = {
    "LATIN": frozenset("eaionrst"),
    "CYRILLIC": frozenset("оеаинтср"),
    "GREEK": frozenset("αοιετσνη"),
}
_WORD = re.compile(r"[^\W\d_]{3,}")


@frozen(kw_only=True)
class Legibility:
    """``bad`` is the share of characters that stand for nothing; ``letters`` counts those by alphabet."""

    characters: int = 0
    bad: float = 0.0
    unmapped: float = 0.0
    letters: Counter[str]

    @property
    def legible(self) -> bool:
        if self.bad > MOST_BAD:
            return False
        return not is_gibberish(self.letters) and not (self.unmapped > 0.9 and self.bad > 0.1)


def judge(chars: Sequence[Char]) -> Legibility:
    """Judge the characters of a page."""
    drawn = [char for char in chars if not char.text.isspace()]
    if not drawn:
        return Legibility(letters=Counter())
    bad = sum(is_bad(char.text) for char in drawn)
    unmapped = sum(char.unmapped for char in drawn)
    return Legibility(
        characters=len(drawn),
        bad=bad / len(drawn),
        unmapped=unmapped / len(drawn),
        letters=letters_of("".join(char.text if not char.text.isspace() else " " for char in chars)),
    )


def is_bad(text: str) -> bool:
    """Whether a character stands for nothing: private, unassigned, a control, a code without a meaning."""
    if text.isascii():
        return text.startswith("(cid:") or (text < " " and text != "\t") or text == "\x7f"
    if text == "\u00ad":
        return False
    return text == "\ufffd" or not clean(text) or unicodedata.category(text[0]) in ("Cn", "Co", "Cc", "Cs")


def letters_of(text: str) -> Counter[str]:
    """Letters of the words, without case and accents."""
    folded = unicodedata.normalize("NFD", " ".join(_WORD.findall(text)).lower())
    return Counter(c for c in folded if c.isalpha())


def is_gibberish(letters: Counter[str]) -> bool:
    """Whether the letters of a text are distributed as in no language of their alphabet."""
    for script, common in _COMMON.items():
        mine = {c: n for c, n in letters.items() if _script(c) == script}
        total = sum(mine.values())
        if total >= ENOUGH and total > 0.5 * sum(letters.values()):
            return sum(n for c, n in mine.items() if c in common) < LEAST_COMMON * total
    return False


def _script(letter: str) -> str:
    if letter <= "z":
        return "LATIN"
    if "\u0370" <= letter <= "\u03ff" or "\u1f00" <= letter <= "\u1fff":
        return "GREEK"
    if "\u0400" <= letter <= "\u052f":
        return "CYRILLIC"
    return "LATIN" if letter <= "\u024f" else ""


def added(counts: Iterable[Counter[str]]) -> Counter[str]:
    """The sum of several pages' letters."""
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return total
