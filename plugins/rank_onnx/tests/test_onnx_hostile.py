"""What models, stores and systems do that they should not: broken tokenizers, damaged vectors, forks."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time
from array import array
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from webfetch_rank_onnx import minilm
from webfetch_rank_onnx.biencoder import BiEncoder
from webfetch_rank_onnx.crossencoder import load
from webfetch_rank_onnx.encoder import load as load_biencoder
from webfetch_rank_onnx.settings import RankOnnxSettings
from webfetch_rank_onnx.specs import MINILM
from webfetch_rank_onnx.streams import Encoded, Streams
from webfetch_rank_onnx.tokens import encode_pairs, from_json, wordpiece

from webfetch_core.api import NotConfigured
from webfetch_core.testing import FakeContext, MemoryCache, model_store

TOYS = Path(__file__).parent / "data"
SPLIT = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
NO_SUCH_TOKEN = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[X]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"SpecialToken": {"id": "[X]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "special_tokens": {},
}
BROKEN: list[dict[str, Any]] = [
    {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
    {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "BAAAAAAAAAAAAAAA"}},
    {"post_processor": NO_SUCH_TOKEN},
    {"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "[U]"}},
]
"""The first three panic in the library: the first one when it is read, the others when a text is."""


@pytest.fixture(scope="module")
def shipped() -> dict[str, Any]:
    vocabulary = Path(str(files("webfetch_rank_onnx") / "data" / "vocab.txt"))
    described: dict[str, Any] = json.loads(wordpiece(vocabulary, 64).to_str())
    return described


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[minilm.Encoder]:
    paths = model_store(tmp_path_factory.mktemp("home")).files(MINILM)
    made = minilm.load(paths, RankOnnxSettings(backend="onnxruntime", threads=1))
    yield made
    made.streams.close()


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_tokenizer_is_told_when_the_model_is_opened(
    tmp_path: Path, shipped: dict[str, Any], broken: dict[str, Any]
) -> None:
    paths = {"model.onnx": tmp_path / "model.onnx", "tokenizer.json": tmp_path / "tokenizer.json"}
    shutil.copy(TOYS / "toy_crossencoder.onnx", paths["model.onnx"])
    paths["tokenizer.json"].write_text(json.dumps(shipped | broken))
    with pytest.raises(NotConfigured, match="cannot be used"):
        load(paths, RankOnnxSettings())
    with pytest.raises(NotConfigured, match="cannot be opened"):
        load_biencoder(paths, RankOnnxSettings(), "toy")


def test_a_tokenizer_that_breaks_down_at_one_text_raises_an_exception(
    tmp_path: Path, shipped: dict[str, Any]
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(shipped | {"pre_tokenizer": SPLIT}))
    tokenizer = from_json(path, 64)
    with pytest.raises(ValueError, match="broke down"):
        encode_pairs(tokenizer, "a" * 40 + "!", ["b"], 1_000)


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_vector_that_is_damaged_in_the_store_is_made_anew(encoder: minilm.Encoder, number: float) -> None:
    store = MemoryCache()
    ranker = BiEncoder(encoder, FakeContext("rank_onnx", cache=store))
    key = ranker._vectors.key("the lighthouse is high")
    store.put_many("vectors", {key: np.full(384, number, "<f2").tobytes()})
    scores = ranker.score("how high is the lighthouse", ["the lighthouse is high"])
    assert scores[0] > 0.5
    assert np.isfinite(np.frombuffer(array("f", ranker.embed(["the lighthouse is high"]).data))).all()
    end = time.monotonic() + 20  # it is written when nobody waits any more
    while not np.isfinite(np.frombuffer(store.get_many("vectors", [key])[key], "<f2")).all():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
def test_a_process_that_is_forked_off_after_use_ranks_too() -> None:
    script = """
import os, sys, tempfile
from pathlib import Path
from webfetch_core.testing import model_store
from webfetch_rank_onnx import minilm
from webfetch_rank_onnx.biencoder import BiEncoder
from webfetch_rank_onnx.settings import RankOnnxSettings
paths = model_store(Path(tempfile.mkdtemp())).files(minilm.MINILM)
ranker = BiEncoder(minilm.load(paths, RankOnnxSettings(backend="onnxruntime", threads=2)), None)
ranker.score("red", ["green"])
ranker._vectors._lock.acquire()  # as another thread may
ranker._encoder.streams._change.acquire()
child = os.fork()
if not child:
    print(len(ranker.score("blue", ["yellow", "green"])), flush=True)
    os._exit(0)
sys.exit(os.waitpid(child, 0)[1])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, b"2\n"), done.stderr


class Ones:
    """A session."""

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(name="input_ids"), SimpleNamespace(name="attention_mask")]

    def run(self, outputs: Any, feed: dict[str, Any]) -> list[Any]:
        return [np.ones((len(feed["input_ids"]), 3), np.float32)]


def test_where_the_system_gives_no_thread_the_next_run_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = Streams(Ones(), size=2, batch=1)

    def refuse(thread: Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as system:
        system.setattr(Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start"):
            streams.submit([Encoded(ids=[1])])
    first = streams.submit([Encoded(ids=[1])])
    assert first.result(20).tolist() == [[1, 1, 1]]
    with monkeypatch.context() as system:
        system.setattr(Thread, "start", refuse)
        assert streams.submit([Encoded(ids=[2])]).result(20) is not None  # one will do
    streams.close()
