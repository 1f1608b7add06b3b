"""What kind of answer a question wants: a time, a place, a person, a number, a yes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from attrs import frozen

from .attributes import ASKS_WHEN
from .phrases import HOWTO, QUESTIONS, rewrite
from .tables import words

AUX = words("auxiliaries")
YESNO = AUX - {"be", "been", "being"}
_ASKS_WHERE = words("asks where")
_HOWTO_WITHIN = 12
"""Words among which "how do I" and the like are looked for: before it come courtesies."""
_PEOPLE = frozenset(("who", "whom", "whose"))
_REASONS = frozenset(("reason", "reasons", "cause", "causes"))


@frozen
class Asked:
    """The kind of answer that is wanted.

    Attributes:
        kind: ``who when where why howto manner degree measure count amount price meaning yesno what``, or ""
            for a query of keywords.
        said: places of the words that said so.
        instead: words that stand for them, each with the place of the first.
    """

    kind: str
    said: frozenset[int] = frozenset()
    instead: tuple[tuple[str, int], ...] = ()


def asked(found: Sequence[str]) -> Asked:
    """Return what kind of answer the words ask for."""
    for at in range(min(len(found), _HOWTO_WITHIN)):
        for phrase in HOWTO:
            end = at + len(phrase)
            if tuple(found[at:end]) == phrase and end < len(found):
                return Asked("howto", frozenset(range(at, end)))
    changed = rewrite(found, QUESTIONS)
    instead = tuple((word, at) for word, at in changed if word != found[at])
    if instead:
        kept = {at for word, at in changed if word == found[at]}
        kind = {"price": "price", "population": "count"}.get(instead[0][0], "measure")
        return Asked(kind, frozenset(range(len(found))) - kept, instead)
    return _by_word(found)


def _by_word(found: Sequence[str]) -> Asked:
    for n, word in enumerate(found):
        following = found[n + 1] if n + 1 < len(found) else ""
        if word in _PEOPLE:
            return Asked("who", frozenset((n,)))
        if word in ("when", "where", "why"):
            return Asked(word, frozenset((n,)))
        if word in ("what", "which"):
            if following in ASKS_WHEN:
                return Asked("when", frozenset((n, n + 1)))
            if following in _ASKS_WHERE:
                return Asked("where", frozenset((n,)))
            if following in ("number",):
                return Asked("count", frozenset((n, n + 1)))
            if following in ("cause", "causes", "caused", "makes"):
                return Asked("why", frozenset((n, n + 1) if following == "makes" else (n,)))
        if word == "how":
            return _how(n, following)
    if any(a in _REASONS and b in ("for", "why", "behind", "of") for a, b in pairwise(found)):
        return Asked("why")
    for n, (a, b) in enumerate(pairwise(found)):
        if a == "number" and b == "of" and "which" not in found:
            return Asked("count", frozenset((n,)))
    if found and found[0] in YESNO:
        return Asked("yesno")
    return Asked("what" if "what" in found or "which" in found else "")


def _how(at: int, following: str) -> Asked:
    if following == "many":
        return Asked("count", frozenset((at, at + 1)))
    if following == "much":
        return Asked("amount", frozenset((at, at + 1)))
    if following == "come":
        return Asked("why", frozenset((at, at + 1)))
    return Asked("manner" if following in AUX else "degree", frozenset((at,)))
