"""The tensors of all-MiniLM-L6-v2 as each graph wants them, made of the pinned file when it is loaded.

The file carries int8 matrices with one scale per output channel (cosine to the originals .9995). For fp32
they are multiplied out. For int8 they are scaled and rounded anew:

- A few channels of the activations are ten times as large as the others, and one scale for all would leave
  the others few steps. So activations are divided by a factor per channel, and rows of the matrix multiplied
  by it (SmoothQuant: Xiao et al., 2023). The factors were measured once, by ``tools/build_graph.py``.
- Weights take 7 of the 8 bits. Without VNNI, a CPU adds two products of 8 bits each in 16 bits, which
  overflows without a sign of it.

On 1,000 passages and 62 queries, on a CPU without VNNI, this turns a mean cosine of .991 with 92 % of the
first 30 into .996 with 95 %.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from .streams import Array

LAYERS = 6
INPUTS = ("input_ids", "attention_mask")
SMOOTHED = ("qkv", "up", "down")
"""Projections whose activations are scaled; those of ``out`` have no channels that stand out."""
LARGEST = 63
"""Seven bits: ``2 * 255 * 63`` is below ``2 ** 15``."""

_PARTS = {"qkv": ("query", "key", "value"), "out": ("out",), "up": ("up",), "down": ("down",)}


class Pinned:
    """The tensors of the pinned file, read where ``weights.json`` says they lie."""

    def __init__(self, path: Path, table: Mapping[str, Any]) -> None:
        self._raw = np.memmap(path, np.uint8, mode="r")
        self._table = table

    def __getitem__(self, name: str) -> Array:
        """One tensor as it is stored."""
        place = self._table[name]
        kind, shape = np.dtype(place["type"]), tuple(place["shape"])
        size = int(np.prod(shape)) * kind.itemsize
        return np.frombuffer(self._raw[place["at"] : place["at"] + size].tobytes(), kind).reshape(shape)

    def matrix(self, projection: str) -> Array:
        """A projection (``layer0.qkv``) multiplied out: (inputs, outputs), float32."""
        parts = [self[f"{p}.q"] * self[f"{p}.scale"].reshape(1, -1) for p in originals(projection)]
        return np.ascontiguousarray(np.concatenate(parts, axis=1), np.float32)

    def bias(self, projection: str) -> Array:
        return np.concatenate([self[f"{part}.bias"] for part in originals(projection)])

    def rest(self) -> dict[str, Array]:
        """What every graph takes as it is: embedding tables and layer norms."""
        norms = ["first", *(f"layer{n}.norm{k}" for n in range(LAYERS) for k in (1, 2))]
        names = ["words.q", "words.scale", "positions.q", "positions.scale", "segment"]
        names += [f"{norm}.{part}" for norm in norms for part in ("weight", "bias")]
        first_segment = {"segment": self["segment"][0]}  # single texts have no other
        return {name: self[name] for name in names} | first_segment


def originals(projection: str) -> list[str]:
    """The model's own projections that one of the graph is made of."""
    layer, _, name = projection.partition(".")
    return [f"{layer}.{part}" for part in _PARTS[name]]


def projections() -> list[str]:
    return [f"layer{number}.{name}" for number in range(LAYERS) for name in _PARTS]


def pinned(path: Path) -> Pinned:
    """Open the pinned file, whose content was checked."""
    table = json.loads((files(__package__) / "data" / "weights.json").read_text(encoding="utf-8"))
    return Pinned(path, table["tensors"])


def fp32(source: Pinned) -> dict[str, Array]:
    """The tensors of ``minilm_fp32.onnx`` and ``minilm_plain.onnx``."""
    tensors = source.rest()
    for name in projections():
        tensors[f"{name}.weight"] = source.matrix(name)
        tensors[f"{name}.bias"] = source.bias(name)
    return tensors


def int8(source: Pinned, factors: Mapping[str, Array]) -> dict[str, Array]:
    """The tensors of ``minilm_int8.onnx``; ``factors`` by projection, as ``minilm.npz`` has them."""
    tensors = source.rest()
    for name in projections():
        matrix = source.matrix(name)
        if name in factors:
            factor = factors[name].astype(np.float32)
            tensors[f"{name}.factor"] = 1 / factor
            matrix *= factor[:, None]
        tensors[f"{name}.weight"], tensors[f"{name}.scale"] = quantised(matrix)
        tensors[f"{name}.bias"] = source.bias(name)
    return tensors


def quantised(matrix: Array) -> tuple[Array, Array]:
    """Return (int8 of the same shape, float32 scale per column): the largest of a column becomes 63."""
    scale = np.maximum(np.maximum(matrix.max(axis=0), -matrix.min(axis=0)) / LARGEST, np.float32(1e-12))
    rounded = np.rint(matrix * (1 / scale).astype(np.float32))
    return np.clip(rounded, -LARGEST, LARGEST).astype(np.int8), scale.astype(np.float32)
