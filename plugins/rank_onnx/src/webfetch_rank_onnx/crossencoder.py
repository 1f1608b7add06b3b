"""The cross-encoder as a ranker: query and passage are read together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .cores import usable_cores
from .settings import RankOnnxSettings
from .streams import Streams, session
from .tokens import encode_pairs, from_json

MAX_TOKENS = 512
QUERY_CHARS = 1_000
"""A longer query would leave no room for the passage."""


class CrossEncoder:
    """Scores passages by the model's logit. Thread-safe."""

    def __init__(self, tokenizer: Any, streams: Streams) -> None:
        self._tokenizer = tokenizer
        self._streams = streams

    def score(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one logit per passage; higher is more relevant, and 0 is even odds."""
        if not passages:
            return []
        rows = self._streams.run(encode_pairs(self._tokenizer, query, passages, QUERY_CHARS))
        scores: list[float] = np.nan_to_num(rows.reshape(len(passages), -1)[:, 0]).tolist()
        return scores

    def warm_up(self) -> None:
        """Run once, so that the first query does not pay for it."""
        self.score("warm", ["up"])

    def close(self) -> None:
        self._streams.close()


def load(paths: Mapping[str, Path], settings: RankOnnxSettings) -> CrossEncoder:
    """Open a cross-encoder of the model store."""
    model = next(path for name, path in paths.items() if name.endswith(".onnx"))
    streams = Streams(session(str(model)), settings.threads or usable_cores(), settings.batch)
    return CrossEncoder(from_json(paths["tokenizer.json"], MAX_TOKENS), streams)
