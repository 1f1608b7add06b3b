"""The weights of the paraphrase model: those of all-MiniLM-L6-v2 and a low-rank addition to each.

``data/paraphrase.npz`` holds what was learned (LoRA: Hu et al., 2021): for each projection two thin int8
matrices and a scale per component, and for biases, norms and segments what is added to them. The whole
weights are made when the model is opened, so the distribution carries less than a megabyte. Written by
``evals/train_paraphrase.py``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .streams import Array
from .weights import Pinned, originals

ROWS = 8
"""Multiplied at a time: so few that no BLAS starts threads for it, which wait for each other on a
busy machine many times as long as the work takes."""
HEAD = ("inner.weight", "inner.bias", "outer.weight", "outer.bias")


class Adapted(Pinned):
    """The pinned tensors with the additions; what ``weights.fp32`` and ``weights.int8`` read."""

    def __init__(self, source: Pinned, learned: Mapping[str, Array]) -> None:
        self._source = source
        self._learned = learned

    def __getitem__(self, name: str) -> Array:
        return self._source[name]

    def matrix(self, projection: str) -> Array:
        parts = [self._addition(part) for part in originals(projection)]
        whole: Array = self._source.matrix(projection) + np.concatenate(parts, axis=1)
        return np.ascontiguousarray(whole, np.float32)

    def _addition(self, part: str) -> Array:
        a, b = (self._learned[f"{part}.{side}"].astype(np.float32) for side in "ab")
        blocks = (a * self._learned[f"{part}.scale"]).reshape(-1, ROWS, b.shape[0])
        addition: Array = (blocks @ b).reshape(a.shape[0], b.shape[1])
        return addition

    def bias(self, projection: str) -> Array:
        added = [self._learned[f"{part}.bias"].astype(np.float32) for part in originals(projection)]
        whole: Array = self._source.bias(projection) + np.concatenate(added)
        return whole

    def rest(self) -> dict[str, Array]:
        tensors = self._source.rest()
        for name in tensors.keys() & self._learned.keys():  # the layer norms
            tensors[name] = (tensors[name] + self._learned[name]).astype(np.float32)
        del tensors["segment"]
        tensors["segments"] = (self._source["segment"] + self._learned["segments"]).astype(np.float32)
        return tensors | {name: self._learned[name].astype(np.float32) for name in HEAD}
