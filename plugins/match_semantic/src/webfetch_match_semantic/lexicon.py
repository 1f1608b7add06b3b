"""What is known of English words: which are common, and how they are related. Read once, on first use."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from math import log
from typing import NamedTuple

from attrs import frozen

from .tables import words
from .vocabulary import COMMON, OPPOSITES, SAME, groups

MOST_USES = 10_000
"""Uses at which a word's weight is 0, nearly; a name has the weight of a word that was met once."""


class Entry(NamedTuple):
    """A common word: its parts of speech (``nvar``), frequent senses, the heading above the first, uses."""

    pos: str
    senses: frozenset[int]
    above: int
    uses: int


@frozen(eq=False)
class Lexicon:
    """Words by lemma, in lower case."""

    words: Mapping[str, Entry]
    forms: Mapping[str, str]
    names: frozenset[str]
    opposites: Mapping[str, frozenset[str]]
    family: Mapping[str, frozenset[str]]
    groups: Mapping[str, frozenset[str]]

    # ---- single words ---------------------------------------------------------------------------

    def common(self, lemma: str) -> bool:
        """Whether a lemma is an everyday word, so that it is unlikely to be a name."""
        base = lemma.partition(":")[0]
        return base in self.words or base in COMMON

    def weight(self, lemma: str) -> float:
        """How telling a lemma is, from 0.1 (everywhere) to 1 (a name)."""
        base = lemma.partition(":")[0]
        uses = self.words[base].uses if base in self.words else 20 if base in COMMON else 1
        return max(0.1, 1.0 - log(max(uses, 1)) / log(MOST_USES))

    def verb(self, lemma: str) -> bool:
        return lemma in self.words and "v" in self.words[lemma].pos

    def past(self, word: str) -> bool:
        """Whether a word is the past form of a verb."""
        lemma = self.lemma(word)
        if lemma == word or word.endswith(("s", "ing")):
            return False
        return word.endswith("ed") or (word in self.forms and self.verb(lemma))

    def mostly_noun(self, lemma: str) -> bool:
        return lemma in self.words and self.words[lemma].pos[0] == "n"

    def mostly_verb(self, lemma: str) -> bool:
        return lemma in self.words and self.words[lemma].pos[0] == "v"

    def lemma(self, word: str) -> str:
        """The base form of a word; a degree stays with it, as ``large:est``."""
        return _lemma(self, word)

    # ---- two words ------------------------------------------------------------------------------

    def synonyms(self, a: str, b: str) -> bool:
        """Whether two lemmas have a frequent sense in common."""
        (x, dx), (y, dy) = _degree(a), _degree(b)
        if dx != dy:
            return False
        if x == y or y in SAME.get(x, ()):
            return True
        if x not in self.words or y not in self.words:
            return False
        return bool(self.words[x].senses & self.words[y].senses)

    def relatives(self, a: str, b: str) -> bool:
        """Whether one lemma is made from the other: acquire, acquisition."""
        if f"{a}ly" == b or f"{b}ly" == a:
            return True
        return b in self.family.get(a, ()) and not _roles_of_one(a, b)

    def opposed(self, a: str, b: str) -> bool:
        """Whether two lemmas say the opposite of each other."""
        (x, dx), (y, dy) = _degree(a), _degree(b)
        if dx != dy:
            return False
        if y in self.opposites.get(x, ()) or _negated(x, y) or _negated(y, x):
            return True
        return any(
            not SAME.get(one, _NONE).isdisjoint(self.opposites.get(other, _NONE))
            for one, other in ((x, y), (y, x))
        )

    def sisters(self, a: str, b: str) -> bool:
        """Whether two lemmas are different things of one kind: violin, guitar."""
        if self.groups.get(a, frozenset()) & self.groups.get(b, frozenset()):
            return True
        if a not in self.words or b not in self.words:
            return False
        x, y = self.words[a], self.words[b]
        return x.above >= 0 and x.above == y.above and not x.senses & y.senses


_NONE: frozenset[str] = frozenset()
_NEGATIVE = ("un", "in", "im", "il", "ir", "dis", "non", "anti", "de", "mis")


def _negated(a: str, b: str) -> bool:
    """Whether ``b`` is ``a`` with a prefix that turns it round: install, uninstall."""
    return len(a) > 3 and b.endswith(a) and b[: -len(a)] in _NEGATIVE


def _roles_of_one(a: str, b: str) -> bool:
    """employer and employee, useful and useless, economy and economist: related, and not the same."""
    ends = ("ee", "less", "ist", "ian", "ful", "ess", "able", "ible")
    return any(a.endswith(end) != b.endswith(end) for end in ends)


def _degree(lemma: str) -> tuple[str, str]:
    base, _, degree = lemma.partition(":")
    return base, degree


_FINAL = (
    ("ies", "y"), ("ied", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("zes", "z"),
    ("ves", "f"), ("ves", "fe"), ("es", "e"), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e"),
    ("ed", "e"), ("ed", ""),
)  # fmt: skip
_DEGREES = (
    ("iest", "y", "est"),
    ("ier", "y", "er"),
    ("est", "e", "est"),
    ("est", "", "est"),
    ("er", "e", "er"),
    ("er", "", "er"),
)


@lru_cache(maxsize=20_000)
def _lemma(lexicon: Lexicon, word: str) -> str:
    known = lexicon.words
    if word in _KEPT or len(word) < 3:
        return word
    if word in lexicon.forms:
        return lexicon.forms[word]
    uses = known[word].uses if word in known else 0

    def better(base: str) -> bool:
        return len(base) > 2 and (base in COMMON or (base in known and known[base].uses >= uses))

    for end, instead in _FINAL:
        if not word.endswith(end):
            continue
        base = word[: -len(end)] + instead
        if better(base) or (end == "ed" and len(base) > 2 and base in known and "v" in known[base].pos):
            return base
        if (
            end in ("ing", "ed")
            and not instead
            and len(base) > 3
            and base[-1] == base[-2]
            and better(base[:-1])
        ):
            return base[:-1]
    verb = word in known and "v" in known[word].pos  # "bother" is no degree of "both"
    for end, instead, degree in _DEGREES:
        if verb or not word.endswith(end):
            continue
        base = word[: -len(end)] + instead
        if not instead and len(base) > 3 and base[-1] == base[-2] and base not in known:
            base = base[:-1]
        if better(base) and base in known and known[base].pos[0] in "ar":
            return f"{base}:{degree}"
    if word in known:
        return word
    return word


_KEPT = words("kept forms")
"""Words that are no form of another one, whatever they look like."""


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lexicon that ships with the plugin: about 60 ms, once a process."""
    packed = files(__package__).joinpath("data", "lexicon.json.xz").read_bytes()
    data = json.loads(lzma.decompress(packed))
    opposites: dict[str, set[str]] = {}
    for a, b in (*data["opposites"], *OPPOSITES):
        opposites.setdefault(a, set()).add(b)
        opposites.setdefault(b, set()).add(a)
    family: dict[str, set[str]] = {}
    for a, b in data["family"]:
        family.setdefault(a, set()).add(b)
        family.setdefault(b, set()).add(a)
    return Lexicon(
        words={
            w: Entry(pos, frozenset(senses), above, uses)
            for w, (pos, senses, above, uses) in data["words"].items()
        },
        forms={form: lemma for form, lemma in data["forms"].items() if form not in _KEPT},
        names=frozenset(data["names"]),
        opposites={w: frozenset(some) for w, some in opposites.items()},
        family={w: frozenset(some) for w, some in family.items()},
        groups=groups(),
    )
