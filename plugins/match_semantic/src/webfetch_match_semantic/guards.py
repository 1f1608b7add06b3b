"""Reasons to say that two questions are not the same, whatever a model thinks of them.

Each guard takes two questions and their alignment, and returns what it found, or "". They are symmetric. The
first that finds something names the reason.
"""

from __future__ import annotations

from .alignment import Alignment
from .amounts import RIVALS
from .attributes import ASKS_WHEN
from .extras import Guard, able, form, how, light, more, person, place, role, scope, subject, swap
from .lexicon import lexicon
from .phrases import EVENTS
from .reading import Question
from .roles import reversed_roles
from .tables import pairs, table, words
from .vocabulary import AGAINST, AGAINST_SETS

_CLASHES = frozenset(frozenset(pair) for pair in pairs("clashes"))
_BARE = frozenset(("", "what"))
"""Kinds of keyword queries and of "what is": they may ask for anything that their words name."""
_NAMED = {kind: frozenset(some) for kind, some in table("named").items()}
_ASKERS = frozenset(("who", "when", "where", "why"))
_STRICT_BARE = frozenset(("when", "where", "why"))
"""What has to be named where the other side asks for it."""
_MEASURES = frozenset(
    ("duration", "time", "length", "distance", "height", "weight", "depth", "width", "age", "speed")
)
_LOOSE_TIMES = frozenset(("before", "after", "during"))
_POUND, _POUNDS = "u:pound", {"u:gbp", "u:lb"}
"""A word for money and for weight."""
_TITLES = words("titles")
_SMALL_OPPOSITES = pairs("small opposites")


def number(a: Question, b: Question, both: Alignment) -> str:
    """Numbers, versions and years that are not the same on both sides."""
    x, y = set(a.numbers), set(b.numbers)
    odd = (x ^ y) - ((a.maybe | b.maybe) if not (x - y and y - x) else frozenset())
    if odd and odd == {_year_now(a, b)}:
        odd = set()
    if odd or (
        len(a.numbers) != len(b.numbers) and x == y and not odd and sorted(a.numbers) != sorted(b.numbers)
    ):
        return "/".join(sorted(odd)) or "number of numbers"
    return ""


def _year_now(a: Question, b: Question) -> str:
    """The current year where one side says "current" and the other has the year; else what no number is."""
    for question, other in ((a, b), (b, a)):
        if question.now and not question.numbers and len(other.numbers) == 1:
            return other.numbers[0] if other.numbers[0] == other.year else "-"
    return "-"


def ordinal(a: Question, b: Question, both: Alignment) -> str:
    return "/".join(sorted(a.ordinals ^ b.ordinals))


def date(a: Question, b: Question, both: Alignment) -> str:
    """Months, weekdays, and words of time such as "since" and "tomorrow"."""
    x, y = a.times - b.times, b.times - a.times
    odd = (a.dates ^ b.dates) | x | y
    loose = odd <= _LOOSE_TIMES and not (x and y)
    if loose and all(any(not light(item, a, b) for item in side) for side in both.left):
        return ""  # "who came after" in other words; a verifier judges
    return "/".join(sorted(odd))


def unit(a: Question, b: Question, both: Alignment) -> str:
    """Units and currencies: other ones, or one of several possible ones on one side alone."""
    x, y = a.units - b.units, b.units - a.units
    if _POUND in x | y and (x | y) & _POUNDS:
        x, y = x - _POUNDS - {_POUND}, y - _POUNDS - {_POUND}
    if x and y:
        return "/".join(sorted(x | y))
    for one in x | y:
        if any(one in rivals for rivals in RIVALS) and not _unit_of_question(one, a, b):
            return one
    return ""


def _unit_of_question(one: str, a: Question, b: Question) -> bool:
    """Whether a unit on one side is but the question itself: "how many hours" for a duration."""
    mine, other = (a, b) if one in a.units else (b, a)
    if one in ASKS_WHEN and (other.kind == "when" or "date" in other.keys):
        return True
    return mine.kind == "count" and not other.units and bool(other.keys & _MEASURES)


def negation(a: Question, b: Question, both: Alignment) -> str:
    return f"{a.negations}/{b.negations}" if a.negations != b.negations else ""


def opposite(a: Question, b: Question, both: Alignment) -> str:
    """A word whose opposite stands alone on the other side."""
    lex = lexicon()
    for x in both.left[0]:
        for y in both.left[1]:
            if lex.opposed(x.key, y.key):
                return f"{x.word}/{y.word}"
    one, other = a.small - b.small, b.small - a.small
    for up, down in _SMALL_OPPOSITES:
        if (up in one and down in other) or (down in one and up in other):
            return f"{up}/{down}"
    return ""


def polarity(a: Question, b: Question, both: Alignment) -> str:
    """A word such as "avoid" on one side alone."""
    for mine, others in (both.left, both.left[::-1]):
        for item in mine:
            if item.key in AGAINST and not any(_with(item.key, other.key) for other in others):
                return item.word
    return ""


def _with(a: str, b: str) -> bool:
    return b in AGAINST_SETS.get(a, ())


def contrast(a: Question, b: Question, both: Alignment) -> str:
    """Two things of one kind, one on each side."""
    lex = lexicon()
    for x in both.left[0]:
        for y in both.left[1]:
            if x.kind == y.kind == "word" and lex.sisters(x.key, y.key):
                return f"{x.word}/{y.word}"
    return ""


def entity(a: Question, b: Question, both: Alignment) -> str:
    """A name that the other side does not have."""
    keys = a.keys & b.keys
    # What is there on both sides, once more on one of them, is no other name.
    odd = (item for side in both.left for item in side if item.name and item.key not in keys)
    return "/".join(item.word for item in odd if item.word not in _TITLES)


def pronoun(a: Question, b: Question, both: Alignment) -> str:
    return "he/she" if a.genders != b.genders else ""


def join(a: Question, b: Question, both: Alignment) -> str:
    """Either here, both there."""
    return "and/or" if {a.joins, b.joins} == {frozenset(("and",)), frozenset(("or",))} else ""


def modal(a: Question, b: Question, both: Alignment) -> str:
    return f"{a.modal}/{b.modal}" if a.modal and b.modal and a.modal != b.modal else ""


def sign(a: Question, b: Question, both: Alignment) -> str:
    """Operators, minus signs, emoji: "-5" and "5", "x^2" and "2x"."""
    return f"{''.join(a.signs)} / {''.join(b.signs)}" if a.signs != b.signs else ""


def tense(a: Question, b: Question, both: Alignment) -> str:
    """Who is, and who was."""
    if a.kind != b.kind or a.numbers or a.passive or b.passive:
        return ""
    if {a.tense, b.tense} == {"past", "present"}:
        return f"{a.tense}/{b.tense}"
    return ""


def kind(a: Question, b: Question, both: Alignment) -> str:
    """Questions for a time, a place, a person, a reason, a number, a yes: one on each side."""
    x, y = a.kind, b.kind
    if x == y:
        left, right = (_ASKERS & frozenset(asked.words) for asked in (a, b))
        return "/".join(sorted(left ^ right)) if left - right and right - left else ""
    if frozenset((x, y)) in _CLASHES:
        return f"{x}/{y}"
    if {x, y} == {"count", "what"}:
        what = a if x == "what" else b
        if "which" in what.words or not what.keys & _NAMED["count"]:
            return f"{x}/{y}"
    for mine, other, question in ((x, y, b), (y, x, a)):
        if (
            mine in _STRICT_BARE
            and other in _BARE
            and not any(
                item.key in _NAMED[mine]
                or item.key.endswith("date")
                or (mine == "when" and item.key in EVENTS)
                for item in question.items
            )
        ):
            return f"{mine}/{other or 'keywords'}"
    return ""


def direction(a: Question, b: Question, both: Alignment) -> str:
    return reversed_roles(a, b, both)


GUARDS: tuple[Guard, ...] = (
    number, ordinal, date, unit, negation, opposite, polarity, direction, entity, contrast, pronoun, join,
    sign, modal, tense, kind, scope,
)  # fmt: skip
"""What they object to is never the same question."""
DOUBTS: tuple[Guard, ...] = (form, subject, swap, place, more, able, person, role, how)
"""What they object to seldom is: a verifier must be surer than usual."""


def objection(a: Question, b: Question, both: Alignment) -> tuple[str, str]:
    """The first guard that objects, and what it found; two empty strings where none does."""
    return _first(GUARDS, a, b, both)


def doubt(a: Question, b: Question, both: Alignment) -> tuple[str, str]:
    """The same for guards that only doubt."""
    return _first(DOUBTS, a, b, both)


def _first(guards: tuple[Guard, ...], a: Question, b: Question, both: Alignment) -> tuple[str, str]:
    for guard in guards:
        if found := guard(a, b, both):
            return guard.__name__, found
    return "", ""
