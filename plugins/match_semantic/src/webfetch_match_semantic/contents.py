"""The words of content of a question, each with the preposition that tells its role, names marked."""

from __future__ import annotations

from collections.abc import Sequence

from .amounts import SEASONS, Piece
from .asking import AUX, Asked
from .items import Item
from .lexicon import Lexicon
from .numerals import DAYS, MONTHS
from .tables import words
from .vocabulary import DEMONYMS, STOP, SURE_FILLERS, SURE_SAME

MARKERS = words("markers")
_NEUTRAL = words("neutral")
_LETTERED = words("lettered")
_MADE = words("made words")
_CONVERTING = words("converting")
_AMOUNTS = frozenset(("number", "ordinal", "unit", "month", "day"))
_SIGNS = frozenset("+°@<>=→")
_AFTER_A = frozenset(("", "than", "and", "or", "to", "by", "versus", "vs", "from"))
_ASKING = words("asking verbs")
_AFTER_ASKING = frozenset(
    ("me", "us", "the", "a", "an", "all", "some", "out", "about", "how", "what", "my", "this")
)
_LIKENED = words("likened")
"""Words after which "like" is no verb."""
_SPELLINGS = (
    ("our", "or"), ("ise", "ize"), ("isation", "ization"), ("yse", "yze"), ("ogue", "og"), ("tre", "ter"),
)  # fmt: skip
"""British and American endings of one word."""


class Contents:
    """Reads the items of one question."""

    def __init__(self, parts: Sequence[Piece], wanted: Asked, lexicon: Lexicon) -> None:
        self._parts = parts
        self._words = [piece.key for piece in parts]
        self._wanted = wanted
        self._lexicon = lexicon
        self._cased = self._capitals_tell()

    def items(self) -> list[Item]:
        """Return the items in their order."""
        found: list[Item] = []
        marker, named, prep = "", False, ""
        instead: dict[int, list[str]] = {}
        for word, at in self._wanted.instead:
            instead.setdefault(at, []).append(word)
        for at, piece in enumerate(self._parts):
            word = piece.key
            found += [Item(new, new, at, "word", False) for new in instead.get(at, ())]
            if at in self._wanted.said:
                continue
            if word in MARKERS or word in _NEUTRAL or word == "of":
                prep = word
            elif word in AUX or word in ("and", "who", "what", "which", "that"):
                prep = ""
            if piece.kind in _AMOUNTS:
                marker = "" if named else marker
                found.append(Item(word, piece.form.lower(), at, piece.kind, False, marker, prep))
                continue
            shouted = len(word) > 1 and piece.form.isupper() and self._cased  # AS Roma
            tells_role = word in MARKERS and word != "versus" and not shouted
            if tells_role and not (word == "to" and self._infinitive(at)):
                marker, named = word, False
                continue
            if word in _NEUTRAL or word in AUX or word in ("to", "versus"):
                marker = ""
            if piece.kind == "symbol":
                if word in _SIGNS:
                    found.append(Item(word, word, at, "word", True, marker))
            elif shouted or not self._skipped(at, word):
                key = self._key(word)
                name = self._name(at, piece, key)
                # A name is what it is: Aliens are not Alien.
                key = word if name and key not in DEMONYMS and key not in SURE_SAME.values() else key
                if named and not name:
                    marker = ""  # "to Athens direct flights": the preposition ends with the name
                named = name and bool(marker)
                found.append(Item(key, word, at, "word", name, marker, prep))
        return found

    def _key(self, word: str) -> str:
        key = self._lexicon.lemma(word)
        key = SURE_SAME.get(key, key)
        for end, instead in _SPELLINGS:
            american = key[: -len(end)] + instead
            if key.endswith(end) and len(key) > len(end) + 2 and american in self._lexicon.words:
                return american
        return key

    def _skipped(self, at: int, word: str) -> bool:
        if len(word) == 1 and word.isalpha():
            return not self._letter(at, word)
        lemma = self._lexicon.lemma(word)
        if word == "like":
            return at > 0 and self._words[at - 1] in _LIKENED
        if lemma in _ASKING and at == 0 and self._words[1:2] and self._words[1] in _AFTER_ASKING:
            return True
        filler = word in SURE_FILLERS or lemma in SURE_FILLERS
        return word in STOP or (filler and not AUX.isdisjoint(self._words))

    def _letter(self, at: int, word: str) -> bool:
        """Whether a single letter is a name: vitamin C, plan A, "is A larger than B"."""
        if word not in ("a", "i"):
            return True
        before = self._words[at - 1] if at else ""
        after = self._words[at + 1] if at + 1 < len(self._words) else ""
        if before in _LETTERED:
            return True
        upper = self._parts[at].form == "A" and at > 0
        return upper and (after in _AFTER_A or before in AUX | MARKERS | {"and", "or", "between"})

    def _capitals_tell(self) -> bool:
        """Whether capitals tell names: not in titles, which have them on small words too, nor where there are
        none."""
        said = [piece for piece in self._parts if piece.kind == "word" and not piece.first]
        small = [piece.form[:1].islower() for piece in said if piece.key in STOP]
        large = [piece.form[:1].isupper() for piece in said if piece.key not in STOP]
        if not any(large):
            return False
        return 2 * sum(small) >= len(small) if small else len(large) < 3 or not all(large)

    def _name(self, at: int, piece: Piece, key: str) -> bool:
        word = piece.key
        if key in DEMONYMS:
            return True
        if key in MONTHS or key in DAYS or key in SEASONS or key in _MADE:
            return False
        after_digits = piece.glued and at > 0 and self._parts[at - 1].kind == "number"
        if len(word) == 1 or word.endswith(("++", "#")) or after_digits or not self._lexicon.common(key):
            return True
        return self._cased and not piece.first and piece.form[:1].isupper()

    def _infinitive(self, at: int) -> bool:
        """Whether "to" belongs to the verb that follows rather than to a place or receiver."""
        if at + 1 >= len(self._words) or "from" in self._words or self._parts[at + 1].form[:1].isupper():
            return False
        if any(self._lexicon.lemma(word) in _CONVERTING for word in self._words[:at]):
            return False
        following = self._words[at + 1]
        return following in AUX or (
            self._lexicon.verb(following) and self._lexicon.lemma(following) == following
        )
