"""all-MiniLM-L6-v2 as it is shipped, on the graphs of this package."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from webfetch_core.api import NotConfigured

from .backends import Choice, choices, this_machine
from .cores import usable_cores
from .settings import RankOnnxSettings
from .specs import MINILM
from .streams import BUCKET, Array, Encoded, Streams, session
from .tokens import wordpiece
from .weights import fp32, int8, pinned

MAX_TOKENS = 256
"""What the model was trained for (sentence_bert_config.json)."""

LEAST_COSINE = 0.98
"""To what fp32 makes of two texts; below it a CPU or a library computes something else. int8 has .99."""

GRAPHS = {
    ("onnxruntime", "int8"): "minilm_int8.onnx",
    ("onnxruntime", "fp32"): "minilm_fp32.onnx",
    ("openvino", "fp32"): "minilm_plain.onnx",
    ("openvino", "bf16"): "minilm_plain.onnx",
}


@frozen(kw_only=True)
class Encoder:
    """A bi-encoder ready to run: its tokenizer, its streams, and the name of its vectors.

    Attributes:
        choice: the library and the precision in use; None where that is not known.
        passed_over: what would have been preferred and could not be used, with the reasons.
        dim: numbers in a vector.
        one_language: it reads the language of its vocabulary alone, and text in others is declined.
    """

    tokenizer: Any
    streams: Streams
    model_id: str
    choice: Choice | None = None
    passed_over: tuple[str, ...] = ()
    dim: int = 384
    one_language: bool = True


def load(paths: Mapping[str, Path], settings: RankOnnxSettings) -> Encoder:
    """Open the model in the way that is best on this machine, or that the settings name.

    Each way is checked on two texts before it is used; one that fails gives place to the next.

    Raises:
        NotConfigured: no way that the settings allow works here; says why, and what to do.
    """
    passed_over: list[str] = []
    for choice in choices(settings, this_machine()):
        try:
            streams = _open(choice, paths["model.onnx"], settings)
        except Exception as exc:  # the libraries' own errors have no base but this
            passed_over.append(f"{choice}: {exc}")
            continue
        return Encoder(
            tokenizer=wordpiece(paths["vocab.txt"], MAX_TOKENS),
            streams=streams,
            model_id=_model_id(choice),
            choice=choice,
            passed_over=tuple(passed_over),
        )
    raise NotConfigured(
        f"the bi-encoder cannot run here ({'; '.join(passed_over)})",
        fix='set backend and precision of plugins.rank_onnx to "auto"',
    )


def _open(choice: Choice, path: Path, settings: RankOnnxSettings) -> Streams:
    graph, extras = _data(GRAPHS[choice.backend, choice.precision]), _extras()
    source = pinned(path)
    bucket, model, size = 0, None, settings.threads or usable_cores()
    if choice.backend == "openvino":
        from .openvino_model import OpenVinoModel

        # It prepares itself for each shape that it meets, so shapes must be few.
        bucket, model = BUCKET, OpenVinoModel(graph, fp32(source), choice.precision, size)
    elif choice.precision == "int8":
        model = session(graph, int8(source, extras))
    else:
        model = session(graph, fp32(source))
    streams = Streams(model, size, settings.batch, bucket)
    try:
        _check(streams, extras)
    except Exception:
        streams.close()
        raise
    return streams


def _check(streams: Streams, extras: Mapping[str, Array]) -> None:
    """Raise ValueError where the model does not give what it should. This is also what warms it up."""
    wanted = [extras[f"check{n}.row"].astype(np.float32) for n in (0, 1)]
    rows = streams.run([Encoded(ids=extras[f"check{n}.ids"].tolist()) for n in (0, 1)])
    for row, right in zip(rows, wanted, strict=True):
        cosine = float(row @ right / max(float(np.linalg.norm(row) * np.linalg.norm(right)), 1e-9))
        if not cosine >= LEAST_COSINE:
            raise ValueError(f"its vectors are not the model's (cosine {cosine:.3f})")


def _model_id(choice: Choice) -> str:
    """The name of the vectors: weights, precision and graph. Those of another are near, and not the same."""
    weights = next(file.sha256 for file in MINILM.files if file.name == "model.onnx")
    made = hashlib.sha256(_data(GRAPHS[choice.backend, choice.precision]))
    made.update(_data("minilm.npz") if choice.precision == "int8" else b"")
    return f"{MINILM.name}:{choice.precision}:{weights[:12]}:{made.hexdigest()[:8]}"


def _extras() -> dict[str, Array]:
    with (files(__package__) / "data" / "minilm.npz").open("rb") as stream, np.load(stream) as kept:
        return dict(kept)


def _data(name: str) -> bytes:
    return (files(__package__) / "data" / name).read_bytes()
