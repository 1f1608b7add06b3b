"""The linear scorers: coefficients as trained by ``evals/train_compress.py``, read from ``model.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from operator import mul

from attrs import frozen

from .closeness import WITH_MEANING
from .features import FEATURES


@frozen(kw_only=True)
class Model:
    """Two sets of weights, each for ``score = sum(weights * values)``.

    Attributes:
        weights: one for each of ``FEATURES``: words alone.
        with_meaning: one for each of ``WITH_MEANING``.
        floor: a unit whose score is this far below the best is left out though it would fit: it is filling,
            not evidence. ``floor_with_meaning`` is the same for scores with meaning.
        idf: weights of common terms.
        rare: the weight of all other terms.
    """

    weights: tuple[float, ...]
    with_meaning: tuple[float, ...]
    floor: float
    floor_with_meaning: float
    idf: Mapping[str, float]
    rare: float

    def scores(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """Return one score per row of ``FEATURES``; only differences within one call mean anything."""
        return [sum(map(mul, self.weights, row)) for row in rows]

    def scores_with_meaning(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """Return one score per row of ``WITH_MEANING``."""
        return [sum(map(mul, self.with_meaning, row)) for row in rows]


def load_model() -> Model:
    """Read the coefficients that ship with the plugin.

    Raises:
        ValueError: they are of another version than the features.
    """
    data = json.loads(files(__package__).joinpath("model.json").read_text(encoding="utf-8"))
    if tuple(data["weights"]) != FEATURES or tuple(data["with_meaning"]) != WITH_MEANING:
        raise ValueError("model.json does not fit the features: run evals/train_compress.py")
    return Model(
        weights=tuple(data["weights"].values()),
        with_meaning=tuple(data["with_meaning"].values()),
        floor=data["floor"],
        floor_with_meaning=data["floor_with_meaning"],
        idf=data["idf"],
        rare=data["rare"],
    )
