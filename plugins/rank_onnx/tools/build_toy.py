"""Write the toy cross-encoder of the tests: ``python tools/build_toy.py OUTPUT.onnx``.

Its logit is the number of (query token, passage token) pairs that are equal, less 3, special tokens aside.
Needs ``onnx``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def main(output: Path) -> None:
    names = ("input_ids", "attention_mask", "token_type_ids")
    constants = {
        "last": np.array([2], np.int64),
        "middle": np.array([1], np.int64),
        "both": np.array([1, 2], np.int64),
        "one": np.array(1, np.int64),
        "special": np.array(999, np.int64),  # below it are [PAD], [CLS], [SEP] and unused ones
        "bias": np.array(3.0, np.float32),
    }
    steps = [
        ("Greater", ["input_ids", "special"], "word"),
        ("Cast", ["word"], "word.int"),
        ("Mul", ["word.int", "attention_mask"], "counts"),
        ("Sub", ["one", "token_type_ids"], "is.first"),
        ("Mul", ["counts", "is.first"], "first"),
        ("Mul", ["counts", "token_type_ids"], "second"),
        ("Unsqueeze", ["input_ids", "last"], "ids.rows"),
        ("Unsqueeze", ["input_ids", "middle"], "ids.columns"),
        ("Equal", ["ids.rows", "ids.columns"], "same"),
        ("Cast", ["same"], "same.int"),
        ("Unsqueeze", ["first", "last"], "first.rows"),
        ("Unsqueeze", ["second", "middle"], "second.columns"),
        ("Mul", ["first.rows", "second.columns"], "pairs"),
        ("Mul", ["pairs", "same.int"], "hits"),
        ("ReduceSum", ["hits", "both"], "sum"),
        ("Cast", ["sum"], "sum.float"),
        ("Sub", ["sum.float", "bias"], "score"),
        ("Unsqueeze", ["score", "middle"], "logits"),
    ]
    nodes = []
    for op, inputs, out in steps:
        options: dict[str, int] = {}
        if op == "Cast":
            options["to"] = TensorProto.FLOAT if out.endswith("float") else TensorProto.INT64
        if op == "ReduceSum":
            options["keepdims"] = 0
        nodes.append(helper.make_node(op, inputs, [out], **options))
    graph = helper.make_graph(
        nodes,
        "toy",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    output.write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
