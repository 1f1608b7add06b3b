"""Which files of a folder or repository make a model. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

GRAPHS = ("onnx/model.onnx", "model.onnx")
"""Where a graph lies, by habit of the hub and of exporters; the first one that is there."""

_MODULE = re.compile(r"\d+_\w+/(config\.json|model\.safetensors)\Z")


def pick_crossencoder(names: Sequence[str]) -> list[str]:
    """The graph, its tokenizer, and what tells how to run them.

    Raises:
        ValueError: there is no graph, or no tokenizer; with what to do.
    """
    return [*pick_graph(names), *(name for name in names if name == "modules.json" or _MODULE.match(name))]


def pick_biencoder(names: Sequence[str]) -> list[str]:
    """The graph, its tokenizer, and how long a text it was trained for.

    Raises:
        ValueError: there is no graph, or no tokenizer; with what to do.
    """
    return [*pick_graph(names), *(name for name in names if name == "sentence_bert_config.json")]


def pick_graph(names: Sequence[str]) -> list[str]:
    """The graph with its external data, ``tokenizer.json``, and ``config.json`` where there is one.

    Raises:
        ValueError: there is no graph, or no tokenizer; with what to do.
    """
    graph = find_graph(names)
    if "tokenizer.json" not in names:
        raise ValueError("it has no tokenizer.json: save its fast tokenizer beside the graph")
    data = [name for name in names if name in (f"{graph}_data", f"{graph}.data")]
    return [graph, *data, "tokenizer.json", *(name for name in names if name == "config.json")]


def find_graph(names: Sequence[str]) -> str:
    """The ONNX file that is meant. Raises ValueError: there is none, or nothing tells which."""
    for name in GRAPHS:
        if name in names:
            return name
    graphs = [name for name in names if name.endswith(".onnx")]
    if not graphs:
        raise ValueError("it has no ONNX file: make one with webfetch models export")
    if len(graphs) > 1:
        raise ValueError(
            f"it has several ONNX files ({', '.join(sorted(graphs)[:5])}), none named model.onnx"
        )
    return graphs[0]


def pick_trained(names: Sequence[str]) -> list[str]:
    """The files of a model as it was trained: weights, tokenizer, and the description of its modules.

    Weights as safetensors alone: the other form can run code when it is read.

    Raises:
        ValueError: there is no ``config.json``, or there are no weights in that form; with what to do.
    """
    if "config.json" not in names and "modules.json" not in names:
        raise ValueError("it has no config.json: it is no model of transformers or sentence-transformers")
    own = [name for name in names if name.partition("/")[0] not in ("onnx", "openvino")]
    if not any(name.endswith(".safetensors") for name in own):
        raise ValueError("it has no weights as safetensors: save it with safe_serialization")
    endings = (".json", ".safetensors", "vocab.txt", "merges.txt", ".model")
    return [name for name in own if name.endswith(endings) and name != "webfetch-model.json"]
