"""What a question says, as far as telling two of them apart needs it. Pure; texts are capped."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from attrs import frozen

from .amounts import Piece
from .asking import AUX, asked
from .attributes import attributes
from .contents import Contents
from .items import Item
from .lexicon import lexicon
from .tables import words
from .tokens import MAX_CHARS, folded, letters, plain, signs, tokens
from .wording import is_foreign, worded

MAX_WORDS = 60
KEPT = 2_048
"""Questions that are remembered as read."""

_NEGATIONS = words("negations")
_PARTICIPLES = words("participles")
_TIMES = words("times")
_RELATIVE = words("relative times")
_SMALL = words("small words")
_PAST = frozenset(("was", "were", "did", "had"))
_PRESENT = frozenset(("is", "are", "am", "do", "does", "has", "have"))
BE = frozenset(("is", "are", "was", "were", "be", "been", "being"))
_GENDERS = {
    "he": "m", "him": "m", "his": "m", "himself": "m", "she": "f", "her": "f", "hers": "f", "herself": "f",
}  # fmt: skip
_PERSONS = {
    "i": 1, "me": 1, "my": 1, "mine": 1, "myself": 1, "we": 1, "us": 1, "our": 1, "you": 2, "your": 2,
    "yours": 2, "they": 3, "someone": 3, "somebody": 3, "others": 3, "them": 3, "their": 3, "everyone": 0,
    "everybody": 0, "nobody": 0, "anyone": 0,
}  # fmt: skip
_MODALS = {
    "can": "may",
    "could": "may",
    "may": "may",
    "might": "may",
    "should": "must",
    "must": "must",
    "shall": "must",
}
_NOW = frozenset(
    ("current", "currently", "now", "latest", "newest", "today", "present", "recent", "recently")
)


@frozen
class Question:
    """A text, read.

    Attributes:
        plain: letters, digits and symbols alone, in lower case.
        words: all words and amounts, with turns of phrase as one word each.
        items: those of content.
        kind: the kind of answer that is wanted, "" for keywords (see ``asking``).
        numbers, ordinals, units, dates, times: what there is of each; ``dates`` are months and days,
            ``times`` words such as "since".
        maybe: numbers that may be none: the "one" of "which one".
        negated: what stands after each negation.
        genders: of its pronouns, in their order.
        persons: who it speaks of: 1 for "I", 2 for "you", 3 for "they", 0 for "everyone".
        joins: "and", "or".
        small: words such as "only" and "up", which have no content and still say something.
        modal: ``may`` or ``must``, of a question that begins with such a word.
        tense: of its auxiliaries: ``past``, ``present``, ``both`` or "".
        now: something is to be current.
        passive: the subject is what is acted on.
        foreign, long: nothing else was read; only equality counts.
        year: the year in which it was read.
        signs, accents, capitals: what may make another text of one that has the same words.
        forms: ``past`` and ``will``, whichever it has.
    """

    text: str
    plain: str
    words: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    kind: str = ""
    numbers: tuple[str, ...] = ()
    maybe: frozenset[str] = frozenset()
    ordinals: frozenset[str] = frozenset()
    units: frozenset[str] = frozenset()
    dates: frozenset[str] = frozenset()
    times: frozenset[str] = frozenset()
    negations: int = 0
    negated: frozenset[str] = frozenset()
    genders: tuple[str, ...] = ()
    persons: frozenset[int] = frozenset()
    joins: frozenset[str] = frozenset()
    small: frozenset[str] = frozenset()
    modal: str = ""
    tense: str = ""
    now: bool = False
    passive: bool = False
    foreign: bool = False
    long: bool = False
    year: str = ""
    signs: tuple[str, ...] = ()
    accents: frozenset[str] = frozenset()
    capitals: tuple[str, ...] = ()
    forms: frozenset[str] = frozenset()

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(item.key for item in self.items)


def read(text: str, year: int) -> Question:
    """Read a question.

    Args:
        text: any text; one of more than ``MAX_CHARS`` or ``MAX_WORDS`` is ``long``.
        year: the year it is, for "this year".
    """
    if len(text) > 4 * MAX_CHARS:
        return Question(text=text, plain=text, long=True)
    return _read(text, year)


@lru_cache(maxsize=KEPT)
def _read(text: str, year: int) -> Question:
    bare = plain(text)
    found = tokens(folded(text))
    if len(text) > MAX_CHARS or len(found) > MAX_WORDS:
        return Question(text=text, plain=bare, long=True)
    single, parts = worded(found, year)
    every = tuple(piece.key for piece in parts)
    if is_foreign(single, lexicon()):
        return Question(text=text, plain=bare, words=every, foreign=True)
    wanted = asked([piece.form.lower() if piece.key == "1" else piece.key for piece in parts])
    kind, items = attributes(wanted.kind, Contents(parts, wanted, lexicon()).items())
    if wanted.kind == "when":
        said = {at for at in wanted.said if parts[at].kind == "unit"}
        parts = [piece for at, piece in enumerate(parts) if at not in said]
    return _question(text, bare, parts, every, kind, items, year)


def _question(
    text: str,
    bare: str,
    parts: Sequence[Piece],
    every: tuple[str, ...],
    kind: str,
    items: Sequence[Item],
    year: int,
) -> Question:
    def of(*kinds: str) -> frozenset[str]:
        return frozenset(piece.key for piece in parts if piece.kind in kinds)

    present, past = (any(word in some for word in every) for some in (_PRESENT, _PAST))
    return Question(
        text=text,
        plain=bare,
        words=every,
        items=tuple(items),
        kind=kind,
        numbers=tuple(piece.key for piece in parts if piece.kind == "number"),
        maybe=frozenset(piece.key for piece in parts if piece.maybe),
        ordinals=of("ordinal"),
        units=of("unit"),
        dates=of("month", "day"),
        times=frozenset(word for word in every if word in _TIMES) | _relative(every),
        negations=sum(word in _NEGATIONS for word in every),
        negated=_negated(every, items),
        genders=tuple(_GENDERS[word] for word in every if word in _GENDERS),
        persons=frozenset(_PERSONS[word] for word in every if word in _PERSONS),
        joins=frozenset(every) & {"and", "or"},
        small=frozenset(every) & (_SMALL | {"in", "on"}),
        modal=_modal(every) if kind != "howto" else "",
        tense="both" if present and past else "past" if past else "present" if present else "",
        now=any(word in _NOW for word in every),
        passive=_passive(every),
        year=str(year),
        signs=signs(text),
        accents=letters(text)[0],
        capitals=letters(text)[1],
        forms=_forms(every),
    )


def _negated(every: Sequence[str], items: Sequence[Item]) -> frozenset[str]:
    places = [at for at, word in enumerate(every) if word in _NEGATIONS]
    return frozenset(next((item.key for item in items if item.at > at), "") for at in places)


def _modal(every: Sequence[str]) -> str:
    found = next((word for word in every if word in _MODALS), "")
    return _MODALS.get(found, "")


def _forms(every: Sequence[str]) -> frozenset[str]:
    """Past forms of verbs and what tells the time of them."""
    lex = lexicon()
    past = {word for word in every if word not in AUX and lex.past(word)}
    return frozenset(("past",) if past or any(word in _PAST for word in every) else ()) | (
        frozenset(("will",)) & frozenset(every)
    )


def _relative(every: Sequence[str]) -> frozenset[str]:
    """ "This week", "last month": equal words, and other times."""
    steps = ("this", "last", "next", "previous", "past")
    pairs = pairwise(every)
    return frozenset(f"{a} {b}" for a, b in pairs if a in steps and b in _RELATIVE)


def _passive(every: Sequence[str]) -> bool:
    """Whether a form of "be" and a participle are there, or "by" after a participle."""
    seen = False
    for at, word in enumerate(every):
        done = word.endswith("ed") or word in _PARTICIPLES
        if (seen and done and word not in AUX) or (done and every[at + 1 : at + 2] == ("by",)):
            return True
        seen = seen or word in BE
    return False
