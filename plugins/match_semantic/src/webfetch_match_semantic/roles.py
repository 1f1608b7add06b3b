"""Who does what to whom: two questions of the same words in other roles are two questions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

from .alignment import Alignment
from .items import Item
from .lexicon import Lexicon, lexicon
from .reading import BE, Question
from .tables import words

PARTICIPLES = words("participles")
_BOTH_WAYS = frozenset(("distance", "versus"))
"""Words that say so for both questions."""
_ASKED_FOR = frozenset(("who", "whom", "which", "what"))
_DO = frozenset(("do", "does", "did"))
SYMMETRIC = words("symmetric")
ATTRIBUTES = words("attributes")
"""Words of relations that hold both ways."""
_ALIKE = (
    frozenset(("to", "into", "onto", "toward", "towards", "as")),
    frozenset(("by", "from", "with")),
    frozenset(("over", "above")),
    frozenset(("under", "below")),
)


def reversed_roles(a: Question, b: Question, pairs: Alignment) -> str:
    """Say which words changed roles between two questions; "" where none did."""
    matched = [*pairs.same, *pairs.near]
    both_ways = SYMMETRIC & a.keys & b.keys or _BOTH_WAYS & (a.keys | b.keys)
    symmetric = bool(both_ways) or "between" in a.words or "between" in b.words
    if not symmetric and (found := _markers(matched, a, b)):
        return found
    if found := _pivot(a, b, pairs, symmetric) or ("" if symmetric else _turned(a, b, pairs)):
        return found
    if symmetric:
        return ""
    if found := _amounts(a, b):
        return found
    return "" if a.passive != b.passive else names_moved(a, b, pairs, adjacent=pairs.whole)


def _markers(matched: list[tuple[Item, Item]], a: Question, b: Question) -> str:
    """A word that depends on "from" here and on "to" there."""
    gained, lost = [], []
    for x, y in matched:
        if x.marker == y.marker or any({x.marker, y.marker} <= some for some in _ALIKE):
            continue
        if x.marker and y.marker:
            if not ({x.marker, y.marker} & {"by"} and a.passive != b.passive):
                return f"{x.word}: {x.marker}/{y.marker}"
        elif y.marker:
            gained.append((x, y))
        else:
            lost.append((x, y))
    if gained and lost and a.passive == b.passive:
        return f"{lost[0][0].word} and {gained[0][0].word} changed places"
    return ""


def _sides(question: Question, verb: Item, others: list[Item]) -> Iterator[str]:
    """L for what is on the verb's doing side, R for what it is done to, by place, voice and preposition."""
    nominal = any(w == "of" for w in question.words[verb.at + 1 : verb.at + 3])
    for other in others:
        before = other.at < verb.at
        if other.marker == "by":
            yield "L"
        elif question.passive:
            yield "R" if before else "L" if other.marker == "by" else "R"
        elif nominal and not before and not other.marker:
            yield "R"
        else:
            yield "L" if before else "R"


def _pivot(a: Question, b: Question, pairs: Alignment, symmetric: bool) -> str:
    """Two words that stand on the other side each of a verb that both questions have."""
    if symmetric:
        return ""
    lex = lexicon()
    verbs = [
        (x, y)
        for x, y in (*pairs.same, *pairs.near)
        if x.kind == "word" and _one_deed(x, y, a, b, lex) and not (x.name and y.name)
    ]
    # A verb that each has its own of may be the same deed in other words.
    own = [
        [i for i in side if i.kind == "word" and _deed(i, question, lex) and not i.name]
        for side, question in zip(pairs.left, (a, b), strict=True)
    ]
    if len(own[0]) == 1 and len(own[1]) == 1:
        verbs.append((own[0][0], own[1][0]))
    for v, w in verbs:
        others = [
            (x, y)
            for x, y in (*pairs.same, *pairs.near)
            if x is not v and y is not w and x.kind == "word" and x.key != v.key and x.key not in ATTRIBUTES
        ]
        left = [*_sides(a, v, [x for x, _ in others]), _asker(a, v)]
        right = [*_sides(b, w, [y for _, y in others]), _asker(b, w)]
        words = [*((x.word, x.marker, y.marker) for x, y in others), ("who", "", "")]
        moved = [
            (*word, s, t)
            for word, s, t in zip(words, left, right, strict=True)
            if s != t and "" not in (s, t)
        ]
        if {"L", "R"} <= {s for *_, s, _ in moved}:
            return f"{moved[0][0]} {v.word}"
        # "That export to China", "that China exports to".
        if a.passive == b.passive and any({m, n} in ({"", "to"}, {"", "by"}) for _, m, n, _, _ in moved):
            return f"{moved[0][0]} {v.word}"
    return ""


def _deed(item: Item, question: Question, lex: Lexicon) -> bool:
    """Whether a word is a verb here, as far as can be told."""
    if item.word.endswith("ing") and BE.isdisjoint(question.words):
        return False  # a noun, as in "driving time"
    return lex.mostly_verb(item.key) or (
        lex.verb(item.key) and (item.word in PARTICIPLES or item.word.endswith("ed"))
    )


def _one_deed(x: Item, y: Item, a: Question, b: Question, lex: Lexicon) -> bool:
    """Whether two words that stand for each other are one verb."""
    return (_deed(x, a, lex) or _deed(y, b, lex)) and lex.verb(x.key) and lex.verb(y.key)


def _turned(a: Question, b: Question, pairs: Alignment) -> str:
    """ "Does X like Y" and "is X liked by Y": the order is one, the voice is not."""
    if a.passive == b.passive:
        return ""
    named = sorted(((x, y) for x, y in pairs.same if x.name or y.name), key=lambda pair: pair[0].at)
    for (x, v), (y, w) in combinations(named, 2):
        by = (y.marker, w.marker) in (("by", ""), ("", "by"))
        if by and v.at < w.at and not {x.marker, v.marker} & {"by"}:
            return f"{x.word} and {y.word}"
    return ""


def _asker(question: Question, verb: Item) -> str:
    """The side of "who" in "who beat him" (L), "who did he beat" (R); "" where nobody is asked for."""
    words = question.words
    at = next((n for n, word in enumerate(words) if word in _ASKED_FOR), None)
    if at is None:
        return ""
    if question.passive:
        # "By whom", or a "by" that nobody follows: the doer is asked for.
        return "L" if "by" in words and not any(item.marker == "by" for item in question.items) else "R"
    between = words[at + 1 : verb.at]
    subject = any(at < item.at < verb.at and item.name for item in question.items)
    asks_for_object = words[at] == "whom" or at > verb.at or subject or not _DO.isdisjoint(between)
    return "R" if asks_for_object else "L"


def names_moved(a: Question, b: Question, pairs: Alignment, *, adjacent: bool = False) -> str:
    """Names in another order, where no preposition tells who is who; with ``adjacent``, side by side too."""
    named = [(x, y) for x, y in pairs.same if (x.name or y.name) and not x.marker and not y.marker]
    named.sort(key=lambda pair: pair[0].at)
    for (x, v), (y, w) in pairwise(named):
        apart = adjacent or y.at - x.at > 1 or abs(w.at - v.at) > 1
        if (
            v.at > w.at
            and apart
            and not _owned(x, a)
            and not _owned(y, a)
            and not _owned(v, b)
            and not _owned(w, b)
        ):
            return f"{x.word} and {y.word} changed places"
    return ""


def _owned(item: Item, question: Question) -> bool:
    """Whether "of" and the like stand before a word, so that its place says nothing."""
    before = question.words[max(item.at - 2, 0) : item.at]
    return any(word in ("of", "in", "on", "at", "for", "about") for word in before)


def _amounts(a: Question, b: Question) -> str:
    """Numbers that belong to other words: "2 apples, 3 pears" and "3 apples, 2 pears"."""
    if len(a.numbers) == 2 and a.dates and a.dates == b.dates:
        return ""  # day and year
    if len(a.numbers) < 2 or sorted(a.numbers) != sorted(b.numbers):
        return ""
    if _by_kind(a) == _by_kind(b):
        return ""
    return "" if _owners(a) == _owners(b) else "numbers changed places"


def _by_kind(question: Question) -> tuple[list[str], list[str]]:
    """Years, which may stand anywhere, and the other numbers, each in their order."""
    years: list[str] = []
    others: list[str] = []
    for item, following in pairwise((*question.items, None)):
        if item is not None and item.kind == "number":
            measured = following is not None and following.kind == "unit"
            year = len(item.key) == 4 and item.key.isdecimal() and item.key[:2] in ("18", "19", "20")
            (years if year and not measured else others).append(item.key)
    return years, others


def _owners(question: Question) -> set[tuple[str, str]]:
    items = question.items
    return {
        (item.key, items[n - 1].key if n else items[n + 1].key if len(items) > 1 else "")
        for n, item in enumerate(items)
        if item.kind == "number"
    }


def unsure_roles(a: Question, b: Question, pairs: Alignment) -> str:
    """Two names in another order, or with another voice or preposition, where no verb of both questions tells
    who is who."""
    named = sorted(((x, y) for x, y in pairs.same if x.name or y.name), key=lambda pair: pair[0].at)
    if len(named) < 2 or SYMMETRIC & a.keys & b.keys or _BOTH_WAYS & (a.keys | b.keys):
        return ""
    by = any("by" in (x.marker, y.marker) for x, y in named)
    for (x, v), (y, w) in pairwise(named):
        if v.at > w.at and not by:
            return f"{x.word} and {y.word} changed places"
    for x, y in named:
        if x.marker != y.marker and {x.marker, y.marker} & _TO:
            return f"{x.word}: {x.marker or 'none'}/{y.marker or 'none'}"
    lex = lexicon()
    if any(_one_deed(x, y, a, b, lex) for x, y in (*pairs.same, *pairs.near)):
        return ""
    apart = any(y.at - x.at > 1 for (x, _), (y, _) in pairwise(named))
    return "active/passive" if apart and a.passive != b.passive else ""


_TO = frozenset(("to", "into"))
