"""Which words of one question stand for which of the other, and which stand alone."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from .items import Item
from .lexicon import Lexicon, lexicon
from .reading import Question
from .tables import words
from .vocabulary import DEMONYMS, SAME


@frozen
class Alignment:
    """``same`` pairs have one key, ``near`` pairs are synonyms or of one family; the rest is ``left``."""

    same: tuple[tuple[Item, Item], ...]
    near: tuple[tuple[Item, Item], ...]
    left: tuple[tuple[Item, ...], tuple[Item, ...]]

    @property
    def whole(self) -> bool:
        """Whether every word is there on both sides, as it is."""
        return not self.near and not self.left[0] and not self.left[1]


def align(a: Question, b: Question) -> Alignment:
    """Pair the items of two questions: equal keys first, then what means nearly the same."""
    same: list[tuple[Item, Item]] = []
    rest_b = list(b.items)
    rest_a: list[Item] = []
    used: set[int] = set()
    for item in a.items:
        # By its word too: a name is kept as it is written, and may be written small on the other side.
        other = next(
            (
                o
                for o in rest_b
                if id(o) not in used and (o.key == item.key or (o.word == item.word and o.kind == item.kind))
            ),
            None,
        )
        if other is None:
            rest_a.append(item)
        else:
            used.add(id(other))
            same.append((item, other))
    rest_b = [item for item in rest_b if id(item) not in used]
    near: list[tuple[Item, Item]] = []
    if rest_a and rest_b:
        near, rest_a, rest_b = _near(rest_a, rest_b)
    return Alignment(tuple(same), tuple(near), (tuple(rest_a), tuple(rest_b)))


def _near(a: list[Item], b: list[Item]) -> tuple[list[tuple[Item, Item]], list[Item], list[Item]]:
    lex = lexicon()
    near: list[tuple[Item, Item]] = []
    for first, second, swapped in ((a, b, False), (b, a, True)):
        for item in list(first):
            if item not in first:
                continue
            run = _spelled_out(item, second)
            if run:
                first.remove(item)
                for other in run:
                    second.remove(other)
                near.append((run[0], item) if swapped else (item, run[0]))
    for item in list(a):
        for other in b:
            if akin(item, other, lex):
                near.append((item, other))
                a.remove(item)
                b.remove(other)
                break
    return near, a, b


def akin(a: Item, b: Item, lex: Lexicon) -> bool:
    """Whether two words may stand for each other: synonyms, of one family, a country and its people."""
    if a.kind != "word" or b.kind != "word":
        return False
    x, y = a.key, b.key
    if DEMONYMS.get(x, x) == DEMONYMS.get(y, y):
        return True
    if a.name != b.name and _typo(a, b, lex):
        return True
    if a.name or b.name:
        # What is written as a name is nobody's synonym, but for well-known short forms and plurals.
        if y in SAME.get(x, ()):
            return not (lex.common(x) and lex.common(y))
        return (x == f"{y}s" or y == f"{x}s") and not lex.common(x) and not lex.common(y)
    if lex.opposed(x, y):
        return False
    return lex.synonyms(x, y) or lex.relatives(x, y)


def _typo(a: Item, b: Item, lex: Lexicon) -> bool:
    """Whether one word is unknown and one stroke away from the other, which is a common one."""
    wrong, right = (a, b) if a.name else (b, a)
    if (
        len(wrong.word) < TYPO_FROM
        or not wrong.word.isalpha()
        or wrong.word in lex.names
        or lex.common(wrong.key)
    ):
        return False
    return one_stroke(wrong.word, right.word) or one_stroke(wrong.word, right.key)


def one_stroke(a: str, b: str) -> bool:
    """Whether two words differ by one letter more, less or other, or by two that changed places."""
    if abs(len(a) - len(b)) > 1 or a == b:
        return False
    at = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if len(a) != len(b):
        longer, shorter = (a, b) if len(a) > len(b) else (b, a)
        return longer[at + 1 :] == shorter[at:]
    swapped = a[at : at + 2] == b[at : at + 2][::-1] and a[at + 2 :] == b[at + 2 :]
    return swapped or a[at + 1 :] == b[at + 1 :]


def _spelled_out(item: Item, others: Sequence[Item]) -> list[Item]:
    """The neighbours in ``others`` that ``item`` is the initials of, or that it is when written as one."""
    word = item.word
    if item.kind != "word" or not 2 <= len(word) <= 24:
        return []
    for start in range(len(others)):
        run: list[Item] = []
        for other in others[start : start + 6]:
            if run and other.at - run[-1].at > 2:
                break
            run.append(other)
            if len(run) > 1:
                letters = "".join(o.word[0] for o in run)
                if (len(word) <= 6 and letters == word and _short_form(item)) or "".join(
                    o.word for o in run
                ) == word:
                    return run
    return []


def _short_form(item: Item) -> bool:
    return not lexicon().common(item.key) or item.word in SHORT


TYPO_FROM = 5
"""Letters of a word from which it may be mistyped: shorter ones are too near to others."""
SHORT = words("short forms")
"""Initials that are words of their own."""
