"""The bi-encoder as a ranker: the cosine of query and passage."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeout
from functools import partial

import numpy as np

from webfetch_core.api import Embeddings, NotConfigured, PluginContext

from .minilm import Encoder
from .readable import Reader
from .streams import Array, by_length
from .tokens import encode
from .vectors import Vectors

MOST_AHEAD = 100
"""Runs of work ahead that may be queued: beyond that a machine is too slow for it to be of use."""

WINDOW = 8
"""Batches that are sorted by length together: what comes first in importance is done first, nearly."""


class BiEncoder:
    """Scores passages by cosine, and gives vectors to whoever asks. Thread-safe."""

    def __init__(self, encoder: Encoder, context: PluginContext | None) -> None:
        """Take an open model; with a context, vectors are kept in its shared space ``vectors``."""
        self.model_id = encoder.model_id
        self._encoder = encoder
        self._vectors = Vectors(encoder.model_id, context, encoder.dim)
        self._dim = encoder.dim
        # What another model reads is not told by whole words of its vocabulary.
        self._reader = Reader(encoder.tokenizer.get_vocab()) if encoder.one_language else None

    def score(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """Return the cosine of ``query`` and each passage, from -1 to 1."""
        return [float(value) for value in self._cosines(query, passages, passages, None)]

    def score_within(
        self, query: str, passages: Sequence[str], order: Sequence[int], seconds: float
    ) -> Sequence[float | None]:
        """Return the cosines that could be had in ``seconds``, None for the other passages.

        Args:
            order: places in ``passages``, most important first.

        Raises:
            NotConfigured: query or passages are in a language that the model does not read.
        """
        if objection := self._objection(query, passages):
            raise NotConfigured(f"{self.model_id} has no opinion: {objection}")
        until = time.monotonic() + seconds
        values = self._cosines(query, passages, [passages[place] for place in order], until)
        return [None if np.isnan(value) else float(value) for value in values]

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one unit vector per text."""
        rows = self._rows(texts, texts, None)
        data = (
            unit(np.stack([rows[self._vectors.key(text)] for text in texts]))
            if texts
            else np.zeros((0, self._dim), np.float32)
        )
        return Embeddings(
            data=data.astype("<f4", copy=False).tobytes(),
            rows=len(texts),
            dim=self._dim,
            model_id=self.model_id,
        )

    def prepare(self, passages: Sequence[str]) -> None:
        """Queue passages that will be scored soon, and return at once.

        They are embedded while nobody waits for anything else; where too much is queued already, and where
        the model does not read their language, these are left out.
        """
        if self._objection("", passages):
            return
        room = MOST_AHEAD - self._encoder.streams.waiting_ahead
        keyed = {self._vectors.key(text): text for text in passages}
        known = self._vectors.known(keyed)
        missing = [key for key in keyed if key not in known]
        self._start(
            {key: keyed[key] for key in missing[: max(room, 0) * self._encoder.streams.batch]}, ahead=True
        )

    def warm_up(self) -> None:
        """Run once, so that the first query does not pay for it."""
        self._encoder.streams.run(encode(self._encoder.tokenizer, ["warm up"]))

    def close(self) -> None:
        self._encoder.streams.close()

    def _objection(self, query: str, passages: Sequence[str]) -> str:
        return self._reader.objection(query, passages) if self._reader else ""

    # ---- rows ---------------------------------------------------------------------------------------

    def _cosines(
        self, query: str, passages: Sequence[str], ordered: Sequence[str], until: float | None
    ) -> Array:
        """One number a passage; NaN for those without a row in time."""
        if not passages:
            return np.zeros(0, np.float32)
        rows = self._rows(passages, ordered, until, first=query)
        asked = rows.get(self._vectors.key(query))
        if asked is None:
            return np.full(len(passages), np.nan, np.float32)
        nothing = np.full(self._dim, np.nan, np.float16)
        found = np.stack([rows.get(self._vectors.key(text), nothing) for text in passages])
        cosines: Array = unit(found) @ unit(asked[None])[0]
        return cosines

    def _rows(
        self, passages: Sequence[str], ordered: Sequence[str], until: float | None, first: str | None = None
    ) -> dict[bytes, Array]:
        """The rows of ``ordered`` by key: those that are known, and those that come by ``until``.

        ``first`` is what nothing else is of use without: it has a batch of its own, before all others.
        """
        head = {} if first is None else {self._vectors.key(first): first}
        rest = {self._vectors.key(text): text for text in ordered}
        rows = self._vectors.known([*head, *rest])
        started = []
        for keyed in (head, rest):
            started += self._start({k: t for k, t in keyed.items() if k not in rows}, ahead=False)
        for keys, future in started:
            left = None if until is None else max(until - time.monotonic(), 0.0)
            try:
                future.result(left)
            except (FutureTimeout, CancelledError):
                future.cancel()
                continue
            rows |= self._vectors.remembered(keys)
        return rows

    def _start(self, missing: Mapping[bytes, str], *, ahead: bool) -> list[tuple[list[bytes], Future[Array]]]:
        """Queue what is missing, in batches of like length that keep the order nearly.

        That is cheap: the streams tokenise what they come to.
        """
        keys = list(missing)
        streams = self._encoder.streams
        started = []
        for start in range(0, len(keys), WINDOW * streams.batch):
            window = keys[start : start + WINDOW * streams.batch]
            for places in self._batches([len(missing[key]) for key in window]):
                some = [window[place] for place in places]
                # Work ahead may have been done by somebody who could not wait for it.
                wanted = partial(self._lacks, some) if ahead else None
                future = streams.submit(
                    partial(encode, self._encoder.tokenizer, [missing[key] for key in some]),
                    ahead=ahead,
                    wanted=wanted,
                    then=partial(self._remember, some),
                    after=partial(self._store, some),
                )
                started.append((some, future))
        return started

    def _batches(self, lengths: Sequence[int]) -> Iterable[Sequence[int]]:
        """Places by batch: of like length (in characters) where a batch is padded, else as they come."""
        batch = self._encoder.streams.batch
        if self._encoder.streams.bucket:
            return by_length(lengths, batch)
        return [range(start, min(start + batch, len(lengths))) for start in range(0, len(lengths), batch)]

    def _remember(self, keys: Sequence[bytes], result: Array) -> None:
        self._vectors.remember(_rows_of(keys, result))

    def _store(self, keys: Sequence[bytes], result: Array) -> None:
        self._vectors.store(_rows_of(keys, result))

    def _lacks(self, keys: Sequence[bytes]) -> bool:
        return len(self._vectors.remembered(keys)) < len(keys)


def _rows_of(keys: Sequence[bytes], result: Array) -> dict[bytes, Array]:
    return dict(zip(keys, np.nan_to_num(result).astype(np.float16), strict=True))


def unit(rows: Array) -> Array:
    """Rows of length one, float32; rows of zeros stay as they are."""
    wide = rows.astype(np.float32)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    result: Array = wide / np.where(norms > 0, norms, 1)
    return result
