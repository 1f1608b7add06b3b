"""The vector of a query, if the bi-encoder that the model was trained on gives one in time."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Sequence
from math import isfinite
from queue import Empty, SimpleQueue

from webfetch_core.api import Embeddings

from .model import DIM

Embed = Callable[[Sequence[str]], Embeddings]

REMEMBERED = 256
"""Vectors of queries asked before that are kept, 1.5 kB each: a hit in the cache should not wait for one."""

TRAINED_ON = "all-minilm-l6-v2"
"""Part of the ``model_id`` of vectors that the weights are for, in small letters."""


class Meaning:
    """Asks ``embed``, and waits ``patience_s`` seconds at most. Thread-safe.

    While one query is overdue, no other is asked: one that loads or hangs costs the patience of one query.
    """

    def __init__(self, embed: Embed, patience_s: float) -> None:
        self._embed = embed
        self._patience_s = patience_s
        self._overdue: threading.Thread | None = None
        self._known: dict[str, Sequence[float]] = {}

    def vector(self, text: str) -> Sequence[float] | None:
        """The vector of ``text``; None where it cannot be had in time, or is of another model."""
        known = self._known.get(text)
        if known is not None:
            return known
        overdue = self._overdue
        if overdue is not None and overdue.is_alive():
            return None
        answer: SimpleQueue[Embeddings | None] = SimpleQueue()
        thread = threading.Thread(target=self._ask, args=(text, answer), name="freshness", daemon=True)
        thread.start()
        try:
            made = answer.get(timeout=self._patience_s)
        except Empty:
            self._overdue = thread
            return None
        self._overdue = None
        numbers = _numbers(made)
        if numbers is not None:
            if len(self._known) >= REMEMBERED:
                self._known = {}  # in one step: other threads may be reading
            self._known[text] = numbers
        return numbers

    def _ask(self, text: str, answer: SimpleQueue[Embeddings | None]) -> None:
        try:
            answer.put(self._embed([text]))
        except Exception:  # whoever gave the bi-encoder has recorded why; words alone will do
            answer.put(None)


def _numbers(made: Embeddings | None) -> Sequence[float] | None:
    if made is None or made.dim != DIM or made.rows != 1 or TRAINED_ON not in made.model_id.casefold():
        return None
    numbers = array("f", made.data)
    return numbers if len(numbers) == DIM and all(map(isfinite, numbers)) else None
