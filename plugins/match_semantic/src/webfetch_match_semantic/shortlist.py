"""Which of many cached queries are near a query: by their vectors, or by the words they share."""

from __future__ import annotations

import re
import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from webfetch_core.api import Embeddings, PerProcess

from .tokens import MAX_CHARS
from .vocabulary import STOP, SURE_FILLERS

Embed = Callable[[Sequence[str]], Embeddings]
Floats = NDArray[np.float32]

BATCH = 256
"""Texts that are embedded at a time."""
PATIENCE_S = 0.5
"""What a look may spend on texts that have no vector here yet; the rest comes at the next looks. Vectors of
cached queries are in the store as a rule, and come by the thousand."""
ROWS = 1_000
"""Rows that are multiplied at a time."""
VIEWS = 4
"""Collections of texts that are kept in mind at a time."""
SLACK = 2_000
"""Vectors of texts that are gone, which may stay before the matrix is made anew."""


class VectorIndex:
    """Vectors of cached queries, by text, in one matrix. Thread-safe.

    All rows are of one model: where the model or its dimension changes, every row is made anew.
    """

    def __init__(self, embed: Embed, monotonic: Callable[[], float]) -> None:
        self._lock = PerProcess(threading.Lock)
        self._embed = embed
        self._monotonic = monotonic
        self._model: tuple[str, int] = ("", 0)
        self._forget()

    def nearest(self, query: str, texts: Sequence[str], at_most: int, least: float) -> list[int]:
        """Return the places of up to ``at_most`` texts whose cosine with the query is ``least`` or more.

        Raises:
            WebfetchError: there are no vectors to be had.
        """
        asked = self._embed([query[:MAX_CHARS]])
        with self._lock():
            self._of_model(asked)
            rows = self._rows_of(texts)
            matrix = self._matrix[: self._used]
        if not len(rows) or not len(matrix):
            return []
        vector = np.frombuffer(asked.data, "<f4")
        every = _products(matrix, vector)
        found = np.where(rows >= 0, every[rows], np.float32(-2.0))
        # The last one of equal ones: it is the younger.
        places = np.flatnonzero(found >= least - 1e-6)
        if len(places) > 4 * at_most:
            last = np.partition(found[places], -at_most)[-at_most]
            places = places[found[places] >= last]
        order = np.lexsort((-places, -found[places]))
        return [int(place) for place in places[order][:at_most]]

    # ---- rows; the lock is held -----------------------------------------------------------------------

    def _forget(self) -> None:
        self._row: dict[str, int] = {}
        self._matrix: Floats = np.zeros((0, self._model[1]), np.float32)
        self._used = 0
        self._views: OrderedDict[int, tuple[Sequence[str], NDArray[np.intp], bool]] = OrderedDict()

    def _of_model(self, vectors: Embeddings) -> None:
        if self._model != (vectors.model_id, vectors.dim):
            self._model = (vectors.model_id, vectors.dim)
            self._forget()

    def _rows_of(self, texts: Sequence[str]) -> NDArray[np.intp]:
        """The row of each text, -1 for those that have none yet."""
        known = self._views.get(id(texts))
        if known is not None and known[0] is texts and known[2]:
            self._views.move_to_end(id(texts))
            return known[1]
        missing = list(dict.fromkeys(text for text in reversed(texts) if text not in self._row))
        self._add(missing, texts)
        rows = np.fromiter((self._row.get(text, -1) for text in texts), np.intp, len(texts))
        if isinstance(texts, tuple):
            self._views[id(texts)] = (texts, rows, bool((rows >= 0).all()))
            while len(self._views) > VIEWS:
                self._views.popitem(last=False)
        return rows

    def _add(self, missing: Sequence[str], texts: Sequence[str]) -> None:
        """Embed what is missing, the youngest first, as far as patience goes."""
        if self._used > 2 * len(texts) + SLACK:
            self._keep_only(texts)
        until = self._monotonic() + PATIENCE_S
        for start in range(0, len(missing), BATCH):
            some = missing[start : start + BATCH]
            vectors = self._embed([text[:MAX_CHARS] for text in some])
            if (vectors.model_id, vectors.dim) != self._model or vectors.rows != len(some):
                return  # the model changed under our hands: the next look starts anew
            self._grow(len(some))
            self._matrix[self._used : self._used + len(some)] = np.frombuffer(vectors.data, "<f4").reshape(
                len(some), -1
            )
            self._row |= {text: self._used + n for n, text in enumerate(some)}
            self._used += len(some)
            if self._monotonic() > until:
                return

    def _grow(self, more: int) -> None:
        if self._used + more > len(self._matrix):
            wider = np.zeros(
                (max(1_024, 2 * len(self._matrix), self._used + more), self._model[1]), np.float32
            )
            wider[: self._used] = self._matrix[: self._used]
            self._matrix = wider

    def _keep_only(self, texts: Sequence[str]) -> None:
        kept = [text for text in dict.fromkeys(texts) if text in self._row]
        matrix = self._matrix[[self._row[text] for text in kept]]
        self._forget()
        self._matrix, self._used = matrix, len(kept)
        self._row = {text: n for n, text in enumerate(kept)}


def _products(matrix: Floats, vector: Floats) -> Floats:
    """``matrix @ vector``, some rows at a time: for all of them numpy's BLAS starts a thread a core, which
    takes ten times as long where anything else runs (10,000 rows: 4 to 16 ms against .4)."""
    parts = [matrix[start : start + ROWS] @ vector for start in range(0, len(matrix), ROWS)]
    found: Floats = np.concatenate(parts)
    return found


_WORD = re.compile(r"\w+")


def _terms(text: str) -> set[str]:
    words = _WORD.findall(text[:MAX_CHARS].casefold())
    kept = {word for word in words if word not in STOP and word not in SURE_FILLERS}
    return {word[:-1] if len(word) > 3 and word.endswith("s") else word for word in kept or words}


class WordIndex:
    """Cached queries by the words they have, where there are no vectors. Thread-safe."""

    def __init__(self) -> None:
        self._lock = PerProcess(threading.Lock)
        self._views: OrderedDict[int, tuple[Sequence[str], dict[str, list[int]], list[float]]] = OrderedDict()

    def nearest(self, query: str, texts: Sequence[str], at_most: int) -> list[int]:
        """Return the places of up to ``at_most`` texts that share words with the query, most alike first."""
        with self._lock():
            _, places, sizes = self._view(texts)
        scores: Counter[int] = Counter()
        mine = 0.0
        for term in _terms(query):
            found = places.get(term, [])
            weight = log(1 + len(texts) / (1 + len(found)))
            mine += weight
            for place in found:
                scores[place] += weight  # type: ignore[assignment]
        alike = {place: score / (mine + sizes[place] - score) for place, score in scores.items()}
        equal = query.strip().casefold()
        return sorted(alike, key=lambda p: (texts[p].strip().casefold() != equal, -alike[p], -p))[:at_most]

    def _view(self, texts: Sequence[str]) -> tuple[Sequence[str], dict[str, list[int]], list[float]]:
        known = self._views.get(id(texts))
        if known is not None and known[0] is texts:
            self._views.move_to_end(id(texts))
            return known
        places: dict[str, list[int]] = defaultdict(list)
        each = [_terms(text) for text in texts]
        for place, terms in enumerate(each):
            for term in terms:
                places[term].append(place)
        weight = {term: log(1 + len(texts) / (1 + len(found))) for term, found in places.items()}
        view = (texts, dict(places), [sum(map(weight.__getitem__, terms)) for terms in each])
        if isinstance(texts, tuple):
            self._views[id(texts)] = view
            while len(self._views) > VIEWS:
                self._views.popitem(last=False)
        return view
