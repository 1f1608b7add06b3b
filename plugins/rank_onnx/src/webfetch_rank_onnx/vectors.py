"""Vectors by content: a passage that was ranked before costs a look-up."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping

import numpy as np

from webfetch_core.api import CacheSpace, NotConfigured, PluginContext, WebfetchError

from .forks import in_forked_child
from .streams import Array

MEMORY_ROWS = 20_000
"""Vectors kept in this process, as float16: 15 MB of 384 dimensions."""


class Vectors:
    """A memory of vectors in front of the shared space ``vectors``. Thread-safe.

    Rows are float16: half the space, and a cosine that differs by less than 1e-3.
    """

    def __init__(self, model_id: str, context: PluginContext | None, dim: int) -> None:
        """Take the model's name, which is part of every key; without a context there is memory alone."""
        self._dim = dim
        self._model_id = model_id.encode()
        self._context = context
        self._rows: OrderedDict[bytes, Array] = OrderedDict()
        self._unlock()
        in_forked_child(self._unlock)
        self._space: CacheSpace | None = None
        self._looked = context is None

    def _unlock(self) -> None:
        self._lock = threading.Lock()

    def key(self, text: str) -> bytes:
        """The key of a text: SHA-256 of the model's name and the text."""
        return hashlib.sha256(self._model_id + b"\0" + text.encode("utf-8", "surrogatepass")).digest()

    def known(self, keys: Iterable[bytes]) -> dict[bytes, Array]:
        """Return the rows that are there, from memory or the store."""
        wanted = dict.fromkeys(keys)
        found = self.remembered(wanted)
        space = self._open() if len(found) < len(wanted) else None
        if space is None:
            return found
        try:
            rows = space.get_many([key for key in wanted if key not in found])
        except WebfetchError:  # a store in trouble is a store without rows; the core tells of it
            self._space, rows = None, {}
        read = {key: np.frombuffer(v, "<f2") for key, v in rows.items() if len(v) == 2 * self._dim}
        # One that is damaged is made anew, and takes its place.
        stored: dict[bytes, Array] = {key: row for key, row in read.items() if np.isfinite(row).all()}
        self.remember(stored)
        return found | stored

    def remembered(self, keys: Iterable[bytes]) -> dict[bytes, Array]:
        """Return the rows that this process has."""
        found: dict[bytes, Array] = {}
        with self._lock:
            for key in keys:
                if key in self._rows:
                    self._rows.move_to_end(key)
                    found[key] = self._rows[key]
        return found

    def store(self, rows: Mapping[bytes, Array]) -> None:
        """Put rows into the store, which waits for a disk."""
        space = self._open()
        if space is None:
            return
        try:
            space.put_many({key: row.astype("<f2", copy=False).tobytes() for key, row in rows.items()})
        except WebfetchError:
            self._space = None

    def remember(self, rows: Mapping[bytes, Array]) -> None:
        """Keep rows in this process."""
        with self._lock:
            self._rows.update(rows)
            while len(self._rows) > MEMORY_ROWS:
                self._rows.popitem(last=False)

    def _open(self) -> CacheSpace | None:
        """The space, asked for once: opening the store is nothing to try again at every passage."""
        if not self._looked and self._context is not None:
            self._looked = True
            try:
                self._space = self._context.cache("vectors")
            except NotConfigured:
                self._space = None
        return self._space
