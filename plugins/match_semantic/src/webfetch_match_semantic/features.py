"""Numbers about two questions that no rule settled, for the weighted sum of ``model.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from math import exp

from attrs import frozen

from .alignment import Alignment
from .items import Item
from .lexicon import lexicon
from .reading import Question

FEATURES = (
    "cosine", "cosine_above_80", "left_cosine", "left_alone", "same_share", "near_share", "left_weight_more",
    "left_weight_less", "left_count_more", "left_count_less",
    "one_sided", "kind_same", "kind_known_both", "order_kept", "names_shared", "length_ratio",
)  # fmt: skip


def left_texts(pairs: Alignment) -> tuple[str, str]:
    """What each question has alone, as two texts: how near they are in meaning is a feature."""
    left, right = (" ".join(item.word for item in side) for side in pairs.left)
    return left, right


def features(
    a: Question, b: Question, pairs: Alignment, cosine: float, left_cosine: float | None
) -> list[float]:
    """Return one number for each of ``FEATURES``; the same for (b, a).

    Args:
        cosine: of the questions.
        left_cosine: of ``left_texts``; None where one of them is empty.
    """
    lex = lexicon()

    def weight(items: Sequence[Item]) -> float:
        return sum(lex.weight(item.key) if item.kind == "word" else 1.0 for item in items)

    left = sorted(weight(side) for side in pairs.left)
    counts = sorted(len(side) for side in pairs.left)
    total = weight(a.items) + weight(b.items) or 1.0
    same = sum(weight(pair) for pair in pairs.same)
    near = sum(weight(pair) for pair in pairs.near)
    places = [y.at for _, y in sorted(pairs.same, key=lambda pair: pair[0].at)]
    kept = sum(p < q for p, q in pairwise(places))
    lengths = sorted((len(a.items), len(b.items)))
    return [
        cosine,
        max(cosine - 0.8, 0.0) * 5,
        left_cosine if left_cosine is not None else 1.0,
        float(left_cosine is None),
        same / total,
        near / total,
        left[1],
        left[0],
        float(counts[1]),
        float(counts[0]),
        float(not counts[0] and bool(counts[1])),
        float(a.kind == b.kind),
        float(bool(a.kind) and bool(b.kind)),
        kept / max(len(places) - 1, 1) if len(places) > 1 else 1.0,
        float(any(x.name for x, _ in pairs.same)),
        lengths[0] / max(lengths[1], 1),
    ]


@frozen
class Model:
    """``sure = 1 / (1 + exp(-(bias + sum(weights * features))))``."""

    weights: Sequence[float]
    bias: float

    def sure(self, row: Sequence[float]) -> float:
        total = self.bias + sum(w * x for w, x in zip(self.weights, row, strict=True))
        return 1.0 / (1.0 + exp(-max(min(total, 50.0), -50.0)))


@lru_cache(maxsize=1)
def load_model() -> Model:
    """Read the coefficients that ship with the plugin.

    Raises:
        ValueError: they are of another version than the features.
    """
    data: Mapping[str, Mapping[str, float]] = json.loads(
        files(__package__).joinpath("data", "model.json").read_text(encoding="utf-8")
    )
    weights = data["weights"]
    if tuple(weights) != FEATURES:
        raise ValueError("model.json does not fit the features: run evals/train_matcher.py")
    return Model(tuple(weights.values()), float(data["bias"]))  # type: ignore[arg-type]
