"""Vectors by content: a passage that was ranked before costs a look-up."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np

from webfetch_core.api import CacheSpace, NotConfigured, PluginContext, WebfetchError

from .streams import Array

DIM = 384
MEMORY_ROWS = 20_000
"""Vectors kept in this process, as float16: 15 MB."""

Encode = Callable[[Sequence[str]], Array]


class Vectors:
    """A memory of vectors in front of the shared space ``vectors``. Thread-safe.

    Rows are float16: half the space, and a cosine that differs by less than 1e-3.
    """

    def __init__(self, model_id: str, context: PluginContext | None) -> None:
        self._model_id = model_id.encode()
        self._context = context
        self._rows: OrderedDict[bytes, Array] = OrderedDict()
        self._lock = threading.Lock()
        self._space: CacheSpace | None = None
        self._looked = context is None

    def of(self, texts: Sequence[str], encode: Encode) -> Array:
        """Return the unit vector of each text as float32 rows; what is not known is encoded, once each."""
        keys = [self._key(text) for text in texts]
        known = self._known(dict.fromkeys(keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            rows = encode(list(missing.values())).astype(np.float16)
            fresh = dict(zip(missing, rows, strict=True))
            known |= fresh
            self._keep(fresh)
        if not texts:
            return np.zeros((0, DIM), np.float32)
        stacked = np.stack([known[key] for key in keys]).astype(np.float32)
        norms = np.linalg.norm(stacked, axis=1, keepdims=True)
        unit: Array = stacked / np.where(norms > 0, norms, 1)
        return unit

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(self._model_id + b"\0" + text.encode("utf-8", "surrogatepass")).digest()

    def _known(self, keys: dict[bytes, None]) -> dict[bytes, Array]:
        found: dict[bytes, Array] = {}
        with self._lock:
            for key in keys:
                if key in self._rows:
                    self._rows.move_to_end(key)
                    found[key] = self._rows[key]
        space = self._open() if len(found) < len(keys) else None
        if space is None:
            return found
        stored: dict[bytes, Array] = {}
        try:
            for key in keys:
                if key not in found and (value := space.get(key)) is not None and len(value) == 2 * DIM:
                    stored[key] = np.frombuffer(value, "<f2")
        except WebfetchError:  # a store in trouble is a store without rows; the core tells of it
            self._space = None
        self._remember(stored)
        return found | stored

    def _keep(self, rows: dict[bytes, Array]) -> None:
        self._remember(rows)
        space = self._open()
        if space is None:
            return
        try:
            for key, row in rows.items():
                space.put(key, row.astype("<f2", copy=False).tobytes())
        except WebfetchError:
            self._space = None

    def _remember(self, rows: dict[bytes, Array]) -> None:
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
