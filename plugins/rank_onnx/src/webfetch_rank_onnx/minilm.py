"""all-MiniLM-L6-v2 as it is shipped, on the graph of this package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from .cores import usable_cores
from .settings import RankOnnxSettings
from .specs import MINILM
from .streams import Array, Streams, session
from .tokens import wordpiece

MAX_TOKENS = 256
"""What the model was trained for (sentence_bert_config.json)."""


@frozen(kw_only=True)
class Encoder:
    """A bi-encoder ready to run: its tokenizer, its streams, and the name of its vectors."""

    tokenizer: Any
    streams: Streams
    model_id: str


def load(paths: Mapping[str, Path], settings: RankOnnxSettings) -> Encoder:
    """Open the model: the graph of this package over the weights of the pinned file."""
    data = files(__package__) / "data"
    table = json.loads((data / "weights.json").read_text(encoding="utf-8"))
    tensors = read_tensors(paths["model.onnx"], table["tensors"])
    streams = Streams(
        session((data / "minilm.onnx").read_bytes(), tensors),
        settings.threads or usable_cores(),
        settings.batch,
    )
    # The graph is part of the name: vectors of another one are near, and still not the same.
    weights = next(file.sha256 for file in MINILM.files if file.name == "model.onnx")
    return Encoder(
        tokenizer=wordpiece(paths["vocab.txt"], MAX_TOKENS),
        streams=streams,
        model_id=f"{MINILM.name}:int8:{weights[:12]}",
    )


def read_tensors(path: Path, table: Mapping[str, Any]) -> dict[str, Array]:
    """Return the tensors of ``table``, whose parts lie in the file at the bytes it names."""
    raw = np.memmap(path, np.uint8, mode="r")

    def part(place: Mapping[str, Any]) -> Array:
        kind = np.dtype(place["type"])
        shape = tuple(place["shape"])
        size = int(np.prod(shape)) * kind.itemsize
        return np.frombuffer(raw[place["at"] : place["at"] + size].tobytes(), kind).reshape(shape)

    return {
        name: np.ascontiguousarray(np.concatenate([part(place) for place in places], axis=-1))
        for name, places in table.items()
    }
