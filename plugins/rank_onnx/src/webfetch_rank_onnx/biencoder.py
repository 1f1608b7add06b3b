"""The bi-encoder as a ranker: the cosine of query and passage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webfetch_core.api import Embeddings, PluginContext

from .minilm import Encoder
from .streams import Array
from .tokens import encode
from .vectors import Vectors


class BiEncoder:
    """Scores passages by cosine, and gives vectors to whoever asks. Thread-safe."""

    def __init__(self, encoder: Encoder, context: PluginContext | None) -> None:
        """Take an open model; with a context, vectors are kept in its shared space ``vectors``."""
        self.model_id = encoder.model_id
        self._encoder = encoder
        self._vectors = Vectors(encoder.model_id, context)

    def score(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """Return the cosine of ``query`` and each passage, from -1 to 1."""
        if not passages:
            return []
        wanted = self._vectors.of(passages, self._encode)
        scores: list[float] = (wanted @ self._vectors.of([query], self._encode)[0]).tolist()
        return scores

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one unit vector per text."""
        rows = self._vectors.of(texts, self._encode)
        return Embeddings(
            data=rows.astype("<f4", copy=False).tobytes(),
            rows=len(rows),
            dim=rows.shape[1],
            model_id=self.model_id,
        )

    def prepare(self, passages: Sequence[str]) -> None:
        """Embed passages that will be scored soon."""
        self._vectors.of(passages, self._encode)

    def warm_up(self) -> None:
        """Run once, so that the first query does not pay for it."""
        self._encode(["warm up"])

    def close(self) -> None:
        self._encoder.streams.close()

    def _encode(self, texts: Sequence[str]) -> Array:
        rows = self._encoder.streams.run(encode(self._encoder.tokenizer, texts))
        return np.nan_to_num(rows)
