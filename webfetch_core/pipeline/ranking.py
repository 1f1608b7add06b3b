"""The rank stage: the cascade with this host's rankers as its scorers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..errors import WebfetchError
from ..models import Chunk, Scored
from ..providers import RankTraits
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.host import Host
from ..runtime.replies import check_partial_scores
from ..stages import Ranker
from .cascade import Ranking, Step, run, steps_for


def passage_of(chunk: Chunk) -> str:
    """What a ranker sees of a chunk: its title and headings say what the text is about."""
    about = " ".join(dict.fromkeys(part for part in (chunk.title, *chunk.heading_path) if part))
    return f"{about}\n{chunk.text}" if about else chunk.text


ScoreWithin = Callable[[Sequence[int], float], Sequence[float | None]]
"""Given places, most important first, and seconds, returns the scores of the whole list that could be had."""

FIRST = 100
"""Passages that the scorers before like best, and that are worth waiting for. Over whole collections, reading
the best 30 and a third of the others by chance came within .012 nDCG@10 of reading all (ADR 0009)."""

FOR_THE_REST = 1 / 16
"""The share of the patience that all others get, beyond those whose scores are known."""


def _read(
    read: ScoreWithin, order: Sequence[int], seconds: float, deadline: Deadline
) -> Sequence[float | None]:
    """Wait ``seconds`` for the first, and not long for the others: what is known of them comes at once."""
    began = deadline.remaining()
    first = read(order[:FIRST], seconds)
    if len(order) <= FIRST:
        return first
    left = seconds - (began - deadline.remaining())
    others = read(order[FIRST:], max(min(left, FOR_THE_REST * seconds), 0.0))
    return [one if one is not None else other for one, other in zip(first, others, strict=True)]


class RankStage:
    """Ranks passages by the settings' cascade; a ranker that fails or is missing costs its step."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def rank(
        self,
        query: str,
        passages: Sequence[str],
        *,
        scope: Scope,
        deadline: Deadline,
        keep: int | None = None,
        prior: Sequence[float] | None = None,
        patience_s: float | None = None,
    ) -> Ranking:
        """Rank ``passages``, best first.

        Raises:
            Cancelled: the caller has cancelled.

        Args:
            keep: how many come out; by default the shortlist, so that duplicates can still be dropped.
            prior: a positive factor for each passage, as in ``cascade.run``.
            patience_s: how long a ranker that can stop anywhere may take over the whole list; None is for
                those who have others to wait for: the settings' patience, and only as ``_read`` tells.
        """
        settings = self._host.settings.ranking
        kept = settings.shortlist if keep is None else keep
        steps = steps_for(
            shortlist=max(settings.shortlist, kept),
            keep=kept,
            biencoder=settings.use_biencoder,
            crossencoder=settings.use_crossencoder,
            lexical_weight=settings.lexical_weight,
        )

        def score(kind: str, some: Sequence[str], order: Sequence[int]) -> Sequence[float | None] | None:
            handle = self._host.ranker(kind)
            if handle is None or not some:
                return None
            # A little is kept back, so that what was scored in time also arrives in time.
            seconds = min(patience_s or settings.patience_s, 0.9 * deadline.remaining())

            def ask(ranker: Ranker) -> Sequence[float | None]:
                within = getattr(ranker, "score_within", None)
                if not callable(within):
                    return ranker.score(query, some)
                read: ScoreWithin = partial(within, query, some)
                return read(order, seconds) if patience_s else _read(read, order, seconds, deadline)

            try:
                scores: tuple[float | None, ...] = self._host.caller.call(
                    handle,
                    ask,
                    scope=scope,
                    deadline=deadline,
                    check=lambda value: check_partial_scores(value, len(some)),
                    count=lambda values: sum(value is not None for value in values),
                )
            except WebfetchError:
                return None
            return scores

        ranking = run(
            steps, passages, score, fusion=settings.fusion, prior=prior, unrelated=self._unrelated(steps)
        )
        deadline.raise_if_cancelled()  # rankers that were not asked or given up are no ranking
        return ranking

    def _unrelated(self, steps: Sequence[Step]) -> dict[str, float]:
        """Where the rankers of these steps draw the line, as far as they do."""
        found: dict[str, float] = {}
        for kind in (kind for step in steps for kind in step.kinds):
            handle = self._host.ranker(kind)
            traits = handle.entry.provider.traits if handle else None
            if isinstance(traits, RankTraits) and traits.unrelated is not None:
                found[kind] = traits.unrelated
        return found


def rank_all(host: Host, query: str, passages: Sequence[str]) -> list[Scored]:
    """Every passage, best first; a ranker may take as long over them as a search may take at all."""
    seconds = host.settings.deadline_s
    ranking = RankStage(host).rank(
        query,
        passages,
        scope=host.scope("rank"),
        deadline=host.deadline(seconds),
        keep=max(len(passages), 1),
        patience_s=seconds,
    )
    placed = {scored.index for scored in ranking.scored}
    rest = (Scored(index=i, score=0.0) for i in range(len(passages)) if i not in placed)
    return [*ranking.scored, *rest]
