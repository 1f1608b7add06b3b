"""The scoring head of a cross-encoder whose graph ends at the token states, in numpy.

sentence-transformers writes such models as a chain of modules: the transformer, Pooling, then any of Dense,
LayerNorm and the like, each in a folder of its own (``modules.json``). The ettin rerankers are of this kind.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .streams import Array

Head = Callable[[Array, Sequence[int]], Array]
"""Given token states (texts, tokens, dimensions) and the number of real tokens of each text, returns one row
of scores a text."""

Step = Callable[[Array], Array]

LAYER_NORM_EPSILON = 1e-5
"""torch.nn.LayerNorm's own, which sentence-transformers does not change."""

MAX_HEADER = 1_000_000
_TYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}

_erf = np.vectorize(math.erf, otypes=[np.float32])  # numpy has none, and torch's GELU is the exact one

ACTIVATIONS: Mapping[str, Step] = {
    "Identity": lambda x: x,
    "GELU": lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2))),
    "ReLU": lambda x: np.maximum(x, 0),
    "SiLU": lambda x: x / (1 + np.exp(-x)),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Tanh": np.tanh,
}


def load_head(paths: Mapping[str, Path]) -> Head | None:
    """Read the modules behind the transformer; None where the model has none.

    Raises:
        ValueError: a module or activation is not known here, or its files are not what they should be.
    """
    if "modules.json" not in paths:
        return None
    modules = _json(paths["modules.json"])
    names = [(str(m["type"]).rpartition(".")[2], str(m["path"])) for m in modules]
    if len(names) < 2 or names[0][0] != "Transformer" or names[1][0] != "Pooling":
        raise ValueError(
            f"its modules are {', '.join(name for name, _ in names)}: Transformer and Pooling come first"
        )
    pool = _pooling(_json(paths[f"{names[1][1]}/config.json"]))
    steps = [_step(name, folder, paths) for name, folder in names[2:]]

    def head(states: Array, lengths: Sequence[int]) -> Array:
        rows = pool(states.astype(np.float32, copy=False), lengths)
        for step in steps:
            rows = step(rows)
        return rows

    return head


def _pooling(config: Mapping[str, Any]) -> Head:
    """By its new key, or by the flags of older versions."""
    flags = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}
    mode = config.get("pooling_mode") or next((m for m, flag in flags.items() if config.get(flag)), "")
    if mode == "cls":
        return lambda states, lengths: states[:, 0]
    if mode == "mean":
        return lambda states, lengths: np.stack([s[:n].mean(0) for s, n in zip(states, lengths, strict=True)])
    raise ValueError(f"its pooling {mode or config!r} is not known here (cls and mean are)")


def _step(kind: str, folder: str, paths: Mapping[str, Path]) -> Step:
    config = _json(paths[f"{folder}/config.json"])
    if kind not in ("Dense", "LayerNorm"):
        raise ValueError(f"its module {kind} is not known here (Dense and LayerNorm are)")
    tensors = read_safetensors(paths[f"{folder}/model.safetensors"])
    if kind == "LayerNorm":
        scale, shift = tensors["norm.weight"], tensors["norm.bias"]

        def norm(x: Array) -> Array:
            centred = x - x.mean(-1, keepdims=True)
            result: Array = centred / np.sqrt(x.var(-1, keepdims=True) + LAYER_NORM_EPSILON) * scale + shift
            return result

        return norm
    name = str(config.get("activation_function", "Tanh")).rpartition(".")[2]
    if name not in ACTIVATIONS:
        raise ValueError(f"its activation {name} is not known here ({', '.join(ACTIVATIONS)} are)")
    weight, bias, activate = tensors["linear.weight"].T, tensors.get("linear.bias", 0), ACTIVATIONS[name]
    return lambda x: activate(x @ weight + bias)


def read_safetensors(path: Path) -> dict[str, Array]:
    """Return the tensors of a safetensors file as float32.

    The format: eight bytes with the length of a JSON header, that header, then the data at its offsets.

    Raises:
        ValueError: it is not such a file, or a tensor is of a type other than F16, F32 and F64.
    """
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    if len(raw) < 8 or size > min(len(raw) - 8, MAX_HEADER):
        raise ValueError(f"{path.name} is no safetensors file")
    try:
        header, body = json.loads(raw[8 : 8 + size]), raw[8 + size :]
        tensors = {}
        for name, row in header.items():
            if name == "__metadata__":
                continue
            start, end = row["data_offsets"]
            values = np.frombuffer(body[start:end], _TYPES[row["dtype"]])
            tensors[name] = values.astype(np.float32).reshape(row["shape"])
        return tensors
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise ValueError(f"{path.name} cannot be read as safetensors: {exc}") from exc


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
