"""The pieces of a question brought to one wording: contractions in full, turns of phrase as one word."""

from __future__ import annotations

from collections.abc import Sequence

from .amounts import Piece, pieces
from .lexicon import Lexicon
from .phrases import ALIASES, CONTRACTED, rewrite
from .tables import words
from .tokens import Token
from .vocabulary import STOP

_FOREIGN = words("foreign")
_NAMES = words("names of aliases")
_ASKING = frozenset(("what", "who", "where", "when", "how", "why", "that", "there", "it", "he", "she"))
_ASKERS = frozenset(("what", "who", "whom", "whose", "where", "when", "how", "why", "which"))
_COURTESIES = words("courtesies")
_COURTESY_WITHIN = 12
_ENDINGS = {"re": "are", "ve": "have", "ll": "will", "m": "am"}
_STEPS = {"this": 0, "current": 0, "last": -1, "previous": -1, "next": 1}
_PRONOUN_AFTER = frozenset(
    ("tell", "give", "show", "let", "help", "make", "for", "to", "with", "between", "around", "about", "most",
     "all")
)  # fmt: skip
_COUNTRY_AFTER = frozenset(("", "the", "in", "of", "what", "which", "current", "is", "was"))


def worded(found: Sequence[Token], year: int) -> tuple[list[Piece], list[Piece]]:
    """Return the pieces of a question, word by word and with turns of phrase joined.

    Args:
        year: the year it is, for "this year".
    """
    single = _dated(_asked_for(pieces(_expanded(found))), year)
    return single, _joined(single)


def _asked_for(found: list[Piece]) -> list[Piece]:
    """The question without the courtesies before it: "could you please tell me what" as "what"."""
    for at, piece in enumerate(found[:_COURTESY_WITHIN]):
        if piece.key in _ASKERS:
            return found[at:] if at and all(p.key in _COURTESIES for p in found[:at]) else found
    return found


def _expanded(found: Sequence[Token]) -> list[Token]:
    """Contractions in full; the "s" of a possessive is dropped."""
    out: list[Token] = []
    for token in found:
        word = token.text
        if token.kind != "word" or ("'" not in word and word not in CONTRACTED):
            out.append(token)
            continue
        some = _full(word)
        form = token.form.partition("'")[0]
        out.append(Token(some[0], "word", token.glued, form, token.first))
        out += [Token(more, "word", False, more) for more in some[1:]]
    return out


def _full(word: str) -> tuple[str, ...]:
    if word in CONTRACTED:
        return CONTRACTED[word]
    if word.endswith("n't"):
        return (word[:-3], "not") if len(word) > 3 else ("not",)
    stem, _, end = word.partition("'")
    if end in _ENDINGS:
        return stem, _ENDINGS[end]
    if end == "s" and stem in _ASKING:
        return stem, "is"
    return (stem,) if end in ("s", "d", "") else (stem, end)


def _dated(found: Sequence[Piece], year: int) -> list[Piece]:
    """ "This year" as its number; "year" right before or after a year says nothing."""
    out: list[Piece] = []
    for piece in found:
        last = out[-1] if out else None
        if piece.key == "u:year" and piece.form == "year" and last and last.key in _STEPS:
            out[-1] = Piece(str(year + _STEPS[last.key]), "number", "year", False, False)
        else:
            out.append(piece)
    return out


def _joined(found: list[Piece]) -> list[Piece]:
    """Turns of phrase as one word each."""
    out: list[Piece] = []
    # As written: "second world war" and "opening hours" are no amounts.
    written = [piece.key if piece.kind in ("word", "symbol") else piece.form.lower() for piece in found]
    for word, at in rewrite(written, ALIASES):
        piece = found[at]
        if word == written[at]:
            out.append(piece)
        else:
            form = word.upper() if word in _NAMES else word
            out.append(Piece(word, "word", form, False, piece.first and word not in _NAMES))
    for at, piece in enumerate(out):
        if piece.key == "us" and _country(out, at):
            out[at] = Piece("usa", "word", "USA", piece.glued, False)
    return out


def _country(found: Sequence[Piece], at: int) -> bool:
    """Whether "us" is the country: in capitals, or where no pronoun would stand."""
    before = found[at - 1].key if at else ""
    return (
        found[at].form == "US"
        or before in _COUNTRY_AFTER
        or (at + 1 < len(found) and before not in _PRONOUN_AFTER)
    )


def is_foreign(parts: Sequence[Piece], lexicon: Lexicon) -> bool:
    """Whether a text is in a language that nothing here reads."""
    found = [piece for piece in parts if piece.kind == "word"]
    letters = "".join(piece.key for piece in found)
    if sum(not c.isascii() for c in letters) * 5 > len(letters):
        return True
    strange = sum(piece.key in _FOREIGN for piece in found)
    english = sum(piece.key in STOP for piece in found)
    if strange > english:
        return True
    lower = [piece.key for piece in found if piece.form.islower() and piece.key not in STOP]
    known = any(lexicon.common(lexicon.lemma(word)) or word in lexicon.names for word in lower)
    return len(lower) >= 3 and not english and not known
