"""Which units are kept: greedily by score under one budget for all sources, with the guards. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .diversity import choose_diverse
from .features import PRONOUN_START
from .layout import Placed
from .leads import introduced, lead_ins
from .lines import Kind
from .question import Question

INTRODUCED = 1.0
"""A unit no further below the best brings the question or heading that introduces it; the others get theirs
from what is left in the end. At 285 questions to a small encyclopaedia, with excerpts of 1,600 characters,
that costs no answer at 600, 1,100 and 2,000 characters; to bring them all changes one, either way.
"""

_MAX_ANTECEDENTS = 3
_SHORTEST_REPEAT = 20
_NOT_WORD = re.compile(r"[\W_]+")


def choose(
    question: Question,
    placed: Sequence[Placed],
    scores: Sequence[float],
    budget: int,
    header_cost: Mapping[str, int],
    titles: Mapping[str, str],
    floor: float,
) -> set[int]:
    """Return the indices of the units to keep.

    Best score first; what does not fit is skipped, and what is far below the best is left out
    unless the query wants a list. A unit comes with what it cannot stand without:
    the header rows of its table, the sentences its pronoun refers to, and, when the query wants a
    list, the rest of its list; and near the best one with the question or the heading that introduces
    it. A question or a heading comes with what stands below it. Where these do not fit, it comes alone.

    Args:
        budget: characters, headers of sources included.
        header_cost: by source: what opening it costs, once.
        titles: by source: the title in its header.
        floor: how far below the best one a unit is left out.
    """
    left = budget
    kept: set[int] = set()
    opened: set[str] = set()
    dropped = repeats(placed, scores)
    groups = _lists(placed) if question.wants_list else {}
    order = sorted(range(len(placed)), key=lambda i: (-scores[i], i))
    if question.wants_list:
        return choose_diverse(
            question,
            placed,
            scores,
            budget,
            header_cost,
            dropped,
            lambda i: _bundles(i, placed, groups, dropped, ()),
        )
    least = scores[order[0]] - floor
    near = scores[order[0]] - INTRODUCED
    for i in order:
        if scores[i] < least:
            break
        if i in kept or i in dropped or len(placed[i].unit.text) >= left:
            continue
        lead = lead_ins(i, placed, titles[placed[i].source]) if scores[i] >= near else []
        company = [k for k in (*lead, *introduced(i, placed)) if k not in dropped]
        for wanted in _bundles(i, placed, groups, dropped, company):
            new = [k for k in wanted if k not in kept]
            cost = sum(len(placed[k].unit.text) + 1 for k in new)
            sources = {placed[k].source for k in new} - opened
            cost += sum(header_cost[source] for source in sources)
            if cost <= left:
                left -= cost
                kept.update(new)
                opened |= sources
                break
    for i in [i for i in order if i in kept]:
        for k in lead_ins(i, placed, titles[placed[i].source]):
            cost = len(placed[k].unit.text) + 1
            if k not in kept and k not in dropped and cost <= left:
                left -= cost
                kept.add(k)
    return kept


def repeats(placed: Sequence[Placed], scores: Sequence[float]) -> set[int]:
    """Return the units that say nothing another one does not: equal to it, or part of it."""
    plain = [_NOT_WORD.sub(" ", p.unit.text.casefold()).strip() for p in placed]
    by_length = sorted(range(len(placed)), key=lambda i: (-len(plain[i]), placed[i].rank, -scores[i], i))
    gone: set[int] = set()
    held: list[str] = []
    for i in by_length:
        text = plain[i]
        if (not text and placed[i].unit.kind is not Kind.ROW) or (
            len(text) >= _SHORTEST_REPEAT and any(text in other for other in held)
        ):
            gone.add(i)
        else:
            held.append(text)
    return gone


def _bundles(
    i: int,
    placed: Sequence[Placed],
    groups: Mapping[int, Sequence[int]],
    dropped: set[int],
    company: Sequence[int],
) -> list[list[int]]:
    """What to try for unit ``i``, the fullest first; ``company`` introduces it, or is introduced by it."""
    needed = [*_table_head(i, placed), *_antecedents(i, placed, dropped), i]
    tries = [sorted({*groups[i], *needed})] if i in groups else []
    if company:
        tries += [sorted({*company, *whole}) for whole in (*tries, needed)]
        tries.sort(key=len, reverse=True)
    tries.append(needed)
    if placed[i].unit.kind is not Kind.ROW and len(needed) > 1:
        tries.append([i])
    return tries


def _table_head(i: int, placed: Sequence[Placed]) -> list[int]:
    unit = placed[i].unit
    if unit.kind is not Kind.ROW or not unit.header:
        return []
    first = i
    while first and _same_block(placed, first - 1, i):
        first -= 1
    return [k for k in range(first, first + unit.header) if k < len(placed) and k != i]


def _antecedents(i: int, placed: Sequence[Placed], dropped: set[int]) -> list[int]:
    """The sentences before a pronoun start, back to the one that names its subject."""
    needed: list[int] = []
    at = i
    while len(needed) < _MAX_ANTECEDENTS and placed[at].unit.kind is Kind.PROSE:
        if not PRONOUN_START.match(placed[at].unit.text) or at == 0 or not _same_block(placed, at - 1, at):
            break
        at -= 1
        if at not in dropped:
            needed.append(at)
    return needed[::-1]


def _same_block(placed: Sequence[Placed], one: int, other: int) -> bool:
    return placed[one].chain == placed[other].chain and placed[one].unit.block == placed[other].unit.block


def _lists(placed: Sequence[Placed]) -> dict[int, list[int]]:
    """For every item of a list: all units of that list, the line that introduces it first."""
    groups: dict[int, list[int]] = {}
    run: list[int] = []
    for i, p in enumerate([*placed, None]):
        if p is not None and p.unit.kind is Kind.ITEM and (not run or placed[run[-1]].chain == p.chain):
            run.append(i)
            continue
        if len(run) > 1:
            lead = run[0] - 1
            introduces = (
                lead >= 0 and placed[lead].chain == placed[run[0]].chain and _introduces(placed[lead])
            )
            whole = [lead, *run] if introduces else run
            groups.update(dict.fromkeys(run, whole))
        run = [i] if p is not None and p.unit.kind is Kind.ITEM else []
    return groups


def _introduces(placed: Placed) -> bool:
    return placed.unit.kind is Kind.HEADING or placed.unit.text.rstrip().endswith((":", "："))
