"""The rank stage: the cascade with this host's rankers as its scorers."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import WebfetchError
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.host import Host
from ..runtime.replies import check_scores
from .cascade import Ranking, run, steps_for


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
    ) -> Ranking:
        """Rank ``passages``, best first.

        Args:
            keep: how many come out; by default the shortlist, so that duplicates can still be dropped.
            prior: a positive factor for each passage, as in ``cascade.run``.
        """
        settings = self._host.settings.ranking
        kept = settings.shortlist if keep is None else keep
        steps = steps_for(
            shortlist=max(settings.shortlist, kept),
            keep=kept,
            biencoder=settings.use_biencoder,
            crossencoder=settings.use_crossencoder,
        )

        def score(kind: str, some: Sequence[str]) -> Sequence[float] | None:
            handle = self._host.ranker(kind)
            if handle is None or not some:
                return None
            try:
                scores: tuple[float, ...] = self._host.caller.call(
                    handle,
                    lambda ranker: ranker.score(query, some),
                    scope=scope,
                    deadline=deadline,
                    check=lambda value: check_scores(value, len(some)),
                    count=len,
                )
            except WebfetchError:
                return None
            return scores

        return run(steps, passages, score, fusion=settings.fusion, prior=prior)
