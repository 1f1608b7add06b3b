"""Words by hand: what a general dictionary does not say, or says too loosely for telling two questions apart.

What each list is for is said in ``data/words.txt``.
"""

from __future__ import annotations

from .tables import pairs, sets, table, together, words

STOP = words("stop")
FILLERS = words("fillers")
SURE_FILLERS = words("sure fillers")
IMPLIED = {kind: frozenset(some) for kind, some in table("implied").items()}
KINDS = words("kinds")
COMMON = words("common")
SAME = together("same")
OPPOSITES = pairs("opposites")
AGAINST = words("against")
AGAINST_SETS = together("against sets")
SCOPE = words("scope")
SURE_SAME = dict(pairs("sure same"))
DEMONYMS = dict(pairs("demonyms"))


def groups() -> dict[str, frozenset[str]]:
    """For every word of ``contrasts`` the numbers of the lines that it stands on, as text."""
    found: dict[str, set[str]] = {}
    for n, some in enumerate(sets("contrasts")):
        for word in some:
            found.setdefault(word, set()).add(str(n))
    return {word: frozenset(some) for word, some in found.items()}
