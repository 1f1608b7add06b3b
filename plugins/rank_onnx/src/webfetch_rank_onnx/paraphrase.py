"""Whether two queries ask the same: a cross-encoder on the weights that the package brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from webfetch_core.api import NotConfigured

from .adapter import Adapted
from .cores import usable_cores
from .readable import Reader
from .settings import RankOnnxSettings
from .streams import Array, Encoded, Streams, session
from .tokens import encode_pairs, wordpiece
from .weights import fp32, int8, pinned

MAX_TOKENS = 64
"""Of a pair. It was trained on pairs of up to 48; longer ones are declined, since a score of what was cut
off would be a guess."""
BOTH = 2
"""A pair is read in both orders, which have the same length: a run of two needs no padding, and a score does
not depend on what else is asked."""
MOST_DRIFT = 0.5
"""Of logits, which lie between -10 and 10, to those that fp32 makes of two pairs; int8 has .2."""


class Paraphrase:
    """Scores passages by the probability that they ask what the query asks. Thread-safe."""

    def __init__(self, tokenizer: Any, streams: Streams, slope: float, offset: float) -> None:
        """Take an open model; ``slope`` and ``offset`` make a probability of its logit."""
        self._tokenizer = tokenizer
        self._streams = streams
        self._slope, self._offset = slope, offset
        self._reader = Reader(tokenizer.get_vocab())
        self._unknown = tokenizer.token_to_id("[UNK]")

    def score(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """Return a probability for each passage; 0 where the pair cannot be read.

        That is one longer than MAX_TOKENS, one with an empty text or with characters that the vocabulary
        lacks (they would all be the same), or one in another language.
        """
        scores = np.zeros(len(passages))
        pairs = {n: pair for n, text in enumerate(passages) if (pair := self._both_ways(query, text))}
        if pairs:
            rows = self._streams.run([encoded for pair in pairs.values() for encoded in pair])
            logits = rows.reshape(len(pairs), BOTH).mean(axis=1, dtype=np.float64)
            scores[list(pairs)] = 1 / (1 + np.exp(-np.clip(self._slope * logits + self._offset, -50, 50)))
        result: list[float] = np.nan_to_num(scores).tolist()
        return result

    def _both_ways(self, one: str, other: str) -> list[Encoded]:
        """The pair in both orders; empty where it cannot be read."""
        if self._reader.objection("", [f"{one} {other}"]):
            return []
        pair = [encode_pairs(self._tokenizer, a, [b], len(a))[0] for a, b in ((one, other), (other, one))]
        ids, second = pair[0].ids, sum(pair[0].segments)
        whole = second > 1 and len(ids) - second > 2  # more than the tokens that end a text
        return pair if whole and len(ids) <= MAX_TOKENS and self._unknown not in ids else []

    def warm_up(self) -> None:
        """Run once, so that the first pair does not pay for it."""
        self.score("how high is it", ["what is its height"])

    def close(self) -> None:
        self._streams.close()


def load(paths: Mapping[str, Path], settings: RankOnnxSettings) -> Paraphrase:
    """Open the model in int8, or in fp32 where that is asked for or int8 computes something else here.

    Raises:
        NotConfigured: neither gives what it should.
    """
    learned = _learned()
    source = Adapted(pinned(paths["model.onnx"]), learned)
    tokenizer = wordpiece(paths["vocab.txt"], MAX_TOKENS + 1)  # one more tells what is too long
    faults = []
    for precision in ("fp32",) if settings.precision == "fp32" else ("int8", "fp32"):
        factors = {name.removesuffix(".factor"): a for name, a in learned.items() if name.endswith(".factor")}
        try:
            tensors = int8(source, factors) if precision == "int8" else fp32(source)
            model = session(_data(f"paraphrase_{precision}.onnx"), tensors)
            streams = Streams(model, settings.threads or usable_cores(), BOTH, 1)
            _check(streams, learned)
        except Exception as exc:  # the library's own errors have no base but this
            faults.append(f"{precision}: {exc}")
            continue
        slope, offset = learned["calibration"].tolist()
        return Paraphrase(tokenizer, streams, slope, offset)
    raise NotConfigured(f"the paraphrase model cannot run here ({'; '.join(faults)})")


def _check(streams: Streams, learned: Mapping[str, Array]) -> None:
    """Raise ValueError where logits are not the model's. This is also what warms it up."""
    for n in (0, 1):
        ids, segments = (learned[f"check{n}.{part}"].tolist() for part in ("ids", "segments"))
        found = float(streams.run([Encoded(ids=ids, segments=segments)])[0, 0])
        if not abs(found - float(learned[f"check{n}.logit"])) <= MOST_DRIFT:
            streams.close()
            raise ValueError(f"its logits are not the model's ({found:.3f})")


def _learned() -> dict[str, Array]:
    with (files(__package__) / "data" / "paraphrase.npz").open("rb") as stream, np.load(stream) as kept:
        return dict(kept)


def _data(name: str) -> bytes:
    return (files(__package__) / "data" / name).read_bytes()
