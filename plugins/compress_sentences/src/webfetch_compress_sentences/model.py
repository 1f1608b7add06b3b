"""The linear scorer: coefficients as trained by ``evals/train_compress.py``, read from ``model.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files

from attrs import frozen

from .features import FEATURES


@frozen(kw_only=True)
class Model:
    """``score = sum(weights * values)``; ``idf`` are the weights of common terms, ``rare`` of all others."""

    weights: tuple[float, ...]
    idf: Mapping[str, float]
    rare: float

    def scores(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """Return one score per row of features; only differences within one call mean anything."""
        return [sum(w * x for w, x in zip(self.weights, row, strict=True)) for row in rows]


def load_model() -> Model:
    """Read the coefficients that ship with the plugin.

    Raises:
        ValueError: they are of another version than the features.
    """
    data = json.loads(files(__package__).joinpath("model.json").read_text(encoding="utf-8"))
    if tuple(data["weights"]) != FEATURES:
        raise ValueError("model.json does not fit the features: run evals/train_compress.py")
    return Model(weights=tuple(data["weights"].values()), idf=data["idf"], rare=data["rare"])
