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
alphabets, natural texts have 0.50 (Hungarian, Polish) to 0.66 (English), shifted ones 0.18 to 0.42."""
ENOUGH = 120
"""Letters from which their shares say something; up to ``PLENTY`` of them they say it with less certainty."""
PLENTY = 300
LEAST_OF_FEW = 0.36
"""The bound for a text of fewer letters: their shares vary by five points and more."""
SHIFTED = 0.12
"""How much more common the letters become when a text is shifted back that had been shifted."""
_ALPHABETS = (
    ("abcdefghijklmnopqrstuvwxyz", frozenset("eaionrst")),
    ("абвгдежзийклмнопрстуфхцчшщъыьэюя", frozenset("оеаинтср")),
    ("αβγδεζηθικλμνξοπρςστυφχψω", frozenset("αοιετσνη")),
)
"""Alphabets in the order of their codes, and their commonest letters."""
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
    """Letters of the different words, without case and accents: what a form repeats says nothing new."""
    folded = unicodedata.normalize("NFD", " ".join(sorted(set(_WORD.findall(text.lower())))))
    return Counter(c for c in folded if c.isalpha())


def is_gibberish(letters: Counter[str]) -> bool:
    """Whether the letters of a text are distributed as in no language of their alphabet, or as in one
    once they are all moved by the same number of places."""
    for alphabet, common in _ALPHABETS:
        counts = [letters[letter] for letter in alphabet]
        total = sum(counts)
        if total < ENOUGH or total < 0.5 * sum(letters.values()):
            continue
        size = len(alphabet)
        places = [alphabet.index(letter) for letter in common]
        shares = [sum(counts[(place + shift) % size] for place in places) / total for shift in range(size)]
        least = LEAST_COMMON if total >= PLENTY else LEAST_OF_FEW
        return shares[0] < least or (max(shares) >= 0.46 and max(shares) > shares[0] + SHIFTED)
    return False


def added(counts: Iterable[Counter[str]]) -> Counter[str]:
    """The sum of several pages' letters."""
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return total
