"""The linear models: coefficients as trained by ``evals/train_freshness.py``, read from ``model.json``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from math import exp
from operator import mul

from attrs import frozen

from .features import FEATURES

DIM = 384
"""Numbers in a vector of the bi-encoder."""

CLASSES = ("realtime", "recent", "stable")


@frozen(kw_only=True)
class Linear:
    """A multinomial logistic regression, and what its probabilities are worth.

    Attributes:
        weights: one row for each of ``CLASSES``; those of the vector, if any, follow those of the features.
        intercepts: one for each class.
        bonus: what is added to the logarithm of P(realtime): to miss it is the dearest mistake.
        bound: above this P(realtime) nothing is called stable.
    """

    weights: Sequence[Sequence[float]]
    intercepts: Sequence[float]
    bonus: float
    bound: float

    def probabilities(self, row: Sequence[float]) -> tuple[float, ...]:
        """P of each of ``CLASSES``."""
        scores = [b + sum(map(mul, w, row)) for w, b in zip(self.weights, self.intercepts, strict=True)]
        most = max(scores)
        parts = [exp(score - most) for score in scores]
        return tuple(part / sum(parts) for part in parts)


@frozen(kw_only=True)
class Model:
    """What ships: one model for words alone, one for words and meaning."""

    words: Linear
    meaning: Linear


def load_model() -> Model:
    """Read the coefficients that ship with the plugin.

    Raises:
        ValueError: they are of another version than the features.
    """
    data = json.loads(files(__package__).joinpath("model.json").read_text(encoding="utf-8"))
    if tuple(data["features"]) != FEATURES:
        raise ValueError("model.json does not fit the features: run evals/train_freshness.py")
    return Model(words=Linear(**data["words"]), meaning=Linear(**data["meaning"]))
