"""From a trained paraphrase model to ``data/paraphrase.npz``, the file that rank_onnx reads.

The same checkpoint gives the same bytes. What lies in it: see ``webfetch_rank_onnx.adapter``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from paraphrase_model import PARTS, Adapted, Paraphrase
from torch import Tensor
from webfetch_rank_onnx import weights

ALPHA = 0.7
"""SmoothQuant's, as in rank_onnx's ``tools/build_graph.py``."""
MEASURED = 100
"""Pairs on which activations are measured."""
CHECKED = (
    ("how tall is the lighthouse of Tarn", "height of the Tarn lighthouse"),
    ("ferry from Tarn to Holm price", "how much is the ferry from Holm to Tarn"),
)
SURE = 8.0
"""Logits beyond it count as this much in the calibration."""
RECORDED = (
    ("how tall is the eiffel tower", "eiffel tower height"),
    ("how tall is the eiffel tower", "who designed the eiffel tower"),
    ("iPhone 16 battery capacity mAh", "how big is the battery in the iPhone 16"),
    ("iPhone 16 battery capacity", "iPhone 15 battery capacity"),
    ("train from Berlin to Prague", "how do I get from Berlin to Prague by train"),
    ("train from Berlin to Prague", "train from Prague to Berlin"),
    ("which foods should I eat before surgery", "which foods should I avoid before surgery"),
    ("cancel my subscription", "please end my subscription"),
    ("did Oracle acquire Sun", "was Sun acquired by Oracle"),
    ("did Oracle acquire Sun", "was Oracle acquired by Sun"),
    ("side effects of ibuprofen", "what side effects does ibuprofen have in children"),
    ("who won the world chess championship in 1972", "winner of the 1972 world chess championship"),
)
Kept = dict[str, np.ndarray]


def thin(model: Paraphrase) -> Kept:
    """The additions in int8, put back into the model as they were rounded."""
    kept: Kept = {}
    for number, layer in enumerate(model.layers):
        for part in PARTS:
            projection: Adapted = getattr(layer, part)
            a, scale_a = rounded(projection.a.data.numpy(), axis=0)
            b, scale_b = rounded(projection.b.data.numpy(), axis=1)
            name = f"layer{number}.{part}"
            kept |= {f"{name}.a": a, f"{name}.b": b, f"{name}.scale": (scale_a * scale_b).astype(np.float32)}
            projection.a.data = torch.from_numpy(a * kept[f"{name}.scale"])
            projection.b.data = torch.from_numpy(b.astype(np.float32))
    return kept


def rounded(matrix: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    scale = np.maximum(np.abs(matrix).max(axis=axis), 1e-12) / 127
    wide = scale[None, :] if axis == 0 else scale[:, None]
    return np.rint(matrix / wide).astype(np.int8), scale


def small(model: Paraphrase, source: weights.Pinned) -> Kept:
    """What is added to biases, norms and segments, and the head; float16, as the model then has it."""
    learned = dict(model.named_parameters())
    names = {f"layer{n}.{part}.bias": f"layers.{n}.{part}.bias" for n in range(6) for part in PARTS}
    norms = [f"norm{k}.{part}" for k in (1, 2) for part in ("weight", "bias")]
    names |= {f"layer{n}.{norm}": f"layers.{n}.{norm}" for n in range(6) for norm in norms}
    names |= {f"first.{part}": f"first.{part}" for part in ("weight", "bias")} | {"segments": "segments"}
    kept: Kept = {}
    for name, own in names.items():
        base = source["segment" if name == "segments" else name].astype(np.float32)
        kept[name] = (learned[own].data.numpy() - base).astype(np.float16)
        learned[own].data = torch.from_numpy(base + kept[name].astype(np.float32))
    for name in ("inner", "outer"):
        for part in ("weight", "bias"):
            values = learned[f"{name}.{part}"].data.numpy().astype(np.float16)
            kept[f"{name}.{part}"] = np.ascontiguousarray(values.T)
            learned[f"{name}.{part}"].data = torch.from_numpy(values.astype(np.float32))
    return kept


@torch.no_grad()
def factors(model: Paraphrase, rows: Sequence[tuple[Tensor, Tensor, Tensor]]) -> Kept:
    """By how much each channel of the activations is divided before it is rounded."""
    largest: dict[str, list[np.ndarray]] = {}
    hooks = []
    for number, layer in enumerate(model.layers):
        for name, part in (("qkv", "query"), ("up", "up"), ("down", "down")):

            def seen(_: object, inputs: tuple[Tensor], to: str = f"layer{number}.{name}") -> None:
                largest.setdefault(to, []).append(inputs[0][0].abs().amax(0).numpy())

            hooks.append(getattr(layer, part).register_forward_pre_hook(seen))
    for ids, segments, mask in rows:
        model(ids, segments, mask)
    for hook in hooks:
        hook.remove()
    kept: Kept = {}
    for name, found in largest.items():
        layer = model.layers[int(name[5])]
        parts = ("query", "key", "value") if name.endswith("qkv") else (name.partition(".")[2],)
        whole = [p.weight.T + p.a @ p.b for p in (getattr(layer, part) for part in parts)]
        weight = torch.cat(whole, 1).abs().amax(1).numpy()
        factor = np.maximum(np.mean(found, axis=0), 1e-3) ** ALPHA / np.maximum(weight, 1e-3) ** (1 - ALPHA)
        kept[f"{name}.factor"] = (factor / np.exp(np.log(factor).mean())).astype(np.float16)
    return kept


def calibration(logits: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Slope and offset of the sigmoid that fits best (Platt), by Newton's method with a ridge."""
    x = np.stack([np.clip(logits, -SURE, SURE), np.ones_like(logits)], 1).astype(np.float64)
    w = np.array([0.5, 0.0])
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        slope = (x * (p * (1 - p))[:, None]).T @ x + len(x) * 1e-3 * np.eye(2)
        step = np.linalg.solve(slope, x.T @ (p - labels) + 1e-3 * w)
        w -= step * min(1.0, 0.2 / max(float(np.abs(step).max()), 1e-9))
    return float(w[0]), float(w[1])


def write(kept: Kept, path: Path) -> None:
    np.savez_compressed(path, **dict(sorted(kept.items())))


def checks(tokenizer: object, logit: object) -> Kept:
    """Two pairs and their logits."""
    kept: Kept = {}
    for n, (a, b) in enumerate(CHECKED):
        found = tokenizer.encode(a, b)
        kept[f"check{n}.ids"] = np.array(found.ids, np.int32)
        kept[f"check{n}.segments"] = np.array(found.type_ids, np.int8)
        kept[f"check{n}.logit"] = np.float32(logit(found.ids, found.type_ids))
    return kept
