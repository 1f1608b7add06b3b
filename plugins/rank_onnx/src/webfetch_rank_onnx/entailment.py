"""Whether each of two queries follows from the other, by a classifier of entailment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from webfetch_core.api import NotConfigured

from .cores import usable_cores
from .crossencoder import INPUTS, QUERY_CHARS, max_tokens
from .picking import find_graph
from .settings import RankOnnxSettings
from .streams import Streams, session
from .tokens import encode_pairs, from_json

BOTH = 2


class Entailment:
    """Scores passages by the smaller of two probabilities: that the passage follows from the query, and the
    query from the passage. Thread-safe."""

    def __init__(self, tokenizer: Any, streams: Streams, label: int) -> None:
        """Take an open model; ``label`` is the place of entailment among its logits."""
        self._tokenizer = tokenizer
        self._streams = streams
        self._label = label

    def score(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """Return a probability for each passage."""
        if not passages:
            return []
        there = encode_pairs(self._tokenizer, query, passages, QUERY_CHARS)
        back = [encode_pairs(self._tokenizer, passage, [query], QUERY_CHARS)[0] for passage in passages]
        both = [pair for ways in zip(there, back, strict=True) for pair in ways]
        logits = np.nan_to_num(self._streams.run(both).astype(np.float64))
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        entailed = (shares / shares.sum(axis=1, keepdims=True))[:, self._label]
        scores: list[float] = entailed.reshape(-1, BOTH).min(axis=1).tolist()
        return scores

    def warm_up(self) -> None:
        """Run once, so that the first pair does not pay for it."""
        self.score("warm", ["up"])

    def close(self) -> None:
        self._streams.close()


def load(paths: Mapping[str, Path], settings: RankOnnxSettings) -> Entailment:
    """Open a classifier of the model store.

    Raises:
        NotConfigured: its graph or its ``config.json`` does not say what entailment is.
    """
    graph = paths[find_graph(list(paths))]
    try:
        model = session(str(graph))
        tokenizer = from_json(paths["tokenizer.json"], max_tokens(paths))
        label, labels = _entailment(paths["config.json"])
    except Exception as exc:  # the libraries' own errors have no base but this
        raise NotConfigured(f"the entailment model in {graph.parent} cannot be used: {exc}") from exc
    shape = list(model.get_outputs()[0].shape)
    strange = {put.name for put in model.get_inputs()} - INPUTS
    if strange or len(shape) != 2 or (isinstance(shape[1], int) and shape[1] != labels):
        raise NotConfigured(
            f"the entailment model in {graph.parent} cannot be used: its graph gives {shape}, "
            f"and its labels are {labels}"
        )
    return Entailment(tokenizer, Streams(model, settings.threads or usable_cores(), settings.batch), label)


def _entailment(path: Path) -> tuple[int, int]:
    """(the place of entailment among the labels, their number). Raises ValueError where there is none."""
    named = json.loads(path.read_text(encoding="utf-8"))["id2label"]
    places = [int(place) for place, name in named.items() if str(name).lower() == "entailment"]
    if len(places) != 1:
        raise ValueError(f"its labels are {', '.join(map(str, named.values()))}, and none is entailment")
    return places[0], len(named)
