"""Write the toy models of the tests: ``python tools/build_toy.py tests/data``.

The logit of ``toy_crossencoder`` is the number of (query token, passage token) pairs that are equal, less 3,
special tokens aside.
Needs ``onnx``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

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
    save(output, nodes, names, ["batch", 1], constants)


def save(
    output: Path, nodes: list[Any], names: tuple[str, ...], shape: list[Any], constants: dict[str, Any]
) -> None:
    graph = helper.make_graph(
        nodes,
        "toy",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    output.write_bytes(model.SerializeToString())


def plain(output: Path) -> None:
    """A toy without token types, whose logits have no second dimension: the number of words of the pair."""
    constants = {"special": np.array(999, np.int64), "tokens": np.array([1], np.int64)}
    nodes = [
        helper.make_node("Greater", ["input_ids", "special"], ["word"]),
        helper.make_node("Cast", ["word"], ["word.int"], to=TensorProto.INT64),
        helper.make_node("Mul", ["word.int", "attention_mask"], ["counts"]),
        helper.make_node("ReduceSum", ["counts", "tokens"], ["sum"], keepdims=0),
        helper.make_node("Cast", ["sum"], ["logits"], to=TensorProto.FLOAT),
    ]
    save(output, nodes, ("input_ids", "attention_mask"), ["batch"], constants)


def three(output: Path) -> None:
    """A toy that answers three numbers a pair, as a classifier of entailment does."""
    constants = {"middle": np.array([1], np.int64), "times": np.array([1, 3], np.int64)}
    nodes = [
        helper.make_node("ReduceSum", ["attention_mask", "middle"], ["sum"], keepdims=1),
        helper.make_node("Tile", ["sum", "times"], ["tiled"]),
        helper.make_node("Cast", ["tiled"], ["logits"], to=TensorProto.FLOAT),
    ]
    save(output, nodes, ("input_ids", "attention_mask"), ["batch", 3], constants)


def entailment(output: Path) -> None:
    """A toy of entailment: 3 less 2 for each word of the second text that the first has not; 0 for the other
    two labels, of which one comes before."""
    names = ("input_ids", "attention_mask", "token_type_ids")
    constants = {
        "last": np.array([2], np.int64),
        "middle": np.array([1], np.int64),
        "one": np.array(1, np.int64),
        "two": np.array(2.0, np.float32),
        "special": np.array(999, np.int64),
        "bias": np.array(3.0, np.float32),
        "before": np.array([[0, 1, 0]], np.float32),
    }
    nodes = [
        helper.make_node("Greater", ["input_ids", "special"], ["word"]),
        helper.make_node("Cast", ["word"], ["word.int"], to=TensorProto.INT64),
        helper.make_node("Mul", ["word.int", "attention_mask"], ["counts"]),
        helper.make_node("Sub", ["one", "token_type_ids"], ["is.first"]),
        helper.make_node("Mul", ["counts", "is.first"], ["first"]),
        helper.make_node("Mul", ["counts", "token_type_ids"], ["second"]),
        helper.make_node("Unsqueeze", ["input_ids", "last"], ["ids.rows"]),
        helper.make_node("Unsqueeze", ["input_ids", "middle"], ["ids.columns"]),
        helper.make_node("Equal", ["ids.rows", "ids.columns"], ["same"]),
        helper.make_node("Cast", ["same"], ["same.int"], to=TensorProto.INT64),
        helper.make_node("Unsqueeze", ["first", "last"], ["first.rows"]),
        helper.make_node("Mul", ["first.rows", "same.int"], ["met"]),
        helper.make_node("ReduceMax", ["met"], ["found"], axes=[1], keepdims=0),
        helper.make_node("Sub", ["one", "found"], ["lost"]),
        helper.make_node("Mul", ["lost", "second"], ["lost.second"]),
        helper.make_node("ReduceSum", ["lost.second", "middle"], ["number"], keepdims=1),
        helper.make_node("Cast", ["number"], ["number.float"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["number.float", "two"], ["price"]),
        helper.make_node("Sub", ["bias", "price"], ["logit"]),
        helper.make_node("Mul", ["logit", "before"], ["logits"]),
    ]
    save(output, nodes, names, ["batch", 3], constants)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    main(folder / "toy_crossencoder.onnx")
    plain(folder / "toy_plain.onnx")
    three(folder / "toy_three.onnx")
    entailment(folder / "toy_entailment.onnx")
