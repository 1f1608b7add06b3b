"""``webfetch models export``: a model as it was trained becomes ONNX, is quantised, and is measured.

The libraries that this takes (torch, optimum, sentence-transformers) are the extra ``export``, which belongs
in an environment of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from webfetch_core.api import ExportReport, ExportRequest, NotConfigured

from . import parity
from .biencoder import unit
from .crossencoder import load as crossencoder_of
from .crossencoder import max_tokens
from .encoder import load as encoder_of
from .encoder import text_tokens
from .settings import RankOnnxSettings
from .streams import Array
from .tokens import encode

TRAINED = ("config.json", "modules.json")
"""What is copied beside the graph: its dimensions, and what follows it."""

LIMIT = "sentence_bert_config.json"
"""How long a text a bi-encoder was trained for."""

BIENCODER_OUTPUT = "sentence_embedding"


LOCAL: Mapping[str, Any] = {"device": "cpu", "local_files_only": True, "trust_remote_code": False}
"""How the original is opened: nothing is asked of a hub, and no code of the model's is run."""


def export(asked: ExportRequest) -> ExportReport:
    """Write the graph, its tokenizer and what it needs into ``asked.target``; return what was measured.

    Raises:
        NotConfigured: the model is of a kind that cannot be told, or that cannot be exported.
    """
    kind = asked.kind or kind_of(asked.source)
    with _offline(), tempfile.TemporaryDirectory(prefix="webfetch-export-") as name:
        asked.tell(f"exporting a {kind}; this takes from seconds to minutes")
        graph = Path(name) / "graph"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of tracing, which is what is done here
                _to_onnx(asked.source, graph, kind)
        except Exception as exc:  # the libraries' errors have no common base
            raise NotConfigured(f"it cannot be exported as a {kind}: {type(exc).__name__}: {exc}") from exc
        (asked.target / "onnx").mkdir()
        target = asked.target / "onnx" / "model.onnx"
        _copy_rest(asked.source, asked.target, graph, kind)
        original = Original(asked.source, asked.target, kind)
        attempts = (False, True) if asked.precision == "int8" else (None,)
        for narrow in attempts:
            if narrow is None:
                for path in graph.glob("model.onnx*"):  # the weights of a large one lie beside it
                    shutil.copyfile(path, target.with_name(path.name))
            else:
                asked.tell(
                    "quantising again, with the widest sums kept" if narrow else "quantising, by channel"
                )
                _quantise(graph / "model.onnx", target, narrow=narrow)
            asked.tell("measuring it beside the original")
            figures = original.figures()
            problems = parity.problems(figures, asked.precision)
            if not problems:
                break
        figures["graph as exported, bytes"] = float(_size(graph))
        figures["graph as written, bytes"] = float(_size(target.parent))
    return ExportReport(kind=kind, figures=figures, problems=problems)


def kind_of(source: Path) -> str:
    """Tell a bi-encoder from a cross-encoder by the model's own files. Raises NotConfigured."""
    told = str(_json(source / "config_sentence_transformers.json").get("model_type", ""))
    kinds = {"CrossEncoder": "crossencoder", "SentenceTransformer": "biencoder"}
    architectures = [str(name) for name in _json(source / "config.json").get("architectures") or ()]
    if told in kinds:
        return kinds[told]
    if any(name.endswith("ForSequenceClassification") for name in architectures):
        return "crossencoder"
    if (source / "modules.json").is_file():
        return "biencoder"
    raise NotConfigured(
        f"nothing tells what the model is (architectures: {', '.join(architectures) or 'none'})",
        fix="say it: --kind biencoder or --kind crossencoder",
    )


def is_headed(source: Path) -> bool:
    """Whether a cross-encoder's score is made by modules behind its transformer."""
    architectures = _json(source / "config.json").get("architectures") or ()
    return not any(str(name).endswith("ForSequenceClassification") for name in architectures)


def _to_onnx(source: Path, graph: Path, kind: str) -> None:
    from optimum.exporters.onnx import main_export

    if kind == "biencoder":
        # Pooling and what follows are in the graph; token states are of no use here.
        main_export(str(source), graph, task="feature-extraction", library_name="sentence_transformers")
        _keep_output(graph / "model.onnx", BIENCODER_OUTPUT)
        return
    task = "feature-extraction" if is_headed(source) else "text-classification"
    main_export(str(source), graph, task=task, library_name="transformers")


def _keep_output(path: Path, name: str) -> None:
    import onnx

    model = onnx.load(str(path), load_external_data=False)
    kept = [output for output in model.graph.output if output.name == name]
    if not kept:
        raise ValueError(f"the graph has no output {name}")
    del model.graph.output[:]
    model.graph.output.extend(kept)
    onnx.save(model, str(path))


def _quantise(source: Path, target: Path, *, narrow: bool) -> None:
    """int8 weights with a scale a channel, activations quantised as they come.

    Matrix products alone: an embedding table could only be quantised as a whole, and that costs
    all-MiniLM-L6-v2 the gate (mean cosine .9899 instead of .9905).

    Args:
        narrow: keep those products that sum over more numbers than they give (the second half of each
            feed-forward layer): their inputs have the outliers that a common scale cannot hold.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    for path in target.parent.glob(target.name + "*"):  # of the attempt before
        path.unlink()
    quantize_dynamic(
        str(source),
        str(target),
        op_types_to_quantize=["MatMul"],
        nodes_to_exclude=_wide_sums(onnx.load(str(source), load_external_data=False)) if narrow else [],
        per_channel=True,
        weight_type=QuantType.QInt8,
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
        use_external_data_format=source.with_name("model.onnx_data").exists(),
    )


def _wide_sums(model: Any) -> list[str]:
    shapes = {tensor.name: list(tensor.dims) for tensor in model.graph.initializer}
    return [
        node.name
        for node in model.graph.node
        if node.op_type == "MatMul"
        and len(shape := shapes.get(node.input[1], [])) == 2
        and shape[0] > shape[1]
    ]


def _copy_rest(source: Path, target: Path, graph: Path, kind: str) -> None:
    for name in TRAINED:
        if (source / name).is_file():
            shutil.copyfile(source / name, target / name)
    tokenizer = next(
        (f / "tokenizer.json" for f in (source, graph) if (f / "tokenizer.json").is_file()), None
    )
    if tokenizer is None:
        raise NotConfigured("the model has no fast tokenizer (tokenizer.json), which is all that runs here")
    shutil.copyfile(tokenizer, target / "tokenizer.json")
    if kind == "crossencoder" and is_headed(source):
        for folder in sorted(source.glob("[0-9]*_*")):
            shutil.copytree(folder, target / folder.name)


# ---- beside the original -----------------------------------------------------------------------------


class Original:
    """What the model makes of the bundled texts as it was trained, and the exported one beside it."""

    def __init__(self, source: Path, target: Path, kind: str) -> None:
        """Run the original once. A bi-encoder's limit of length is written into ``target``.

        Raises:
            NotConfigured: a cross-encoder gives more than one number a pair.
        """
        self._texts = parity.texts()
        self._target = target
        self._is_biencoder = kind == "biencoder"
        self._rows: Array = self._vectors(source) if self._is_biencoder else self._scores(source)

    def figures(self) -> dict[str, float]:
        """Run what lies in the target, as it will be run."""
        queries, passages = self._texts.queries, self._texts.passages
        if self._is_biencoder:
            encoder = encoder_of(_files(self._target), RankOnnxSettings(), "exported")
            try:
                rows = encoder.streams.run(encode(encoder.tokenizer, [*queries, *passages]))
            finally:
                encoder.streams.close()
            return parity.vector_figures(self._rows, unit(rows), len(queries))
        ranker = crossencoder_of(_files(self._target), RankOnnxSettings())
        try:
            scores = np.array([ranker.score(query, passages) for query in queries], np.float32)
        finally:
            ranker.close()
        return parity.score_figures(self._rows, scores)

    def _vectors(self, source: Path) -> Array:
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(source), **LOCAL)
        # Newer versions keep the limit elsewhere; here it is read from this file alone.
        limit = {"max_seq_length": model.max_seq_length}
        (self._target / LIMIT).write_text(json.dumps(limit) + "\n", encoding="utf-8")
        model.max_seq_length = text_tokens(_files(self._target))
        texts = [*self._texts.queries, *self._texts.passages]
        return np.asarray(model.encode(texts, normalize_embeddings=True), np.float32)

    def _scores(self, source: Path) -> Array:
        import torch
        from sentence_transformers import CrossEncoder

        model = CrossEncoder(str(source), max_length=max_tokens(_files(self._target)), **LOCAL)
        queries, passages = self._texts.queries, self._texts.passages
        pairs = [(query, passage) for query in queries for passage in passages]
        raw = np.asarray(model.predict(pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False))
        if raw.size != len(pairs):
            raise NotConfigured(f"it gives {raw.shape[-1]} numbers for each pair, and a ranker needs one")
        return raw.astype(np.float32).reshape(len(queries), len(passages))


# ---- files -------------------------------------------------------------------------------------------


@contextmanager
def _offline() -> Iterator[None]:
    """Nothing is asked of a hub while a model that is here is converted."""
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_PROGRESS_BARS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _files(folder: Path) -> dict[str, Path]:
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("model.onnx*"))


def _json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
