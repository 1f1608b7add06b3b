"""A bi-encoder whose graph ends with the vector: what ``webfetch models export`` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from webfetch_core.api import NotConfigured

from .cores import usable_cores
from .crossencoder import INPUTS, max_tokens
from .picking import find_graph
from .settings import RankOnnxSettings
from .streams import BUCKET, Array, Streams, session
from .tokens import encode


class PooledEncoder:
    """Unit vectors of texts. Thread-safe."""

    def __init__(self, tokenizer: Any, streams: Streams, dim: int) -> None:
        self.tokenizer = tokenizer
        self.streams = streams
        self.dim = dim

    def encode(self, texts: Sequence[str]) -> Array:
        """Return a row of length one for each text, float32."""
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        rows = self.streams.run(encode(self.tokenizer, texts))
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        result: Array = rows / np.where(norms > 0, norms, 1)
        return result

    def close(self) -> None:
        self.streams.close()


def load(paths: Mapping[str, Path], settings: RankOnnxSettings) -> PooledEncoder:
    """Open an exported bi-encoder.

    Raises:
        NotConfigured: the graph is none that gives one vector a text.
    """
    from tokenizers import Tokenizer

    graph = find_graph(list(paths))
    try:
        model = session(str(paths[graph]))
        tokenizer = Tokenizer.from_file(str(paths["tokenizer.json"]))
    except Exception as exc:  # the libraries' own errors have no base but this
        raise NotConfigured(f"the bi-encoder in {paths[graph].parent} cannot be opened: {exc}") from exc
    shape = list(model.get_outputs()[0].shape)
    strange = {put.name for put in model.get_inputs()} - INPUTS
    if strange or len(shape) != 2 or not isinstance(shape[1], int):
        raise NotConfigured(
            f"{paths[graph]} is no bi-encoder with its pooling inside (it gives {shape}); "
            "export it with webfetch models export"
        )
    tokenizer.no_padding()
    tokenizer.enable_truncation(text_tokens(paths))
    return PooledEncoder(
        tokenizer, Streams(model, settings.threads or usable_cores(), settings.batch), shape[1]
    )


def text_tokens(paths: Mapping[str, Path]) -> int:
    """How many tokens of a text are read: as ``sentence_bert_config.json`` says, else as the model can."""
    most = max_tokens(paths)
    try:
        told = json.loads(paths["sentence_bert_config.json"].read_text(encoding="utf-8")).get(
            "max_seq_length"
        )
    except (KeyError, OSError, ValueError, AttributeError):
        return most
    return min(most, told // BUCKET * BUCKET or told) if isinstance(told, int) and told > 0 else most
