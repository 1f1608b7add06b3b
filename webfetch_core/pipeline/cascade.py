"""Ranking as data: which scorers, fused how, how many go on. Rankers score; this sorts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from ..models import Scored
from .fusion import RRF_K

Score = Callable[[str, Sequence[str], Sequence[int]], Sequence[float | None] | None]
"""``score(kind, passages, order)``: one float per passage, or None when nothing of that kind can serve. None
for a single passage says that there was no time for it; ``order`` has their places, the ones to score first
first."""


@frozen(kw_only=True)
class Step:
    """One step: the scorers of ``kinds`` are fused and the best ``keep`` passages go on."""

    kinds: tuple[str, ...]
    keep: int


@frozen(kw_only=True)
class Ranking:
    """What a cascade made of a list: best first, the kinds that ran, and those that could not."""

    scored: tuple[Scored, ...]
    ran: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    relevant: bool = True
    """False when the only scorer was lexical and no passage shares a term with the query."""


def steps_for(
    *, shortlist: int, keep: int, biencoder: bool = True, crossencoder: bool = True
) -> tuple[Step, ...]:
    """The default cascade: ``[fuse(lexical, biencoder) keep shortlist] -> [crossencoder keep k]``."""
    first = ("lexical", "biencoder") if biencoder else ("lexical",)
    second = (Step(kinds=("crossencoder",), keep=keep),) if crossencoder else ()
    return (Step(kinds=first, keep=max(shortlist, keep)), *second)


def run(
    steps: Sequence[Step],
    passages: Sequence[str],
    score: Score,
    *,
    fusion: str = "rrf",
    prior: Sequence[float] | None = None,
) -> Ranking:
    """Rank ``passages``. A step without any scorer is passed over and named as lost.

    Either signal of a fused step keeps a passage alive: both see the whole list, in the order in which the
    scorers before liked it. A passage for which a scorer had no time counts as its last. Ties keep the order
    in which the passages were given, so the result is deterministic.

    Args:
        prior: a positive factor for each passage, which the first step that runs multiplies its
            scores by (how well the engines ranked the page). Later steps judge by themselves.
    """
    alive = list(range(len(passages)))
    scores: dict[int, float] = dict.fromkeys(alive, 0.0)
    details: dict[int, dict[str, float]] = {i: {} for i in alive}
    ran: list[str] = []
    lost: list[str] = []
    for step in steps:
        if not alive:
            break
        signals: list[Sequence[float]] = []
        for kind in step.kinds:
            values = score(kind, [passages[i] for i in alive], _best_first(signals, fusion, len(alive)))
            if values is None or all(value is None for value in values):
                lost.append(kind)
                continue
            ran.append(kind)
            last = min(value for value in values if value is not None)
            signals.append([last if value is None else value for value in values])
            for i, value in zip(alive, values, strict=True):
                if value is not None:
                    details[i][kind] = value
        if not signals:
            continue
        fused = _fuse(signals, fusion)
        if prior is not None and min(fused) >= 0:  # a factor would turn the order of negative scores round
            fused = [value * prior[i] for i, value in zip(alive, fused, strict=True)]
        prior = None
        order = sorted(range(len(alive)), key=lambda place: (-fused[place], alive[place]))[: step.keep]
        scores = {alive[place]: fused[place] for place in order}
        alive = [alive[place] for place in order]
    relevant = True
    if ran == ["lexical"]:
        matching = [i for i in alive if details[i]["lexical"] > 0]
        relevant = bool(matching)
        alive = matching or alive
    return Ranking(
        scored=tuple(Scored(index=i, score=scores[i], steps=details[i]) for i in alive),
        ran=tuple(dict.fromkeys(ran)),
        lost=tuple(dict.fromkeys(lost)),
        relevant=relevant,
    )


def _best_first(signals: Sequence[Sequence[float]], fusion: str, n: int) -> list[int]:
    """Places by what the scorers so far think of them; as given where there was none."""
    if not signals:
        return list(range(n))
    fused = _fuse(signals, fusion)
    return sorted(range(n), key=lambda place: (-fused[place], place))


def _fuse(signals: Sequence[Sequence[float]], how: str) -> list[float]:
    if len(signals) == 1:
        return list(signals[0])
    combine = _zscores if how == "zscore" else _reciprocal_ranks
    columns = [combine(signal) for signal in signals]
    return [sum(column[i] for column in columns) for i in range(len(signals[0]))]


def _reciprocal_ranks(values: Sequence[float]) -> list[float]:
    """Equal scores share a place, so that a scorer without an opinion does not order by position."""
    places: dict[float, int] = {}
    for place, value in enumerate(sorted(values, reverse=True), start=1):
        places.setdefault(value, place)
    return [1.0 / (RRF_K + places[value]) for value in values]


def _zscores(values: Sequence[float]) -> list[float]:
    mean = sum(values) / len(values)
    deviation = (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5
    return [(v - mean) / deviation if deviation else 0.0 for v in values]
