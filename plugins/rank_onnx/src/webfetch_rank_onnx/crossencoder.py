"""The cross-encoder as a ranker: query and passage are read together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from webfetch_core.api import NotConfigured

from .backends import choices, this_machine
from .cores import usable_cores
from .head import Head, load_head
from .picking import find_graph
from .settings import RankOnnxSettings
from .streams import BUCKET, Array, Encoded, Model, Streams, by_length, session
from .tokens import encode_pairs, from_json

MAX_TOKENS = 512
"""Passages are a few hundred characters: a model that could read more would only take longer."""
QUERY_CHARS = 1_000
"""A longer query would leave no room for the passage."""

CHECK = (
    "how high is the lighthouse",
    ("The lighthouse is 41 metres high, and was built in 1873.", "Copper conducts electricity.", ""),
)
MOST_DRIFT = 0.05
"""Of scores, relative to the largest: bf16 keeps three digits, and what is wrong is wrong altogether."""

INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
OFFSET_FAMILIES = ("roberta", "camembert", "mpnet")
"""Models whose positions begin behind the padding token's: they read that many tokens less."""


class CrossEncoder:
    """Scores passages by the model's logit. Thread-safe."""

    def __init__(self, tokenizer: Any, streams: Streams, head: Head | None = None) -> None:
        """Take an open model; ``head`` makes scores of token states where the graph ends there."""
        self._tokenizer = tokenizer
        self._streams = streams
        self._head = head

    def score(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one logit per passage; higher is more relevant."""
        if not passages:
            return []
        encoded = encode_pairs(self._tokenizer, query, passages, QUERY_CHARS)
        rows = self._streams.run(encoded) if self._head is None else self._run_head(encoded, self._head)
        scores: list[float] = np.nan_to_num(rows.reshape(len(passages), -1)[:, 0]).tolist()
        return scores

    def _run_head(self, encoded: Sequence[Encoded], head: Head) -> Array:
        """Batch by batch: token states of all passages together would fill the memory."""
        lengths = [len(pair.ids) for pair in encoded]
        batches = list(by_length(lengths, self._streams.batch))
        runs = [self._streams.submit([encoded[place] for place in places]) for places in batches]
        rows = np.zeros(len(encoded), np.float32)
        for places, run in zip(batches, runs, strict=True):
            rows[places] = head(run.result(), [lengths[place] for place in places])[:, 0]
        return rows

    def warm_up(self) -> None:
        """Run once, so that the first query does not pay for it."""
        self.score("warm", ["up"])

    def close(self) -> None:
        self._streams.close()


def load(paths: Mapping[str, Path], settings: RankOnnxSettings) -> CrossEncoder:
    """Open a cross-encoder of the model store, or of a folder.

    Where OpenVINO is the backend (``backends.choices``), and scores as onnxruntime does, it runs the graph.

    Raises:
        NotConfigured: the graph is none that gives one score a pair; says what it is instead. Or the settings
            name a backend that is not there.
    """
    graph = find_graph(list(paths))
    try:
        model = session(str(paths[graph]))
    except Exception as exc:  # the library's own errors have no base but this
        raise NotConfigured(f"{paths[graph]} cannot be opened as an ONNX model: {exc}") from exc
    try:
        tokenizer = from_json(paths["tokenizer.json"], max_tokens(paths))
        head = _head_for(model, paths)
    except Exception as exc:  # the tokenizer's have none either
        raise NotConfigured(f"the cross-encoder in {paths[graph].parent} cannot be used: {exc}") from exc
    size = settings.threads or usable_cores()
    ranker = CrossEncoder(tokenizer, Streams(model, size, settings.batch), head)
    first = choices(settings, this_machine())[0]
    faster = _in_openvino(paths[graph], first.precision, size) if first.backend == "openvino" else None
    if faster is None:
        return ranker
    other = CrossEncoder(tokenizer, Streams(faster, size, settings.batch), head)
    agree = _agree(ranker, other)
    (ranker if agree else other).close()
    return other if agree else ranker


def _in_openvino(graph: Path, precision: str, streams: int) -> Model | None:
    """The same graph in OpenVINO; None where that cannot run it, or its weights lie in another file."""
    from .openvino_model import OpenVinoModel

    try:
        return OpenVinoModel(graph.read_bytes(), {}, precision, streams)
    except Exception:  # the library's own errors have no base but this
        return None


def _agree(ranker: CrossEncoder, other: CrossEncoder) -> bool:
    """Whether two forms of a model score alike, as far as bf16 can."""
    try:
        wanted, found = (np.array(r.score(*CHECK), np.float32) for r in (ranker, other))
    except Exception:  # a library that fails on a shape is no use, whatever it says
        return False
    return bool(np.abs(wanted - found).max() <= MOST_DRIFT * (1 + np.abs(wanted).max()))


def _head_for(model: Any, paths: Mapping[str, Path]) -> Head | None:
    """The head that the graph needs. Raises ValueError: it asks or answers what no cross-encoder does."""
    asked = {put.name for put in model.get_inputs()}
    if strange := sorted(asked - INPUTS):
        raise ValueError(f"its graph asks for {', '.join(strange)}")
    shape = list(model.get_outputs()[0].shape)
    if len(shape) == 3:
        head = load_head(paths)
        if head is None:
            raise ValueError(
                "its graph ends at the token states, and it has no modules that make a score of them"
            )
        width = shape[2] if isinstance(shape[2], int) else _hidden_size(paths)
        rows = head(np.zeros((1, 2, width), np.float32), [2])
        if rows.shape != (1, 1):
            raise ValueError(
                f"its modules give {rows.shape[-1]} numbers for each pair, and a ranker needs one"
            )
        return head
    if len(shape) == 1 or (len(shape) == 2 and (shape[1] == 1 or not isinstance(shape[1], int))):
        return None
    raise ValueError(f"its graph gives {shape} for each batch, and a ranker needs one number for each pair")


def max_tokens(paths: Mapping[str, Path]) -> int:
    """How many tokens are read: what the model was made for, in whole buckets, at most MAX_TOKENS."""
    config = _config(paths)
    positions = config.get("max_position_embeddings")
    if not isinstance(positions, int) or positions < 8:
        return MAX_TOKENS
    if any(family in str(config.get("model_type", "")) for family in OFFSET_FAMILIES):
        positions -= int(config.get("pad_token_id") or 0) + 1
    # A run is padded to whole buckets: positions beyond the last one would not be there.
    return min(MAX_TOKENS, positions // BUCKET * BUCKET or positions)


def _hidden_size(paths: Mapping[str, Path]) -> int:
    return int(_config(paths).get("hidden_size", 0))


def _config(paths: Mapping[str, Path]) -> dict[str, Any]:
    """``config.json``; empty where there is none, or it is none."""
    try:
        config = json.loads(paths["config.json"].read_text(encoding="utf-8"))
    except (KeyError, OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}
