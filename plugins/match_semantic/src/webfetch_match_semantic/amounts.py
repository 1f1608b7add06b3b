"""Numbers, dates, units and currencies as a question has them, in one spelling each."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from .numerals import DAYS, MONTHS, ORDINALS, ROMAN, digits, scaled, spelled
from .tables import pairs, sets, words
from .tokens import Token

UNITS = {word: f"u:{some[0]}" for some in sets("units") for word in some}
_LONE = words("lone units")
_AFTER_NUMBER = {word: f"u:{unit}" for word, unit in pairs("units after numbers")}
RIVALS = tuple(frozenset(f"u:{name}" for name in some) for some in sets("rival units"))
SEASONS = frozenset(("spring", "summer", "autumn", "winter"))
_PER = frozenset(("per", "a", "an", "each", "every", "one", "another"))
_MAYBE = frozenset(("one", "half", "quarter", "once", "couple", "double"))
"""Words that are numbers at times: they count where the other side has the same number."""
_BEFORE_MONTH = frozenset(("in", "since", "until", "of", "last", "next", "this"))


@frozen
class Piece:
    """A word or an amount.

    Attributes:
        key: the word in lower case, or the one spelling of the amount.
        kind: ``word``, ``symbol``, ``number``, ``ordinal``, ``unit``, ``month`` or ``day``.
        form: as written, where it is a word.
        glued: to what stands before it, as ``5`` and ``km`` in ``5km``.
        first: of a sentence, so that a capital says nothing.
        maybe: a number only if the other side has it.
    """

    key: str
    kind: str
    form: str
    glued: bool
    first: bool
    maybe: bool = False


def pieces(found: Sequence[Token]) -> list[Piece]:
    """The tokens with amounts read: numbers in one spelling, units and dates by name."""
    out: list[Piece] = []
    at = 0
    while at < len(found):
        used = 1
        token = found[at]
        before = out[-1] if out else None
        if token.kind == "number":
            out += [Piece(key, kind, token.text, token.glued, token.first) for key, kind in digits(token)]
        elif number := spelled(found, at):
            key, used = number
            maybe = token.text in _MAYBE
            out.append(Piece(key, "number", token.text, token.glued, token.first, maybe))
        elif named := _named(found, at, before):
            out.append(Piece(named[0], named[1], token.text, token.glued, token.first))
        else:
            out.append(Piece(token.text, token.kind, token.form, token.glued, token.first))
        at += used
    return _merged(out)


def _named(found: Sequence[Token], at: int, before: Piece | None) -> tuple[str, str] | None:
    """An ordinal, unit, month or day in words, and which of these it is."""
    word = found[at].text
    after_number = before is not None and (before.kind == "number" or before.key == "°")
    timed = word == "second" and before is not None and (after_number or before.key in _PER)
    if word in ORDINALS and not timed:
        return f"o:{ORDINALS[word]}", "ordinal"
    if word in ROMAN and before is not None:
        return str(ROMAN[word]), "number"
    # "in" is inches where no preposition can be: at the end, or glued to its number.
    if word in _AFTER_NUMBER and after_number and (word != "in" or at + 1 == len(found) or found[at].glued):
        return _AFTER_NUMBER[word], "unit"
    if word in UNITS and (after_number or word not in _LONE):
        return UNITS[word], "unit"
    if word in MONTHS and (word not in ("may", "march") or _dated(found, at)):
        return f"m:{MONTHS[word]}", "month"
    day = DAYS.get(word) or DAYS.get(word.removesuffix("s"))
    return (f"d:{day}", "day") if day else None


def _dated(found: Sequence[Token], at: int) -> bool:
    """Whether "may" or "march" is the month: beside a number, or after "in"."""
    around = [found[n] for n in (at - 1, at + 1) if 0 <= n < len(found)]
    return any(t.kind == "number" for t in around) or (at > 0 and found[at - 1].text in _BEFORE_MONTH)


def _merged(found: Sequence[Piece]) -> list[Piece]:
    """``5`` and ``million`` made one number."""
    out: list[Piece] = []
    for piece in found:
        last = out[-1] if out else None
        value = scaled(last.key, piece.key) if last and last.kind == piece.kind == "number" else None
        if last and value:
            out[-1] = Piece(value, "number", last.form, last.glued, last.first)
        else:
            out.append(piece)
    return out
