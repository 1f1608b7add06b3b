"""What runs the bi-encoder: the choice, the check before use, and how near each form is to fp32."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from webfetch_rank_onnx import backends, minilm, parity, plugin, weights
from webfetch_rank_onnx.backends import Choice, Machine, choices, cpu_flags, this_machine
from webfetch_rank_onnx.cores import usable_cores
from webfetch_rank_onnx.settings import RankOnnxSettings
from webfetch_rank_onnx.specs import MINILM
from webfetch_rank_onnx.streams import Encoded, Streams
from webfetch_rank_onnx.tokens import encode

from webfetch_core import Settings, Webfetch
from webfetch_core.api import NotConfigured
from webfetch_core.testing import model_store

HAS_OPENVINO = find_spec("openvino") is not None
BARE = Machine(openvino=False, bf16=False)
INSTALLED = Machine(openvino=True, bf16=False)
MATRIX = Machine(openvino=True, bf16=True)


def names(machine: Machine, **settings: Any) -> list[str]:
    return [str(choice) for choice in choices(RankOnnxSettings(**settings), machine)]


# ---- the choice -------------------------------------------------------------------------------------------


def test_openvino_is_taken_where_it_pays() -> None:
    assert names(BARE) == names(INSTALLED) == ["onnxruntime int8", "onnxruntime fp32"]
    assert names(MATRIX) == ["openvino bf16", "onnxruntime int8", "onnxruntime fp32"]


def test_what_is_named_has_no_substitute() -> None:
    assert names(MATRIX, backend="onnxruntime") == ["onnxruntime int8", "onnxruntime fp32"]
    assert names(MATRIX, precision="int8") == ["onnxruntime int8"]
    assert names(MATRIX, precision="fp32") == ["onnxruntime fp32"]
    assert names(MATRIX, precision="bf16") == ["openvino bf16"]
    assert names(MATRIX, backend="openvino") == ["openvino bf16"]
    assert names(INSTALLED, backend="openvino") == ["openvino fp32"]
    assert names(MATRIX, backend="openvino", precision="fp32") == ["openvino fp32"]


@pytest.mark.parametrize(
    ("machine", "backend", "precision", "told"),
    [
        (BARE, "openvino", "auto", r"backend asks for OpenVINO, which is not installed.*\[openvino\]"),
        (BARE, "auto", "bf16", r"precision asks for OpenVINO, which is not installed.*\[openvino\]"),
        (INSTALLED, "openvino", "bf16", "neither AMX nor AVX512-bf16"),
        (MATRIX, "openvino", "int8", "int8 runs on onnxruntime alone"),
        (MATRIX, "onnxruntime", "bf16", "onnxruntime has no bf16"),
    ],
)
def test_what_cannot_be_is_told_with_what_to_do(
    machine: Machine, backend: str, precision: str, told: str
) -> None:
    with pytest.raises(NotConfigured) as caught:
        choices(RankOnnxSettings(backend=backend, precision=precision), machine)
    assert re.search(told, f"{caught.value} {getattr(caught.value, 'fix', '')}")
    assert "set plugins.rank_onnx." in f"{caught.value} {getattr(caught.value, 'fix', '')}"


@pytest.mark.parametrize(
    ("machine", "backend", "precision"),
    list(
        product(
            (BARE, INSTALLED, MATRIX), ("auto", "onnxruntime", "openvino"), ("auto", "int8", "fp32", "bf16")
        )
    ),
)
def test_every_choice_has_a_graph_and_obeys(machine: Machine, backend: str, precision: str) -> None:
    try:
        found = choices(RankOnnxSettings(backend=backend, precision=precision), machine)
    except NotConfigured:
        return
    assert found
    for choice in found:
        assert (choice.backend, choice.precision) in minilm.GRAPHS
        assert backend in ("auto", choice.backend) and precision in ("auto", choice.precision)
        assert machine.openvino or choice.backend == "onnxruntime"
        assert machine.bf16 or choice.precision != "bf16"


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("model name\t: x\nflags\t\t: fpu avx2 amx_bf16\nflags\t\t: fpu\n", {"fpu", "avx2", "amx_bf16"}),
        ("Features\t: fp asimd bf16\n", {"fp", "asimd", "bf16"}),
        ("", set()),
    ],
)
def test_flags_are_read_as_the_kernel_writes_them(text: str, flags: set[str]) -> None:
    assert cpu_flags(lambda: text) == flags


def test_a_system_without_the_file_has_no_flags() -> None:
    def read() -> str:
        raise FileNotFoundError

    assert cpu_flags(read) == frozenset()


@pytest.mark.parametrize(
    ("flags", "capabilities", "bf16"),
    [
        ({"avx2"}, {"BF16"}, False),  # it would be emulated
        ({"amx_bf16"}, {"BF16"}, True),
        ({"amx_bf16"}, {"FP32"}, False),  # switched off
        (set(), {"BF16"}, True),  # a system that does not tell
    ],
)
def test_both_the_cpu_and_openvino_are_asked(
    monkeypatch: pytest.MonkeyPatch, flags: set[str], capabilities: set[str], bf16: bool
) -> None:
    monkeypatch.setattr(backends, "cpu_flags", lambda: frozenset(flags))
    monkeypatch.setattr(backends, "find_spec", lambda name: object())
    if not HAS_OPENVINO:
        standing_in = SimpleNamespace(capabilities=frozenset)  # never asked: the answer is given
        monkeypatch.setitem(sys.modules, "webfetch_rank_onnx.openvino_model", standing_in)
    assert this_machine(lambda: frozenset(capabilities)) == Machine(openvino=True, bf16=bf16)


# ---- the check --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return model_store(tmp_path_factory.mktemp("home")).files(MINILM)


def test_a_form_that_computes_something_else_gives_place(paths: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = weights.int8

    def broken(source: Any, factors: Any) -> Any:
        tensors = real(source, factors)
        tensors["layer3.up.weight"] = tensors["layer3.up.weight"][:, ::-1].copy()
        return tensors

    monkeypatch.setattr(minilm, "int8", broken)
    encoder = minilm.load(paths, RankOnnxSettings(threads=1, backend="onnxruntime"))
    encoder.streams.close()
    assert str(encoder.choice) == "onnxruntime fp32"
    (told,) = encoder.passed_over
    assert told.startswith("onnxruntime int8: its vectors are not the model's (cosine ")
    with pytest.raises(NotConfigured, match=r"cannot run here .onnxruntime int8: its vectors"):
        minilm.load(paths, RankOnnxSettings(threads=1, precision="int8"))


# ---- how near each is --------------------------------------------------------------------------------------

FORMS = [Choice(backend=backend, precision=precision) for backend, precision in minilm.GRAPHS]


def rows_of(paths: Any, choice: Choice) -> tuple[Any, str]:
    """Rows of the bundled texts, queries first, and the name of the vectors."""
    if choice.backend == "openvino" and not HAS_OPENVINO:
        pytest.skip("OpenVINO is not installed")
    if choice.precision == "bf16" and not this_machine().bf16:
        pytest.skip("this CPU does not multiply bf16")
    chosen = RankOnnxSettings(threads=2, backend=choice.backend, precision=choice.precision)
    encoder = minilm.load(paths, chosen)
    try:
        bundled = parity.texts()
        return (
            encoder.streams.run(encode(encoder.tokenizer, [*bundled.queries, *bundled.passages])),
            encoder.model_id,
        )
    finally:
        encoder.streams.close()


@pytest.fixture(scope="module")
def exact(paths: Any) -> Any:
    return rows_of(paths, Choice(backend="onnxruntime", precision="fp32"))[0]


@pytest.mark.parametrize("choice", FORMS, ids=str)
def test_every_form_ranks_as_fp32_does(paths: Any, exact: Any, choice: Choice) -> None:
    rows, model_id = rows_of(paths, choice)
    assert f":{choice.precision}:" in model_id
    queries = len(parity.texts().queries)
    figures = parity.vector_figures(exact, rows, queries)
    assert figures["cosine, mean"] >= (0.99 if choice.precision == "int8" else 0.9999)
    best = [
        parity.overlap(a, b, 30)
        for a, b in zip(exact[:queries] @ exact[queries:].T, rows[:queries] @ rows[queries:].T, strict=True)
    ]
    assert np.mean(best) >= 0.93


def test_fp32_is_what_sentence_transformers_gives(exact: Any) -> None:
    """But for the rounding of the weights, which the pinned file has in 8 bits."""
    original = np.load(Path(__file__).parent / "data" / "sbert_minilm.npy").astype(np.float32)
    original /= np.linalg.norm(original, axis=1, keepdims=True)
    assert (original * exact).sum(axis=1).mean() >= 0.999


def test_vectors_of_different_forms_have_different_names() -> None:
    made = {minilm._model_id(choice) for choice in FORMS}
    assert len(made) == len(FORMS)


# ---- numbers -----------------------------------------------------------------------------------------------


@given(npst.arrays(np.float32, (5, 3), elements=st.floats(-100, 100, width=32)))
def test_quantised_weights_take_seven_bits_and_err_by_half_a_step(matrix: Any) -> None:
    rounded, scale = weights.quantised(matrix)
    assert rounded.dtype == np.int8 and np.abs(rounded.astype(int)).max() <= 63
    assert 2 * 255 * 63 < 2**15  # the sum of two products does not overflow
    assert (np.abs(rounded * scale - matrix) <= scale * 0.51 + 1e-9).all()


def test_a_text_has_the_same_row_in_any_company(paths: Any) -> None:
    encoder = minilm.load(paths, RankOnnxSettings(threads=2, backend="onnxruntime"))
    texts = encode(encoder.tokenizer, ["short", "a text that is rather longer than the other", "x " * 300])
    together = encoder.streams.run(texts)
    alone = [encoder.streams.run([text])[0] for text in texts]
    encoder.streams.close()
    assert np.array_equal(together, np.stack(alone))


class Widths:
    """A model that remembers the shapes it was given."""

    def __init__(self) -> None:
        self.shapes: list[tuple[int, ...]] = []

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(name="input_ids"), SimpleNamespace(name="attention_mask")]

    def run(self, outputs: Any, feed: dict[str, Any]) -> list[Any]:
        self.shapes.append(feed["input_ids"].shape)
        return [feed["attention_mask"].sum(axis=1, keepdims=True).astype(np.float32)]


@pytest.fixture
def lengths() -> Iterator[list[Encoded]]:
    yield [Encoded(ids=[1] * size) for size in (3, 17, 5)]


@pytest.mark.parametrize(("bucket", "shapes"), [(0, [(1, 17), (1, 5), (1, 3)]), (16, [(3, 32)])])
def test_texts_run_by_themselves_or_padded(lengths: list[Encoded], bucket: int, shapes: Any) -> None:
    model = Widths()
    streams = Streams(model, size=1, batch=8, bucket=bucket)
    assert streams.run(lengths)[:, 0].tolist() == [3, 17, 5]
    assert model.shapes == shapes
    streams.close()


# ---- what is told -----------------------------------------------------------------------------------------


def test_the_doctor_tells_what_the_bi_encoder_runs_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin, "_in_use", [])
    chosen = {"rank_onnx": {"precision": "fp32", "threads": 1}}
    host = Settings(home=str(tmp_path), rank=("onnx",), cache=("none",), plugins=chosen)
    with Webfetch(host, plugins=[plugin], autoload=False) as wf:
        rows = {row.name: row.problem for row in wf.doctor()}
    assert rows["bi-encoder runs on onnxruntime fp32"] == ""
    plugin._in_use[1] = "onnxruntime int8: no"
    (check,) = plugin.webfetch_health_checks()
    assert check.check() == "could not be used: onnxruntime int8: no"


def test_nothing_is_told_before_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "_in_use", [])
    assert plugin.webfetch_health_checks() == []


def test_a_backend_that_is_not_there_is_the_providers_own_trouble(tmp_path: Path) -> None:
    if HAS_OPENVINO:
        pytest.skip("OpenVINO is installed")
    chosen = {"rank_onnx": {"backend": "openvino"}}
    host = Settings(home=str(tmp_path), rank=("onnx",), cache=("none",), plugins=chosen)
    with Webfetch(host, plugins=[plugin], autoload=False) as wf:
        (told,) = [row.problem for row in wf.doctor() if row.name == "rank onnx"]
    assert "asks for OpenVINO, which is not installed" in told and "[openvino]" in told


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="backend"):
        RankOnnxSettings(backend="tensorrt")
    with pytest.raises(ValueError, match="precision"):
        RankOnnxSettings(precision="int4")


@pytest.mark.skipif(not HAS_OPENVINO, reason="OpenVINO is not installed")
def test_the_first_runs_of_two_threads_do_not_wait_for_each_other() -> None:
    """Each in a process of its own, since only the first use of all hangs: one in twelve did."""
    code = """
import sys, threading
from pathlib import Path
import numpy as np
from webfetch_rank_onnx.openvino_model import OpenVinoModel
model = OpenVinoModel(Path(sys.argv[1]).read_bytes(), {}, "fp32", 2)
feed = {name: np.ones((2, 16), np.int64) for name in ("input_ids", "attention_mask")}
sys.setswitchinterval(1e-6)
both = threading.Barrier(2)
def run():
    both.wait()
    model.run(None, feed)
threads = [threading.Thread(target=run, daemon=True) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join(30) for thread in threads]
sys.exit(any(thread.is_alive() for thread in threads))
"""
    toy = Path(__file__).parent / "data" / "toy_plain.onnx"
    for _ in range(3):
        assert subprocess.run([sys.executable, "-c", code, str(toy)], check=False).returncode == 0


@pytest.mark.skipif(not HAS_OPENVINO, reason="OpenVINO is not installed")
def test_as_many_runs_go_on_at_once_as_there_are_streams(paths: Any) -> None:
    """A model compiled for one stream makes the others wait for it: half of the speed on two cores."""
    encoder = minilm.load(paths, RankOnnxSettings(backend="openvino", precision="fp32"))
    compiled: Any = encoder.streams._model
    try:
        assert encoder.streams.size == usable_cores()
        assert compiled._compiled.get_property("NUM_STREAMS") == encoder.streams.size
    finally:
        encoder.streams.close()
