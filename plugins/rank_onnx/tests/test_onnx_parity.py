"""How near models are to their originals: the figures, their gates, and the shipped model without torch."""

from __future__ import annotations

import json
import shutil
from array import array
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_rank_onnx import minilm, parity, plugin
from webfetch_rank_onnx.biencoder import BiEncoder
from webfetch_rank_onnx.encoder import load, text_tokens
from webfetch_rank_onnx.settings import RankOnnxSettings
from webfetch_rank_onnx.specs import MINILM
from webfetch_rank_onnx.tokens import encode, wordpiece

from webfetch_core import Settings, Webfetch
from webfetch_core.api import NotConfigured
from webfetch_core.testing import model_store

DATA = Path(__file__).parent / "data"


def unit(rows: Any) -> Any:
    wide = np.asarray(rows, np.float32)
    return wide / np.linalg.norm(wide, axis=1, keepdims=True)


# ---- the shipped model -----------------------------------------------------------------------------------


def test_the_shipped_model_is_held_to_sentence_transformers(tmp_path: Path) -> None:
    """Recorded by tools/record_reference.py, on texts of many kinds. Quantised per tensor it would be .95."""
    bundled = parity.texts()
    original = unit(np.load(DATA / "sbert_minilm.npy"))
    encoder = minilm.load(model_store(tmp_path).files(MINILM), RankOnnxSettings(threads=2))
    rows = encoder.streams.run(encode(encoder.tokenizer, [*bundled.queries, *bundled.passages]))
    encoder.streams.close()
    figures = parity.vector_figures(original, unit(rows), len(bundled.queries))
    assert figures["cosine, mean"] >= 0.99
    assert figures["cosine, least"] >= 0.95
    queries = len(bundled.queries)
    best = [
        parity.overlap(a, b, 30)
        for a, b in zip(
            original[:queries] @ original[queries:].T,
            unit(rows)[:queries] @ unit(rows)[queries:].T,
            strict=True,
        )
    ]
    assert np.mean(best) >= 0.93
    assert parity.problems(figures, "int8") == ()


def test_the_texts_are_of_many_kinds() -> None:
    bundled = parity.texts()
    assert (len(bundled.queries), len(bundled.passages)) == (8, 48)
    assert {"", " "} < set(bundled.passages) and max(map(len, bundled.passages)) > 1_500
    assert any("\u4e00" <= c <= "\u9fff" for passage in bundled.passages for c in passage)


# ---- figures ----------------------------------------------------------------------------------------------


def test_a_model_is_its_own_equal() -> None:
    rows = unit(np.random.default_rng(1).normal(size=(20, 8)))
    figures = parity.vector_figures(rows, rows, 4)
    assert figures["cosine, mean"] == pytest.approx(1) and figures["overlap of the first 10, mean"] == 1
    assert figures["difference of scores, largest"] == 0
    assert parity.problems(figures, "fp32") == ()


def test_each_gate_is_named_with_its_figure() -> None:
    figures = {
        "correlation of scores, mean": 0.5,
        "overlap of the first 10, mean": 0.8,
        "difference of scores, largest": 0.3,
    }
    assert parity.problems(figures, "int8") == (
        "correlation of scores, mean 0.5000, at least 0.99",
        "overlap of the first 10, mean 0.8000, at least 0.9",
    )
    assert "difference of scores, largest 0.3, at most 0.001" in parity.problems(figures, "fp32")


def test_what_is_no_number_passes_no_gate() -> None:
    nan = float("nan")
    figures = {
        "cosine, mean": nan,
        "overlap of the first 10, mean": nan,
        "difference of scores, largest": nan,
    }
    assert len(parity.problems(figures, "fp32")) == 3


def test_the_overlap_counts_the_best_alone() -> None:
    assert parity.overlap([3, 2, 1, 0], [2, 3, 0, 1], 2) == 1
    assert parity.overlap([3, 2, 1, 0], [0, 1, 2, 3], 2) == 0
    assert parity.overlap([1], [5], 10) == 1


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20), st.floats(0.1, 10), st.floats(-5, 5))
def test_a_scale_and_a_shift_change_no_correlation(row: list[float], scale: float, shift: float) -> None:
    a = np.round(np.array(row), 3)
    wanted = pytest.approx(1.0, abs=1e-6)
    assert parity.correlation(a, a * scale + shift) == wanted or np.ptp(a) == 0
    assert parity.correlation(a, a) == wanted


# ---- an exported bi-encoder -------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Its vector has three equal numbers: it is about how it is run."""
    shutil.copy(DATA / "toy_three.onnx", tmp_path / "model.onnx")
    vocabulary = Path(str(files("webfetch_rank_onnx") / "data" / "vocab.txt"))
    wordpiece(vocabulary, 512).save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def in_folder(folder: Path) -> dict[str, Path]:
    return {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def ranker(folder: Path) -> Iterator[BiEncoder]:
    opened = BiEncoder(load(in_folder(folder), RankOnnxSettings(threads=1, batch=2), "toy"), None)
    yield opened
    opened.close()


def test_an_exported_bi_encoder_gives_unit_rows_of_its_own_size(ranker: BiEncoder) -> None:
    made = ranker.embed(["a", "", "b " * 900, "東京"])
    rows = np.frombuffer(array("f", made.data), np.float32).reshape(made.rows, made.dim)
    assert rows.shape == (4, 3) and np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert ranker.embed([]).dim == 3
    assert ranker.score("灯塔有多高", ["灯塔高四十一米。" * 9, "b"]) == pytest.approx([1, 1], abs=1e-3)
    assert made.model_id.startswith("toy:")


def test_vectors_of_another_graph_have_another_name(folder: Path, ranker: BiEncoder) -> None:
    (folder / "model.onnx").write_bytes(
        (DATA / "toy_crossencoder.onnx").read_bytes()
    )  # one number: a vector, too
    other = load(in_folder(folder), RankOnnxSettings(threads=1), "toy")
    assert (other.dim, other.model_id == ranker.model_id) == (1, False)
    other.streams.close()


def test_a_folder_serves_as_the_bi_encoder_of_a_host(folder: Path, tmp_path: Path) -> None:
    chosen = Settings(
        home=str(tmp_path / "home"),
        rank=("onnx",),
        cache=("none",),
        plugins={"rank_onnx": {"biencoder": str(folder)}},
    )
    with Webfetch(chosen, plugins=[plugin], autoload=False) as wf:
        assert wf.host.embed(["a"]).dim == 3
        assert "biencoder" in wf.rank("red", ["blue", "green"])[0].steps


def test_token_states_are_no_vector() -> None:
    with pytest.raises(NotConfigured, match="no bi-encoder with its pooling inside"):
        load(in_folder(DATA / "toy_headed"), RankOnnxSettings(), "x")


@pytest.mark.parametrize(
    ("told", "tokens"), [(256, 256), (100, 96), (9, 9), (0, 512), ("x", 512), (9_999, 512)]
)
def test_a_text_is_cut_where_the_model_was_trained(tmp_path: Path, told: Any, tokens: int) -> None:
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": told}))
    assert text_tokens(in_folder(tmp_path)) == tokens
