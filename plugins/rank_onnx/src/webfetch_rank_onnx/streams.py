"""One onnxruntime session, several streams: each thread runs small batches of texts of like length."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import onnxruntime
from attrs import field, frozen

BUCKET = 16
"""Lengths are padded to a multiple of this, so that buffers of few shapes are ever asked for."""

Ids = Sequence[int]
Array = np.ndarray[Any, np.dtype[Any]]


@frozen(kw_only=True)
class Encoded:
    """One text or pair as the model reads it: token ids, and the segment of each where the model asks."""

    ids: Ids
    segments: Ids = ()


def session(model: bytes | str, tensors: Mapping[str, Array] | None = None) -> onnxruntime.InferenceSession:
    """Open a model for runs of one thread each.

    Two threads with a session thread each are faster and steadier here than one run on two threads.
    No thread spins while it waits, memory of odd shapes is given back, and none is pinned to a core,
    which containers forbid.

    Args:
        tensors: what the graph names as external, by name; kept alive by the caller's arrays.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    if tensors:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in tensors.values()]
        options.add_external_initializers(list(tensors), values)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@frozen
class Streams:
    """Runs a session over any number of texts. Thread-safe: all calls share the streams.

    Attributes:
        model: the session.
        size: threads.
        batch: texts a run.
    """

    model: onnxruntime.InferenceSession
    size: int
    batch: int
    _pool: ThreadPoolExecutor = field(init=False)
    _inputs: frozenset[str] = field(init=False)
    _closed: threading.Event = field(factory=threading.Event, init=False)

    @_pool.default
    def _make_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.size, thread_name_prefix="webfetch-onnx")

    @_inputs.default
    def _names(self) -> frozenset[str]:
        return frozenset(put.name for put in self.model.get_inputs())

    def run(self, texts: Sequence[Encoded]) -> Array:
        """Return the first output, one row a text, in the order of ``texts``; float32.

        Raises:
            RuntimeError: the streams are closed.
        """
        if not texts:
            return np.zeros((0, 0), np.float32)
        batches = list(by_length([len(text.ids) for text in texts], self.batch))

        def one(places: Sequence[int]) -> Array:
            if self._closed.is_set():
                raise RuntimeError("the ranker is closed")
            return self._run_batch([texts[place] for place in places])

        if len(batches) == 1:
            results = [one(batches[0])]
        else:
            results = list(self._pool.map(one, batches))
        rows = np.empty((len(texts), *results[0].shape[1:]), np.float32)
        for places, result in zip(batches, results, strict=True):
            rows[places] = result
        return rows

    def _run_batch(self, texts: Sequence[Encoded]) -> Array:
        longest = max(len(text.ids) for text in texts)
        width = -(-longest // BUCKET) * BUCKET
        feed = {name: np.zeros((len(texts), width), np.int64) for name in self._inputs}
        for row, text in enumerate(texts):
            feed["input_ids"][row, : len(text.ids)] = text.ids
            feed["attention_mask"][row, : len(text.ids)] = 1
            if "token_type_ids" in feed and text.segments:
                feed["token_type_ids"][row, : len(text.segments)] = text.segments
        output: Array = self.model.run(None, feed)[0]
        return output

    def close(self) -> None:
        """End the threads; runs under way come to their end."""
        self._closed.set()
        self._pool.shutdown(wait=False, cancel_futures=True)


def by_length(lengths: Sequence[int], batch: int) -> Iterator[list[int]]:
    """Yield places in batches of like length, longest first, so that no stream ends with the longest."""
    order = sorted(range(len(lengths)), key=lambda place: (-lengths[place], place))
    for start in range(0, len(order), batch):
        yield order[start : start + batch]


Encode = Callable[[Sequence[str]], Sequence[Encoded]]
"""Tokenises texts."""
