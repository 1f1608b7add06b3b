"""Who judges two questions that no rule settled: models that a host may have, and a sum of features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

import numpy as np

from webfetch_core.api import Embeddings, NotConfigured, WebfetchError

from .bars import bar
from .features import features, left_texts, load_model
from .rules import Ruling
from .settings import MatchSemanticSettings

Embed = Callable[[Sequence[str]], Embeddings]
ScorePairs = Callable[..., Sequence[float]]

IN_TURN = ("entailment", "paraphrase", "features")
"""What ``auto`` tries, the most able first."""


class Verifiers:
    """The verifiers that settings allow, the first that is there first. Thread-safe.

    One that is not configured is not asked again; one that fails is passed over for that call.
    """

    def __init__(self, settings: MatchSemanticSettings, embed: Embed, score_pairs: ScorePairs) -> None:
        self._embed, self._score_pairs = embed, score_pairs
        self._thresholds = {
            "entailment": settings.entailment_threshold,
            "paraphrase": settings.paraphrase_threshold,
            "features": settings.features_threshold,
        }
        chosen = settings.verifier
        self._names = IN_TURN if chosen == "auto" else (chosen,) if chosen in IN_TURN else ()
        self._absent: set[str] = set()

    def judge(self, query: str, candidate: str, ruling: Ruling) -> tuple[str, float, bool] | None:
        """Return the verifier's name, how sure it is that both ask the same, and whether that is enough.

        None: there is no verifier.
        """
        for name in self._names:
            if name in self._absent:
                continue
            try:
                sure = (
                    self._by_features(query, candidate, ruling)
                    if name == "features"
                    else self._by_model(name, query, candidate)
                )
            except NotConfigured:
                self._absent.add(name)
            except WebfetchError:
                continue
            else:
                return name, sure, sure >= bar(name, self._thresholds[name], ruling)
        return None

    def _by_model(self, kind: str, query: str, candidate: str) -> float:
        values = [float(value) for value in self._score_pairs(query, [candidate], kind=kind)]
        if len(values) != 1 or not isfinite(values[0]):
            raise NotConfigured(f"the {kind} model gave no probability")
        return min(max(values[0], 0.0), 1.0)

    def _by_features(self, query: str, candidate: str, ruling: Ruling) -> float:
        if ruling.a is None or ruling.b is None or ruling.pairs is None:
            return 0.0
        first, second = left_texts(ruling.pairs)
        whole = cosine(self._embed, query, candidate)
        left = cosine(self._embed, first, second) if first and second else None
        return load_model().sure(features(ruling.a, ruling.b, ruling.pairs, whole, left))


def cosine(embed: Embed, a: str, b: str) -> float:
    """The cosine of two texts. Raises what ``embed`` raises."""
    vectors = embed([a, b])
    x, y = np.frombuffer(vectors.data, "<f4").reshape(2, -1)
    value = float(x @ y)
    return value if isfinite(value) else 0.0
