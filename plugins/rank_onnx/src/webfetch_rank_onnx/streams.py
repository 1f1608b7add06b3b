"""One model, several streams: threads that run small batches of texts, or texts by themselves."""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Protocol

import numpy as np
import onnxruntime
from attrs import frozen

from .forks import in_forked_child

BUCKET = 16
"""Lengths of a batch are padded to a multiple of this, so that buffers of few shapes are ever asked for."""

LAST_RUN_S = 10.0
"""How long closing waits for a run that is under way: longer than any batch takes."""

Array = np.ndarray[Any, np.dtype[Any]]


@frozen(kw_only=True)
class Encoded:
    """One text or pair as the model reads it: token ids, and the segment of each where the model asks."""

    ids: Sequence[int]
    segments: Sequence[int] = ()


def session(model: bytes | str, tensors: Mapping[str, Array] | None = None) -> onnxruntime.InferenceSession:
    """Open a model for runs of one thread each.

    Two threads with a session thread each are faster and steadier here than one run on two threads.
    No thread spins while it waits, memory of odd shapes is given back, and none is pinned to a core,
    which containers forbid.

    Args:
        tensors: what the graph names as external, by name; the session keeps them.
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


class Model(Protocol):
    """What runs: an onnxruntime session, or something with the same two methods. Thread-safe."""

    def get_inputs(self) -> Sequence[Any]:
        """Return objects with a ``name``."""
        ...

    def run(self, outputs: None, feed: dict[str, Array]) -> Sequence[Array]:
        """Return all outputs for a batch: ``feed`` has (texts, tokens) of int64 by the inputs' names."""
        ...


Texts = Sequence[Encoded] | Callable[[], Sequence[Encoded]]
"""Texts, or what makes them: tokenising is work for a stream, too."""


@frozen
class _Job:
    texts: Texts
    result: Future[Array]
    wanted: Callable[[], bool] | None = None
    then: Callable[[Array], None] | None = None
    after: Callable[[Array], None] | None = None


class Streams:
    """Runs a session over any number of texts. Thread-safe: all callers share the streams.

    What somebody waits for goes before what may be wanted soon (work ahead), and where there is more than
    one stream, one is never given to work ahead.
    """

    def __init__(self, model: Model, size: int, batch: int, bucket: int = BUCKET) -> None:
        """Take an open model; ``size`` threads start when they are needed.

        Args:
            batch: texts that a stream takes at a time.
            bucket: they run together, padded to a multiple of this. With 0 each runs by itself: nothing
                is padded, and no row depends on what else was in the batch. On onnxruntime a text of twenty
                tokens and more costs as much by itself as in a batch.
        """
        self.size = size
        self.batch = batch
        self.bucket = bucket
        self._model = model
        self._inputs = frozenset(put.name for put in model.get_inputs())
        self._most_ahead = max(size - 1, 1)
        self._closed = False
        self._begin()
        in_forked_child(self._begin)

    def _begin(self) -> None:
        """Without threads, and with nothing queued."""
        self._urgent: deque[_Job] = deque()
        self._ahead: deque[_Job] = deque()
        self._running_ahead = 0
        self._change = threading.Condition()
        self._threads: list[threading.Thread] = []

    def submit(
        self,
        texts: Texts,
        *,
        ahead: bool = False,
        wanted: Callable[[], bool] | None = None,
        then: Callable[[Array], None] | None = None,
        after: Callable[[Array], None] | None = None,
    ) -> Future[Array]:
        """Queue one run; the result has a row for each of ``texts``, in their order.

        Args:
            ahead: nobody waits for it yet.
            wanted: asked when its turn comes; False cancels it.
            then: given the result before anybody who waits for it.
            after: given it next, when nobody waits any more.

        Raises:
            RuntimeError: the streams are closed, or the system gives no thread.
        """
        job = _Job(texts, Future(), wanted, then, after)
        with self._change:
            if self._closed:
                raise RuntimeError("the ranker is closed")
            if len(self._threads) < self.size:
                self._start_thread()
            (self._ahead if ahead else self._urgent).append(job)
            self._change.notify()
        return job.result

    def _start_thread(self) -> None:
        thread = threading.Thread(target=self._work, name="webfetch-onnx", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system gives no more: fewer will do, none will not
            if not self._threads:
                raise
            return
        if not self._threads:
            atexit.register(self.close)
        self._threads.append(thread)

    def run(self, texts: Sequence[Encoded]) -> Array:
        """Return the first output for every text, in their order; float32.

        Raises:
            RuntimeError: the streams are closed.
        """
        batches = list(by_length([len(text.ids) for text in texts], self.batch))
        futures = [self.submit([texts[place] for place in places]) for places in batches]
        results = [future.result() for future in futures]
        if not results:
            return np.zeros((0, 0), np.float32)
        rows = np.empty((len(texts), *results[0].shape[1:]), np.float32)
        for places, result in zip(batches, results, strict=True):
            rows[places] = result
        return rows

    @property
    def waiting_ahead(self) -> int:
        """How many runs of work ahead are queued."""
        return len(self._ahead)

    def close(self) -> None:
        """End the threads: what is queued is cancelled, and a run under way is waited for. Idempotent.

        A process that ends while onnxruntime runs is aborted, so this is also called when Python exits.
        """
        with self._change:
            self._closed = True
            left = [*self._urgent, *self._ahead]
            self._urgent.clear()
            self._ahead.clear()
            self._change.notify_all()
        for job in left:
            job.result.cancel()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(LAST_RUN_S)
        atexit.unregister(self.close)

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(self._has_turn)
                if self._closed:
                    return
                ahead = not self._urgent
                job = (self._ahead if ahead else self._urgent).popleft()
                self._running_ahead += ahead
            try:
                self._do(job)
            finally:
                with self._change:
                    self._running_ahead -= ahead
                    self._change.notify()

    def _has_turn(self) -> bool:
        return bool(self._closed or self._urgent or (self._ahead and self._running_ahead < self._most_ahead))

    def _do(self, job: _Job) -> None:
        if job.wanted is not None and not job.wanted():
            job.result.cancel()
        if not job.result.set_running_or_notify_cancel():
            return
        try:
            result = self._run_batch(job.texts() if callable(job.texts) else job.texts)
            if job.then is not None:
                job.then(result)
        except BaseException as exc:
            job.result.set_exception(exc)
            return
        job.result.set_result(result)
        if job.after is not None:
            with suppress(Exception):  # whoever asked has what was asked for
                job.after(result)

    def _run_batch(self, texts: Sequence[Encoded]) -> Array:
        if self.bucket:
            return self._run_padded(texts, self.bucket)
        return np.concatenate([self._run_padded([text], 1) for text in texts])

    def _run_padded(self, texts: Sequence[Encoded], bucket: int) -> Array:
        longest = max(len(text.ids) for text in texts)
        width = -(-longest // bucket) * bucket
        feed = {name: np.zeros((len(texts), width), np.int64) for name in self._inputs}
        for row, text in enumerate(texts):
            feed["input_ids"][row, : len(text.ids)] = text.ids
            feed["attention_mask"][row, : len(text.ids)] = 1
            if "token_type_ids" in feed and text.segments:
                feed["token_type_ids"][row, : len(text.segments)] = text.segments
        output: Array = self._model.run(None, feed)[0]
        return output


def by_length(lengths: Sequence[int], batch: int) -> Iterator[list[int]]:
    """Yield places in batches of like length, longest first, so that no stream ends with the longest."""
    order = sorted(range(len(lengths)), key=lambda place: (-lengths[place], place))
    for start in range(0, len(order), batch):
        yield order[start : start + batch]
