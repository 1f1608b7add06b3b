"""Ranking as data: which scorers, fused how, how many go on. Rankers score; this sorts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log

from attrs import Factory, frozen

from ..models import Scored
from .fusion import RRF_K

Score = Callable[[str, Sequence[str], Sequence[int]], Sequence[float | None] | None]
"""``score(kind, passages, order)``: one float per passage, or None when nothing of that kind can serve. None
for a single passage says that there was no time for it; ``order`` has their places, the ones to score first
first."""

PRIOR_WEIGHT = 1.0
"""What the logarithm of a prior counts beside scores that it cannot multiply, in their standard deviations.
From 0 to 2 it made almost no difference to the mini web's answers: it decides between near equals."""


@frozen(kw_only=True)
class Step:
    """One step: the scorers of ``kinds`` are fused and the best ``keep`` passages go on."""

    kinds: tuple[str, ...]
    keep: int
    weights: Mapping[str, float] = Factory(dict)
    """What a kind counts in the fusion; 1.0 where nothing is said."""


@frozen(kw_only=True)
class Ranking:
    """What a cascade made of a list: best first, the kinds that ran, and those that could not."""

    scored: tuple[Scored, ...]
    ran: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    relevant: bool = True
    """False when every scorer that ran says of every passage that it has nothing to do with the query."""


def steps_for(
    *,
    shortlist: int,
    keep: int,
    biencoder: bool = True,
    crossencoder: bool = True,
    lexical_weight: float = 1.0,
) -> tuple[Step, ...]:
    """The default cascade: ``[fuse(lexical, biencoder) keep shortlist] -> [crossencoder keep k]``."""
    kinds = ("lexical", "biencoder") if biencoder else ("lexical",)
    first = Step(kinds=kinds, keep=max(shortlist, keep), weights={"lexical": lexical_weight})
    second = (Step(kinds=("crossencoder",), keep=keep),) if crossencoder else ()
    return (first, *second)


def run(
    steps: Sequence[Step],
    passages: Sequence[str],
    score: Score,
    *,
    fusion: str = "zscore",
    prior: Sequence[float] | None = None,
    unrelated: Mapping[str, float] | None = None,
) -> Ranking:
    """Rank ``passages``. A step without any scorer is passed over and named as lost.

    Either signal of a fused step keeps a passage alive: both see the whole list, in the order in which the
    scorers before liked it. A passage for which a scorer had no time counts as what the scorers before lead
    one to expect, or as its last where there are none. Ties keep the order in which the passages were given,
    so the result is deterministic.

    Args:
        fusion: ``zscore`` adds the standard scores of the scorers, ``rrf`` their reciprocal ranks.
        prior: a positive factor for each passage (how well the engines ranked the page), which the first
            step that runs multiplies its scores by. Scores without a zero to multiply from, which are
            standard scores and cosines, get its logarithm added, times ``PRIOR_WEIGHT`` of their standard
            deviations. Later steps judge by themselves.
        unrelated: by kind: the score up to which a passage has nothing to do with the query; 0 for a lexical
            scorer, unless told otherwise. Where each kind that ran has one, passages that none of them finds
            related are left out, unless that would be all.
    """
    alive = list(range(len(passages)))
    scores: dict[int, float] = dict.fromkeys(alive, 0.0)
    details: dict[int, dict[str, float]] = {i: {} for i in alive}
    ran: list[str] = []
    lost: list[str] = []
    for step in steps:
        if not alive:
            break
        signals: dict[str, Sequence[float]] = {}
        for kind in step.kinds:
            values = score(kind, [passages[i] for i in alive], _best_first(signals, fusion, len(alive)))
            if values is None or all(value is None for value in values):
                lost.append(kind)
                continue
            ran.append(kind)
            signals[kind] = _completed(values, _fuse(signals, fusion, step.weights) if signals else None)
            for i, value in zip(alive, values, strict=True):
                if value is not None:
                    details[i][kind] = value
        if not signals:
            continue
        fused = _fuse(signals, fusion, step.weights)
        if prior is not None:
            has_zero = fusion == "rrf" if len(signals) > 1 else set(signals) == {"lexical"}
            fused = _weighed(fused, [prior[i] for i in alive], has_zero=has_zero)
        prior = None
        order = sorted(range(len(alive)), key=lambda place: (-fused[place], alive[place]))[: step.keep]
        scores = {alive[place]: fused[place] for place in order}
        alive = [alive[place] for place in order]
    relevant = True
    bounds = {"lexical": 0.0, **(unrelated or {})}
    if ran and set(ran) <= set(bounds):
        related = [i for i in alive if any(value > bounds[kind] for kind, value in details[i].items())]
        relevant = bool(related)
        alive = related or alive
    return Ranking(
        scored=tuple(Scored(index=i, score=scores[i], steps=details[i]) for i in alive),
        ran=tuple(dict.fromkeys(ran)),
        lost=tuple(dict.fromkeys(lost)),
        relevant=relevant,
    )


def _best_first(signals: Mapping[str, Sequence[float]], fusion: str, n: int) -> list[int]:
    """Places by what the scorers so far think of them; as given where there was none."""
    if not signals:
        return list(range(n))
    fused = _fuse(signals, fusion, {})
    return sorted(range(n), key=lambda place: (-fused[place], place))


def _completed(values: Sequence[float | None], liked: Sequence[float] | None) -> list[float]:
    """Scores with an estimate where there was no time for one.

    Which passages were read is in part chance (vectors of pages that came early), so an unread one may not
    count as bad. Its score is told from what the scorers before think of it (``liked``), by least squares
    over the passages that were read; it lies within what was given, and more liking never means less.
    """
    known = [(value, place) for place, value in enumerate(values) if value is not None]
    low, high = min(known)[0], max(known)[0]
    if liked is None or len(known) == len(values):
        return [low if value is None else value for value in values]
    mean = sum(value for value, _ in known) / len(known)
    middle = sum(liked[place] for _, place in known) / len(known)
    spread = sum((liked[place] - middle) ** 2 for _, place in known)
    shared = sum((value - mean) * (liked[place] - middle) for value, place in known)
    slope = max(shared / spread, 0.0) if spread else 0.0
    return [
        min(max(mean + slope * (liked[place] - middle), low), high) if value is None else value
        for place, value in enumerate(values)
    ]


def _fuse(signals: Mapping[str, Sequence[float]], how: str, weights: Mapping[str, float]) -> list[float]:
    if len(signals) == 1:
        return list(*signals.values())
    combine = _zscores if how == "zscore" else _reciprocal_ranks
    columns = [
        [weights.get(kind, 1.0) * value for value in combine(signal)] for kind, signal in signals.items()
    ]
    return [sum(values) for values in zip(*columns, strict=True)]


def _weighed(fused: Sequence[float], prior: Sequence[float], *, has_zero: bool) -> list[float]:
    """Scores with the prior in them: the better of two equal passages is the one of the better page."""
    if has_zero and min(fused) >= 0:
        return [value * factor for value, factor in zip(fused, prior, strict=True)]
    unit = PRIOR_WEIGHT * (_deviation(fused) or 1.0)
    return [value + unit * log(factor) for value, factor in zip(fused, prior, strict=True)]


def _reciprocal_ranks(values: Sequence[float]) -> list[float]:
    """Equal scores share a place, so that a scorer without an opinion does not order by position."""
    places: dict[float, int] = {}
    for place, value in enumerate(sorted(values, reverse=True), start=1):
        places.setdefault(value, place)
    return [1.0 / (RRF_K + places[value]) for value in values]


def _zscores(values: Sequence[float]) -> list[float]:
    mean, deviation = sum(values) / len(values), _deviation(values)
    return [(v - mean) / deviation if deviation else 0.0 for v in values]


def _deviation(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return float((sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5)
