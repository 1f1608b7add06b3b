"""For queries that want a list: units that bring new names go before units that say the same again. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import sqrt

from .features import NAME
from .layout import Placed
from .lines import Kind
from .meaning import standard
from .question import Question
from .words import QUERY_STOPWORDS, terms

LENIENCE = 3.0
"""Standard deviations below the mean at which a unit without new names is worth nothing."""

NOVELTY = 1.0
"""What a new name adds to the worth of a unit, in standard deviations."""

RELEVANT = 0.15
"""Share of the budget that goes to the best units whatever they name: a plural may ask for one sentence.

The three were chosen on 45 plural questions of the training part (41 short and 40 long results keep their
answer at 950 characters; 39 and 32 without this share) and on the 12 captured lists, which lose nothing.
"""

MOST_NAMES = 12
"""Names of one unit that count: a menu of a hundred links is no better list than one of twelve."""

MOST_CANDIDATES = 256
"""Units that are weighed, best by worth and names first; bounds the work on whole documents."""

LONGEST_PIECE = 30
"""Characters of what may be one entry of an enumeration; anything longer is a clause."""

_PIECES = re.compile(r"[,;|/·•、，；]|\s[–—-]\s|\band\b|\bor\b")
_EDGES = " \t.:!?()[]{}\"'“”‘’«»*_`#>=-–—"
_MARKER = re.compile(r"\s*(?:[-*+•‣◦]|\(?\d{1,3}[.):]?)\s+")
_LETTER = re.compile(r"[^\W\d_]")


def names_in(text: str, asked: frozenset[str], kind: Kind = Kind.PROSE) -> frozenset[str]:
    """Return what may be entries of a list in ``text``, case folded: capitalised spans, and the short
    pieces of an enumeration; without what the query names itself.

    Args:
        asked: the terms of the query.
        kind: a list item or table row begins with an entry; any sentence begins with a capital.
    """
    bare = _MARKER.sub("", text, count=1)
    found: set[str] = set()
    for span in NAME.finditer(bare):
        name = span.group()
        if span.start() == 0 and " " not in name and name.casefold() in QUERY_STOPWORDS:
            continue
        found.add(name)
    pieces = [piece.strip(_EDGES) for piece in _PIECES.split(bare)]
    if len(pieces) > 2 or kind in (Kind.ITEM, Kind.ROW):
        found.update(piece for piece in pieces if 1 < len(piece) < LONGEST_PIECE and _LETTER.search(piece))
    plain = {name.strip(_EDGES).casefold() for name in found}
    return frozenset(name for name in plain if name and not set(terms(name)) <= asked)


def choose_diverse(
    question: Question,
    placed: Sequence[Placed],
    scores: Sequence[float],
    budget: int,
    header_cost: Mapping[str, int],
    dropped: set[int],
    bundles: Callable[[int], Sequence[Sequence[int]]],
) -> set[int]:
    """Return the indices of the units to keep: each time the one with the most worth for its cost.

    The first :data:`RELEVANT` of the budget goes by score alone. A unit's worth is its score in standard
    deviations above :data:`LENIENCE` below the mean, and :data:`NOVELTY` for each name that nothing kept so
    far has; it is weighed against the square root of the characters it costs, header included where its
    source is not open yet.

    Args:
        budget: characters, headers of sources included.
        header_cost: by source: what opening it costs, once.
        dropped: units that are never kept.
        bundles: what to try for a unit that is chosen, the fullest first.
    """
    asked = frozenset(question.terms)
    names = [names_in(p.unit.text, asked, p.unit.kind) for p in placed]
    worth = [LENIENCE + value for value in standard(scores)]
    left = budget
    kept: set[int] = set()
    opened: set[str] = set()
    listed: set[str] = set()

    def cost_of(some: Iterable[int]) -> int:
        new = [k for k in some if k not in kept]
        sources = {placed[k].source for k in new} - opened
        return sum(len(placed[k].unit.text) + 1 for k in new) + sum(header_cost[s] for s in sources)

    def gain(i: int) -> float:
        return (worth[i] + NOVELTY * min(MOST_NAMES, len(names[i] - listed))) / sqrt(cost_of([i]))

    usable = [i for i in range(len(placed)) if i not in dropped]
    open_ones = sorted(usable, key=lambda i: (-gain(i), i))[:MOST_CANDIDATES]
    while open_ones:
        by_score = left > (1 - RELEVANT) * budget
        best = max(open_ones, key=lambda i: (scores[i] if by_score else gain(i), -i))
        open_ones.remove(best)
        if not by_score and gain(best) <= 0:
            break
        for wanted in bundles(best):
            cost = cost_of(wanted)
            if cost <= left:
                left -= cost
                kept.update(wanted)
                opened |= {placed[k].source for k in wanted}
                listed.update(*(names[k] for k in wanted))
                open_ones = [i for i in open_ones if i not in kept]
                break
    return kept
