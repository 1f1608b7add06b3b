"""The verdict of rules alone: surely the same, surely not, or a question for a verifier."""

from __future__ import annotations

from itertools import combinations

from attrs import frozen

from .alignment import Alignment, align
from .extras import heavy, unlike_forms
from .guards import doubt, objection
from .items import Item
from .reading import Question, read
from .roles import SYMMETRIC, names_moved
from .tables import words

EQUAL, SAME_WORDS, OTHER_ORDER = 1.0, 0.99, 0.97
"""How sure equal texts are, equal words in one order, and equal words in another."""


_PERSONS = words("persons")
_KIN = frozenset(("brother", "sister", "cousin", "sibling", "twin", "partner", "friend"))
_IN_LISTS = frozenset(("and", "or", "a", "an", "the"))
_DATED = frozenset(("number", "month", "day", "ordinal"))
_PLAIN = frozenset(("in", "on"))
_NOT_BARE = frozenset(("yesno", "degree", "amount", "why", "when", "where", "count", "manner"))
"""Kinds of answers that keywords do not ask for by themselves."""


@frozen
class Ruling:
    """What rules say of two questions.

    Attributes:
        same: True, False, or None where a verifier has to say.
        score: how sure, where ``same`` is True.
        guard: the guard that objected, or the rule that agreed; where a verifier has to say, the guard that
            doubts, or "".
        detail: what it found.
        alike: no word that says something is without its counterpart.
    """

    same: bool | None
    score: float = 0.0
    guard: str = ""
    detail: str = ""
    alike: bool = False
    a: Question | None = None
    b: Question | None = None
    pairs: Alignment | None = None


def rule(first: str, second: str, year: int) -> Ruling:
    """Judge two texts by rules. ``rule(a, b)`` is ``rule(b, a)``: they are read in one order.

    Args:
        year: the year it is, for "this year".
    """
    a, b = read(min(first, second), year), read(max(first, second), year)
    if a.plain and a.plain == b.plain:
        if a.capitals != b.capitals:
            return Ruling(False, guard="case", detail="/".join((*a.capitals, *b.capitals)))
        return Ruling(True, EQUAL, "equal", "the same text")
    if not a.plain or not b.plain:
        same = first.strip() == second.strip()
        return Ruling(same, EQUAL if same else 0.0, "equal" if same else "empty", "no words")
    if a.long or b.long:
        return Ruling(False, guard="long", detail="too long for anything but equality")
    if a.foreign or b.foreign:
        return Ruling(False, guard="language", detail="not English, and not equal")
    if not a.items or not b.items:
        return Ruling(False, guard="empty", detail="no words of content")
    pairs = align(a, b)
    guard, detail = objection(a, b, pairs)
    if guard:
        return Ruling(False, guard=guard, detail=detail, a=a, b=b, pairs=pairs)
    if pairs.whole and _says_the_same(a, b, pairs):
        ordered = [item.key for item in a.items] == [item.key for item in b.items]
        score = SAME_WORDS if ordered else OTHER_ORDER
        return Ruling(True, score, "words", "the same words", a=a, b=b, pairs=pairs)
    if not any(pairs.left) and a.kind == b.kind and (found := _turned_about(a, b, pairs)):
        return Ruling(False, guard="order", detail=found, a=a, b=b, pairs=pairs)
    guard, detail = doubt(a, b, pairs)
    alike = not any(heavy(a, b, pairs))
    return Ruling(None, guard=guard, detail=detail, alike=alike, a=a, b=b, pairs=pairs)


def _says_the_same(a: Question, b: Question, pairs: Alignment) -> bool:
    """Whether questions of the same words are the same: what has no content agrees, and so do the roles."""
    if a.small - _PLAIN != b.small - _PLAIN or a.negated != b.negated or unlike_forms(a, b, pairs):
        return False
    return _one_kind(a, b) and _same_persons(a, b) and _same_roles(a, b, pairs) and _same_places(a, b, pairs)


def _turned_about(a: Question, b: Question, pairs: Alignment) -> str:
    """What makes another question of the same words in the same form: models do not see it."""
    if a.passive == b.passive and not _same_places(a, b, pairs):
        return "the same words in other places"
    if a.small - _PLAIN != b.small - _PLAIN:
        return "/".join(sorted((a.small ^ b.small) - _PLAIN))
    return "tense" if unlike_forms(a, b, pairs) == "tense" else ""


def _same_places(a: Question, b: Question, pairs: Alignment) -> bool:
    """Whether prepositions and order tell the same: "influence of music on mood", "race horse".

    Two words may change places only where the one has a preposition that it lacks on the other side, as in
    "Norway population" and "population of Norway", or where each has one of its own on both.
    """
    both = sorted(pairs.same, key=lambda pair: pair[0].at)
    for x, y in both:
        if x.prep != y.prep and (
            (x.prep and y.prep) or (a.kind and b.kind and {x.prep, y.prep} - {"", "of"})
        ):
            return False
    if (SYMMETRIC - _KIN) & a.keys or "between" in a.words or {"versus", "distance"} & a.keys:
        return True
    for (x, v), (y, w) in combinations(both, 2):
        if v.at > w.at and not (x.kind in _DATED and y.kind in _DATED) and not _listed(x, y, v, w, a, b):
            moved = [(s, t) for s, t in ((x, v), (y, w)) if s.prep != t.prep]
            changed = len(moved)
            if any(not (s.name or t.name) and {s.prep, t.prep} != {"", "of"} for s, t in moved):
                return False
            own = bool(x.prep) and bool(y.prep) and x.prep != y.prep
            made = x.at < 0 or v.at < 0 or y.at < 0 or w.at < 0 or bool(a.kind) != bool(b.kind)
            if not (
                changed == 1
                or (changed == 0 and (own or bool(x.prep) != bool(y.prep)))
                or (made and changed != 2)
            ):
                return False
    return True


def _listed(x: Item, y: Item, v: Item, w: Item, a: Question, b: Question) -> bool:
    """Whether two words stand in a list on both sides, "A and B", where order says nothing."""
    between = (a.words[x.at + 1 : y.at], b.words[w.at + 1 : v.at])
    return all({"and", "or"} & set(some) and set(some) <= _IN_LISTS for some in between)


def _same_persons(a: Question, b: Question) -> bool:
    """Whether both speak of the same people. "How do I" is "how do you"."""
    return a.persons == b.persons or not a.persons or not b.persons or a.kind == b.kind == "howto"


def _one_kind(a: Question, b: Question) -> bool:
    """Whether both want one kind of answer, or one of them is keywords that name what the other asks for."""
    if a.kind == b.kind:
        return True
    kinds = {a.kind, b.kind}
    if "who" in kinds and "" in kinds:
        return bool(_PERSONS & a.keys)
    named = {"when": ("date",), "where": ("location", "birthplace"), "count": ("population",)}
    for kind, endings in named.items():
        if kind in kinds and any(key.endswith(endings) for key in a.keys):
            return True
    return bool(kinds & {"", "what"}) and not kinds & _NOT_BARE and kinds != {"who", "what"}


def _same_roles(a: Question, b: Question, pairs: Alignment) -> bool:
    """Whether no word depends on a preposition of role here and not there, and the voice is one."""
    if not SYMMETRIC & a.keys and names_moved(a, b, pairs, adjacent=True):
        return False
    markers = [{item.key: item.marker for item in question.items} for question in (a, b)]
    return markers[0] == markers[1] and (a.passive == b.passive or not any(markers[0].values()))
