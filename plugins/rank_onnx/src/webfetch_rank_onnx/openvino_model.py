"""The same interface over OpenVINO. It is optional: nothing imports this module where it is not used."""

from __future__ import annotations

import io
import threading
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import openvino

from .streams import Array

# It fills a table at its first use, and two threads that do so at once wait for each other for ever
# (OpenVINO 2026.4, 2 of 25 processes): the first use is here, where one thread imports.
openvino.Type.i64.to_dtype()

PRECISIONS = {"fp32": "f32", "bf16": "bf16"}


class OpenVinoModel:
    """A compiled model with what ``Streams`` uses of a session. Thread-safe: each thread has a request."""

    def __init__(self, graph: bytes, tensors: Mapping[str, Array], precision: str, streams: int) -> None:
        """Compile a graph for ``streams`` runs at once, of one thread each.

        Compiled blobs are not kept on disk: that would save a fifth of a second at the first search of a
        process, and cost 45 to 90 MB that have to be trusted.

        Args:
            tensors: values of the graph's inputs that are constant; they are copied.
            precision: ``fp32`` or ``bf16``.
        """
        core = openvino.Core()
        model = core.read_model(io.BytesIO(graph))
        for parameter in list(model.get_parameters()):
            if parameter.get_friendly_name() in tensors:
                constant = openvino.opset13.constant(np.array(tensors[parameter.get_friendly_name()]))
                parameter.output(0).replace(constant.output(0))
                model.remove_parameter(parameter)
        model.validate_nodes_and_infer_types()
        options = {
            "INFERENCE_PRECISION_HINT": PRECISIONS[precision],
            "NUM_STREAMS": streams,  # requests beyond these wait for each other
            "INFERENCE_NUM_THREADS": streams,
            "ENABLE_CPU_PINNING": False,  # containers forbid it
        }
        self._compiled = core.compile_model(model, "CPU", options)
        self._names = [put.get_any_name() for put in self._compiled.inputs]
        self._own = threading.local()

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(name=name) for name in self._names]

    def run(self, _outputs: None, feed: Mapping[str, Array]) -> list[Array]:
        """Return the outputs, as copies: the request's own buffers are used again."""
        request = getattr(self._own, "request", None)
        if request is None:
            request = self._own.request = self._compiled.create_infer_request()
        request.infer(dict(feed), share_inputs=True)
        return [np.array(tensor.data) for tensor in request.output_tensors]


def capabilities() -> frozenset[str]:
    """What OpenVINO can do on this CPU (``FP32``, ``BF16``, ``INT8``, ...)."""
    return frozenset(openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"))
