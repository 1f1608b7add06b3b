"""Words that only one of two questions has: what narrows it down, and what says nothing."""

from __future__ import annotations

from typing import Protocol

from .alignment import Alignment
from .items import Item
from .lexicon import lexicon
from .reading import Question
from .roles import ATTRIBUTES, unsure_roles
from .tables import words
from .vocabulary import FILLERS, IMPLIED, KINDS, SCOPE

_NARROWING = words("narrowing")
_TITLES = words("titles")
_VARIANTS = words("variants")
_SCOPING = frozenset(("for", "with", "without", "per", "during", "among", "in", "at", "on"))
_PLACING = frozenset(("in", "for", "at", "on", "of", "about", "near", "within", "among", "between"))
_ARTICLES = frozenset(("the", "a", "an", "my", "your", "their", "his", "her"))
LONG = 3
"""Words that two questions must share for one of them to have a common word more."""
COMMON_WEIGHT = 0.5
"""Weight up to which a word is common here: one that is met a hundred times."""


class Guard(Protocol):
    """``guard(a, b, both)``: what it found, or ""."""

    __name__: str

    def __call__(self, a: Question, b: Question, both: Alignment, /) -> str: ...


def light(item: Item, a: Question, b: Question) -> bool:
    """Whether a word may be missing on the other side."""
    if item.kind == "unit" or (item.key in a.keys and item.key in b.keys):
        return True  # rival units were told apart before
    if item.kind != "word":
        return False
    if item.name and item.word in _TITLES:
        return True
    if any(item.key in IMPLIED.get(question.kind, ()) for question in (a, b)):
        return True
    if item.key in SCOPE:
        return False
    owner = a if any(item is one for one in a.items) else b
    return item.key in FILLERS or (item.key in KINDS and not _placed(item, owner))


def heavy(a: Question, b: Question, both: Alignment) -> tuple[list[Item], list[Item]]:
    """The words that each side has alone and that say something."""
    left, right = ([item for item in side if not light(item, a, b)] for side in both.left)
    return left, right


# ---- what rejects ----------------------------------------------------------------------------------


def scope(a: Question, b: Question, both: Alignment) -> str:
    """What narrows a question down on one side alone."""
    if narrowed := (a.small ^ b.small) & _NARROWING:
        return "/".join(sorted(narrowed))
    for side, asked in zip(both.left, (a, b), strict=True):
        for item in side:
            if item.key in _VARIANTS and _after_name(item, asked):
                return item.word
    left, right = heavy(a, b, both)
    for mine, others, rest, question in ((left, right, both.left[1], a), (right, left, both.left[0], b)):
        for item in mine:
            # "What did it add" has no "new", and says so all the same.
            if _modifies(item) and (not rest or any(map(_modifies, others))):
                return item.word
            if not others and not _modifies(item) and _narrows(item, question, both):
                return item.word
    return ""


def _after_name(item: Item, question: Question) -> bool:
    return any(one.at == item.at - 1 and (one.name or one.kind == "number") for one in question.items)


def _modifies(item: Item) -> bool:
    return item.key in SCOPE or ":" in item.key


def _narrows(item: Item, question: Question, both: Alignment) -> bool:
    """Whether a word stands before a word of both sides, or after a preposition."""
    if item.kind != "word" or item.marker:
        return True
    left = {id(one) for side in both.left for one in side}
    following = next((one for one in question.items if one.at > item.at), None)
    before_shared = following is not None and following.at == item.at + 1 and id(following) not in left
    if before_shared and not lexicon().mostly_verb(item.key):
        return True
    return question.words[item.at - 1 : item.at] != () and question.words[item.at - 1] in _PLACING


# ---- what makes doubtful ---------------------------------------------------------------------------


def more(a: Question, b: Question, both: Alignment) -> str:
    """A word more on one side.

    Keywords name what a question word asks for, and questions have verbs that keywords do without. A long
    question may have a common word more.
    """
    left, right = heavy(a, b, both)
    if bool(left) == bool(right):
        return ""
    mine, question, other = (left, a, b) if left else (right, b, a)
    lex = lexicon()
    for item in mine:
        common = lex.weight(item.key) <= COMMON_WEIGHT
        if bool(question.kind) != bool(other.kind):
            expected = not question.kind or lex.verb(item.key) or common
        else:
            expected = common and len(both.same) >= LONG
        if not expected:
            return item.word
    return ""


def place(a: Question, b: Question, both: Alignment) -> str:
    """A word after "for", "with" and the like that the other side does not have."""
    for side, question in zip(heavy(a, b, both), (a, b), strict=True):
        for item in side:
            if item.kind == "word" and _placed(item, question):
                return item.word
    return ""


def _placed(item: Item, question: Question) -> bool:
    at = item.at - 1
    while at >= 0 and question.words[at] in _ARTICLES:
        at -= 1
    return at >= 0 and question.words[at] in _SCOPING


def unlike_forms(a: Question, b: Question, both: Alignment) -> str:
    """Forms of words that may make another question: past and present, one and many, accents, capitals."""
    if a.accents != b.accents or _recased(a, b) or _recased(b, a):
        return "spelling"
    if a.kind and b.kind and (a.forms != b.forms or {a.tense, b.tense} == {"past", "present"}):
        return "tense"
    counted = "count" in (a.kind, b.kind)
    done = "howto" in (a.kind, b.kind)
    for x, y in both.same:
        if x.kind != "word" or x.word == y.word:
            continue
        short, long = sorted((x.word, y.word), key=len)
        many = long in (f"{short}s", f"{short}es") and not lexicon().mostly_verb(x.key)
        if (many and not counted) or (x.word.endswith("ing") != y.word.endswith("ing") and not done):
            return f"{x.word}/{y.word}"
    return ""


def _recased(a: Question, b: Question) -> bool:
    """Whether a word in capitals is there in small letters on the other side."""
    small = frozenset(b.plain.split())
    return any(word not in b.capitals and word.lower() in small for word in a.capitals)


def form(a: Question, b: Question, both: Alignment) -> str:
    return unlike_forms(a, b, both)


def able(a: Question, b: Question, both: Alignment) -> str:
    """Whether something can be done, and how."""
    return "yesno/howto" if {a.kind, b.kind} == {"yesno", "howto"} else ""


def person(a: Question, b: Question, both: Alignment) -> str:
    """Somebody else is spoken of: "why do they hate me", "why do they hate you"."""
    if a.kind == b.kind == "howto" or not a.persons or not b.persons or a.persons == b.persons:
        return ""
    return "/".join(map(str, sorted(a.persons ^ b.persons)))


def role(a: Question, b: Question, both: Alignment) -> str:
    return unsure_roles(a, b, both)


def how(a: Question, b: Question, both: Alignment) -> str:
    """What something is, and how something is done with it."""
    if {a.kind, b.kind} != {"what", "howto"}:
        return ""
    what = a if a.kind == "what" else b
    return "" if what.keys & IMPLIED["howto"] else "what/howto"


def subject(a: Question, b: Question, both: Alignment) -> str:
    """Two things of which the same is asked: no name, and no noun but what is asked of it, is on both."""
    if not both.left[0] or not both.left[1]:
        return ""
    lex = lexicon()
    for x, _ in (*both.same, *both.near):
        if x.name or x.kind != "word" or (lex.mostly_noun(x.key) and x.key not in ATTRIBUTES):
            return ""
    return "/".join(side[0].word for side in both.left)


def swap(a: Question, b: Question, both: Alignment) -> str:
    """One noun in place of another, or one verb, all else the same: "height" and "breadth", however asked.

    What could be missing otherwise, as "size" could, is what is asked for where the other side has another.
    """
    left, right = (some or list(rest) for some, rest in zip(heavy(a, b, both), both.left, strict=True))
    if len(left) != 1 or len(right) != 1:
        return ""
    x, y = left[0], right[0]
    lex = lexicon()
    nouns = lex.mostly_noun(x.key) and lex.mostly_noun(y.key)
    verbs = lex.mostly_verb(x.key) and lex.mostly_verb(y.key)
    return f"{x.word}/{y.word}" if x.kind == y.kind == "word" and (nouns or verbs) else ""
