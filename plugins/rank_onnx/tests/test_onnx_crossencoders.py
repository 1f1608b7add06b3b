"""Any cross-encoder: what it reads and answers, which of its files are taken, and how it comes from a hub."""

from __future__ import annotations

import json
import math
import shutil
import struct
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_rank_onnx import crossencoder, plugin
from webfetch_rank_onnx.backends import Machine
from webfetch_rank_onnx.crossencoder import load, max_tokens
from webfetch_rank_onnx.head import ACTIVATIONS, load_head, read_safetensors
from webfetch_rank_onnx.picking import pick_crossencoder, pick_trained
from webfetch_rank_onnx.settings import RankOnnxSettings
from webfetch_rank_onnx.specs import CROSSENCODERS, ETTIN_17M, ETTIN_32M, MSMARCO, NLI
from webfetch_rank_onnx.streams import session
from webfetch_rank_onnx.tokens import wordpiece

from webfetch_core import Settings, Webfetch
from webfetch_core.api import ConfigError, NotConfigured
from webfetch_core.testing import LoopbackHub

DATA = Path(__file__).parent / "data"
HEADED = DATA / "toy_headed"
REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("toy") / "tokenizer.json"
    wordpiece(Path(str(files("webfetch_rank_onnx") / "data" / "vocab.txt")), 512).save(str(path))
    return path.read_bytes()


def in_folder(folder: Path) -> dict[str, Path]:
    names = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
    return {name: folder / name for name in pick_crossencoder(names)}


def toy(folder: Path, graph: str, tokenizer: bytes, **config: Any) -> Path:
    folder.mkdir(exist_ok=True)
    shutil.copy(DATA / graph, folder / "model.onnx")
    (folder / "tokenizer.json").write_bytes(tokenizer)
    if config:
        (folder / "config.json").write_text(json.dumps(config))
    return folder


# ---- graphs of several kinds -----------------------------------------------------------------------------


def test_one_without_token_types_and_with_flat_logits(tmp_path: Path, tokenizer: bytes) -> None:
    ranker = load(in_folder(toy(tmp_path, "toy_plain.onnx", tokenizer)), RankOnnxSettings(threads=2, batch=2))
    assert ranker.score("red green", ["blue", "", "a b c d", "x " * 9]) == [3, 2, 6, 11]
    assert ranker.score("red", []) == []
    ranker.close()


def test_one_with_its_head_beside_the_graph_scores_as_sentence_transformers_does() -> None:
    told = json.loads((HEADED / "scores.json").read_text(encoding="utf-8"))
    ranker = load(in_folder(HEADED), RankOnnxSettings(threads=2, batch=2))
    ranker.warm_up()
    for (query, passage), score in zip(told["pairs"], told["scores"], strict=True):
        assert ranker.score(query, [passage])[0] == pytest.approx(score, abs=1e-4)
    query, _ = told["pairs"][0]
    passages = [passage for _, passage in told["pairs"]] * 3  # several batches of several lengths
    alone = [ranker.score(query, [passage])[0] for passage in passages]
    assert ranker.score(query, passages) == pytest.approx(alone, abs=1e-4)
    ranker.close()


def test_one_that_gives_more_than_a_score_is_no_ranker(tmp_path: Path, tokenizer: bytes) -> None:
    with pytest.raises(NotConfigured, match="a ranker needs one number for each pair"):
        load(in_folder(toy(tmp_path, "toy_three.onnx", tokenizer)), RankOnnxSettings())


def test_token_states_without_modules_are_no_score(tmp_path: Path) -> None:
    shutil.copytree(HEADED, tmp_path / "x")
    (tmp_path / "x" / "modules.json").unlink()
    with pytest.raises(NotConfigured, match="ends at the token states"):
        load(in_folder(tmp_path / "x"), RankOnnxSettings())


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("onnx/model.onnx", b"not a graph", "cannot be opened as an ONNX model"),
        ("tokenizer.json", b"{}", "cannot be used"),
        ("modules.json", b'[{"type": "a.Transformer", "path": ""}]', "come first"),
        ("1_Pooling/config.json", b'{"pooling_mode": "lasttoken"}', "pooling 'lasttoken' is not known"),
        (
            "2_Dense/config.json",
            b'{"activation_function": "a.b.Softsign"}',
            "activation Softsign is not known",
        ),
        ("2_Dense/model.safetensors", b"\x05", "is no safetensors file"),
        ("4_Dense/model.safetensors", b"\x02\0\0\0\0\0\0\0{}", "linear.weight"),
    ],
)
def test_what_is_wrong_with_a_model_is_said(tmp_path: Path, file: str, content: bytes, told: str) -> None:
    shutil.copytree(HEADED, tmp_path / "x")
    (tmp_path / "x" / file).write_bytes(content)
    with pytest.raises(NotConfigured, match=told):
        load(in_folder(tmp_path / "x"), RankOnnxSettings())


def test_a_long_query_of_any_script_leaves_room_for_the_passage() -> None:
    """A letter a token: such a query alone is longer than all that the model reads."""
    ranker = load(in_folder(HEADED), RankOnnxSettings(threads=1))
    for query in ("東京" * 2_000, "red " * 400):
        first, second = ranker.score(query, ["red green blue", ""])
        assert math.isfinite(first) and first != second
    ranker.close()


# ---- on another library -----------------------------------------------------------------------------------


class Shifted:
    """A library that computes something else: the session's scores, and ``by`` more."""

    def __init__(self, graph: Path, by: float) -> None:
        self._inner, self._by = session(str(graph)), by

    def get_inputs(self) -> Any:
        return self._inner.get_inputs()

    def run(self, outputs: None, feed: dict[str, Any]) -> list[Any]:
        return [rows + np.float32(self._by) for rows in self._inner.run(outputs, feed)]


@pytest.mark.parametrize(("by", "taken"), [(0.01, True), (30.0, False)])
def test_a_faster_library_is_taken_only_where_it_scores_alike(
    tmp_path: Path, tokenizer: bytes, monkeypatch: pytest.MonkeyPatch, by: float, taken: bool
) -> None:
    paths = in_folder(toy(tmp_path, "toy_plain.onnx", tokenizer))
    machine = Machine(openvino=True, bf16=True)
    monkeypatch.setattr(crossencoder, "this_machine", lambda: machine)
    monkeypatch.setattr(crossencoder, "_in_openvino", lambda graph, precision, streams: Shifted(graph, by))
    ranker = load(paths, RankOnnxSettings(threads=1))
    assert ranker.score("red", ["blue"]) == pytest.approx([2 + (by if taken else 0)])
    ranker.close()


def test_what_the_other_library_cannot_run_stays_where_it_is(
    tmp_path: Path, tokenizer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = in_folder(toy(tmp_path, "toy_plain.onnx", tokenizer))
    monkeypatch.setattr(crossencoder, "this_machine", lambda: Machine(openvino=True, bf16=True))
    monkeypatch.setattr(crossencoder, "_in_openvino", lambda graph, precision, streams: None)
    ranker = load(paths, RankOnnxSettings(threads=1))
    assert ranker.score("red", ["blue"]) == [2]
    ranker.close()


def test_a_library_that_is_named_and_not_there_says_what_to_install(
    tmp_path: Path, tokenizer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crossencoder, "this_machine", lambda: Machine(openvino=False, bf16=False))
    paths = in_folder(toy(tmp_path, "toy_plain.onnx", tokenizer))
    with pytest.raises(NotConfigured, match="OpenVINO") as told:
        load(paths, RankOnnxSettings(backend="openvino"))
    assert "webfetch-rank-onnx[openvino]" in told.value.fix


@pytest.mark.parametrize("folder", [HEADED, None], ids=["head", "plain"])
def test_openvino_scores_as_onnxruntime_does(tmp_path: Path, tokenizer: bytes, folder: Path | None) -> None:
    pytest.importorskip("openvino", reason="OpenVINO is not installed")
    paths = in_folder(folder or toy(tmp_path, "toy_plain.onnx", tokenizer))
    made = [load(paths, RankOnnxSettings(threads=2, batch=2, backend=b)) for b in ("onnxruntime", "openvino")]
    passages = ["green and red", "", "the keeper lived until 1962 " * 9, "blue"]
    wanted, found = (ranker.score("red green", passages) for ranker in made)
    assert found == pytest.approx(wanted, abs=0.05)
    assert type(made[1]._streams._model).__name__ == "OpenVinoModel"
    for ranker in made:
        ranker.close()


# ---- how much is read -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "tokens"),
    [
        ({}, 512),
        ({"max_position_embeddings": 512}, 512),
        ({"max_position_embeddings": 7999}, 512),
        ({"max_position_embeddings": 130}, 128),  # a run is padded to whole buckets
        ({"max_position_embeddings": 12}, 12),
        ({"max_position_embeddings": 514, "model_type": "xlm-roberta", "pad_token_id": 1}, 512),
        ({"max_position_embeddings": 258, "model_type": "roberta", "pad_token_id": 1}, 256),
        ({"max_position_embeddings": "many"}, 512),
        ({"max_position_embeddings": -1}, 512),
    ],
)
def test_a_model_is_given_no_more_than_it_can_read(
    tmp_path: Path, config: dict[str, Any], tokens: int
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert max_tokens({"config.json": tmp_path / "config.json"}) == tokens


@pytest.mark.parametrize("text", ["", "[]", "{", "\x00"])
def test_a_config_that_is_none_does_no_harm(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    assert max_tokens({"config.json": tmp_path / "config.json"}) == max_tokens({}) == 512


# ---- the head's parts -------------------------------------------------------------------------------------


def test_pooling_by_the_mean_counts_real_tokens_alone(tmp_path: Path) -> None:
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    modules = [{"type": "x.Transformer", "path": ""}, {"type": "x.Pooling", "path": "1_Pooling"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    head = load_head({n: tmp_path / n for n in ("modules.json", "1_Pooling/config.json")})
    assert head is not None
    states = np.array([[[1.0, 2.0], [3.0, 4.0], [99.0, 99.0]]], np.float32)
    assert head(states, [2]).tolist() == [[2.0, 3.0]]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Identity", [-1.0, 0.0, 2.0]),
        ("ReLU", [0.0, 0.0, 2.0]),
        ("Tanh", [-0.761594, 0.0, 0.964028]),
        ("Sigmoid", [0.268941, 0.5, 0.880797]),
        ("SiLU", [-0.268941, 0.0, 1.761594]),
        ("GELU", [-0.158655, 0.0, 1.954500]),  # the exact one, by the normal distribution
    ],
)
def test_activations_are_torchs(name: str, wanted: list[float]) -> None:
    assert ACTIVATIONS[name](np.array([-1.0, 0.0, 2.0], np.float32)).tolist() == pytest.approx(
        wanted, abs=1e-5
    )


def safetensors(header: dict[str, Any], body: bytes) -> bytes:
    raw = json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + body


def test_tensors_are_read_as_they_were_written(tmp_path: Path) -> None:
    half = np.array([[1.5, -2.0]], "<f2")
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]},
        "b": {"dtype": "F16", "shape": [1, 2], "data_offsets": [12, 16]},
    }
    path = tmp_path / "x.safetensors"
    path.write_bytes(safetensors(header, np.arange(3, dtype="<f4").tobytes() + half.tobytes()))
    read = read_safetensors(path)
    assert read["a"].tolist() == [0, 1, 2] and read["b"].tolist() == [[1.5, -2.0]]


@given(st.binary(max_size=60))
def test_any_bytes_are_tensors_or_an_error(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.mktemp("x") / "x.safetensors"
    path.write_bytes(raw)
    try:
        read_safetensors(path)
    except ValueError as told:
        assert "x.safetensors" in str(told)


@pytest.mark.parametrize(
    "row",
    [
        {"dtype": "I8", "shape": [1], "data_offsets": [0, 1]},
        {"dtype": "F32", "shape": [9], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1], "data_offsets": [0, 400]},
        {"dtype": "F32", "shape": [1]},
        7,
    ],
)
def test_tensors_that_are_not_there_are_refused(tmp_path: Path, row: Any) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(safetensors({"a": row}, b"\0" * 3))
    with pytest.raises(ValueError, match=r"x.safetensors cannot be read"):
        read_safetensors(path)


# ---- which files ------------------------------------------------------------------------------------------


def test_of_a_repository_what_runs_is_picked() -> None:
    names = [
        "README.md", "config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt",
        "model.safetensors", "pytorch_model.bin", "onnx/model.onnx", "onnx/model.onnx_data",
        "onnx/model_O3.onnx", "onnx/model_qint8_avx512.onnx", "openvino/openvino_model.xml", "modules.json",
        "1_Pooling/config.json", "2_Dense/config.json", "2_Dense/model.safetensors",
        "sentence_bert_config.json",
    ]  # fmt: skip
    assert sorted(pick_crossencoder(names)) == [
        "1_Pooling/config.json", "2_Dense/config.json", "2_Dense/model.safetensors", "config.json",
        "modules.json", "onnx/model.onnx", "onnx/model.onnx_data", "tokenizer.json",
    ]  # fmt: skip
    assert sorted(pick_trained(names)) == [
        "1_Pooling/config.json", "2_Dense/config.json", "2_Dense/model.safetensors", "config.json",
        "model.safetensors", "modules.json", "sentence_bert_config.json", "tokenizer.json",
        "tokenizer_config.json", "vocab.txt",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["tokenizer.json", "model.safetensors"], "webfetch models export"),
        (["a.onnx", "b.onnx", "tokenizer.json"], "several ONNX files"),
        (["model.onnx"], "no tokenizer.json"),
        ([], "no ONNX file"),
    ],
)
def test_what_makes_no_model_is_said(names: list[str], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        pick_crossencoder(names)


def test_a_graph_of_any_name_is_meant_where_it_is_the_only_one() -> None:
    assert pick_crossencoder(["my.onnx", "tokenizer.json"]) == ["my.onnx", "tokenizer.json"]


@pytest.mark.parametrize(
    ("names", "told"),
    [(["model.safetensors"], "no config.json"), (["config.json", "pytorch_model.bin"], "safetensors")],
)
def test_what_was_not_trained_here_is_said(names: list[str], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        pick_trained(names)


def test_every_hub_model_is_pinned_to_a_commit() -> None:
    for spec in (*CROSSENCODERS, NLI):
        assert (
            len(spec.revision) == 40
            and spec.licence == "Apache-2.0"
            and spec.repo.startswith("cross-encoder/")
        )
    assert CROSSENCODERS[0] is MSMARCO
    assert [spec.name for spec in (ETTIN_17M, ETTIN_32M)] == [
        "ettin-reranker-17m-v1",
        "ettin-reranker-32m-v1",
    ]


# ---- in a host --------------------------------------------------------------------------------------------


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    pytest.importorskip("huggingface_hub", reason="pulling needs huggingface_hub")
    with LoopbackHub() as hub:
        bodies = {p.relative_to(HEADED).as_posix(): p.read_bytes() for p in HEADED.rglob("*") if p.is_file()}
        yield hub.add("acme/headed", REVISION, bodies)


def host(home: Path, named: str, hub: LoopbackHub | None = None) -> Webfetch:
    chosen = Settings(
        home=str(home),
        rank="auto",
        cache=("none",),
        plugins={"rank_onnx": {"crossencoder": named}},
    )
    environ = {"HF_ENDPOINT": hub.endpoint} if hub else {}
    return Webfetch(chosen, plugins=[plugin], autoload=False, environ=environ)


def test_a_folder_serves_in_the_cascade(tmp_path: Path, tokenizer: bytes) -> None:
    folder = toy(tmp_path / "mine", "toy_plain.onnx", tokenizer)
    with host(tmp_path, str(folder)) as wf:
        best = wf.rank("red", ["blue", "blue green yellow"])[0]
    assert (best.index, best.steps["crossencoder"]) == (1, 4.0)


def test_a_repository_serves_once_it_was_pulled_and_never_asks_again(
    tmp_path: Path, hub: LoopbackHub
) -> None:
    named = f"acme/headed@{REVISION}"
    with host(tmp_path, named, hub) as wf:
        (row,) = [p for p in wf.status().providers if p.name == "onnx_crossencoder"]
        assert row.state == "off" and "webfetch models pull acme--headed" in row.reason
        ranked = wf.rank("red green", ["green and red", "blue"])
        assert all("crossencoder" not in scored.steps for scored in ranked)
        assert hub.site.connections == 0
        (spec,) = [s for s in wf.host.catalog.models() if s.repo == "acme/headed"]
        wf.host.models().pull(spec)
    asked = hub.site.connections
    assert not any("scores.json" in line for line in hub.downloads)
    with host(tmp_path, named, hub) as wf:
        steps = wf.rank("red green", ["green and red", "blue"])[0].steps
    assert steps["crossencoder"] == pytest.approx(0.0, abs=1.0)
    assert hub.site.connections == asked


@pytest.mark.parametrize("named", ["acme/headed", "acme/headed@main", "ms-marco"])
def test_a_name_that_is_none_says_what_to_write(tmp_path: Path, named: str) -> None:
    with host(tmp_path, named) as wf, pytest.raises(ConfigError, match="crossencoder") as told:
        wf.rank("red", ["blue", "green"])
    assert "COMMIT" in str(told.value)


def test_a_folder_that_makes_no_model_leaves_the_step_off(tmp_path: Path) -> None:
    with host(tmp_path, str(tmp_path / "nowhere")) as wf:
        (row,) = [p for p in wf.status().providers if p.name == "onnx_crossencoder"]
        assert row.state == "off" and "there is no folder" in row.reason
