"""rank_onnx held to rank_sbert, which is sentence-transformers; ``nox -s parity`` installs what it takes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from array import array
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.cli import main as webfetch
from webfetch_core.testing import FakeContext, model_store

WHY = "differential tests need torch: nox -s parity"
for module in (
    "torch",
    "sentence_transformers",
    "all_minilm_l6_v2",
    "webfetch_rank_onnx",
    "webfetch_rank_sbert",
):
    pytest.importorskip(module, reason=WHY)

np = pytest.importorskip("numpy")
parity = pytest.importorskip("webfetch_rank_onnx.parity")

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]

TEXTS = parity.texts()
LEAST_COSINE, LEAST_TOP_30, MOST_DIFFERENCE = 0.99, 0.93, 1e-3


def ranker(home: Path, plugin: str, provider: str, **settings: Any) -> Any:
    """The provider's own object, with these settings."""
    (declared,) = [
        p for p in import_module(f"webfetch_{plugin}.plugin").webfetch_rankers() if p.name == provider
    ]
    context = FakeContext(plugin, data_dir=home / plugin, models=model_store(home), environ={})
    return declared.build(declared.settings(**settings), context)


def vectors(home: Path, plugin: str, provider: str, texts: Sequence[str]) -> Any:
    opened = ranker(home, plugin, provider)
    made = opened.embed(texts)
    opened.close()
    return np.frombuffer(array("f", made.data), np.float32).reshape(made.rows, made.dim)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def test_vectors_and_rankings_of_the_bi_encoders_agree(home: Path) -> None:
    texts = [*TEXTS.queries, *TEXTS.passages]
    original = vectors(home, "rank_sbert", "sbert", texts)
    ours = vectors(home, "rank_onnx", "onnx", texts)
    figures = parity.vector_figures(original, ours, len(TEXTS.queries))
    assert figures["cosine, mean"] >= LEAST_COSINE
    n = len(TEXTS.queries)
    pairs = zip(original[:n] @ original[n:].T, ours[:n] @ ours[n:].T, strict=True)
    assert np.mean([parity.overlap(a, b, 30) for a, b in pairs]) >= LEAST_TOP_30


def test_the_recorded_vectors_are_those_of_sentence_transformers(home: Path) -> None:
    recorded = Path(__file__).parents[2] / "plugins" / "rank_onnx" / "tests" / "data" / "sbert_minilm.npy"
    rows = vectors(home, "rank_sbert", "sbert", [*TEXTS.queries, *TEXTS.passages])
    kept = np.load(recorded).astype(np.float32)
    assert np.abs(rows - kept).max() < 2e-3  # float16, and another version of the library


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random BERT with one score."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(7)
    folder = tmp_path_factory.mktemp("models") / "trained"
    letters = [chr(n) for n in range(97, 123)] + [str(n) for n in range(10)] + list("東京は日本の首都、.:?|-")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters)]
    vocabulary = folder.with_name("vocab.txt")
    vocabulary.write_text("\n".join(words), encoding="utf-8")
    BertTokenizerFast(str(vocabulary), model_max_length=256).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=96,
        max_position_embeddings=256,
        num_labels=1,
        initializer_range=0.2,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture
def exported(home: Path, trained: Path, tmp_path: Path) -> Iterator[Path]:
    pytest.importorskip("optimum.onnxruntime", reason=WHY)
    out, err = io.StringIO(), io.StringIO()
    target = tmp_path / "out"
    words = ["models", "export", str(trained), "--to", str(target), "--precision", "fp32"]
    code = webfetch(words, environ={"WEBFETCH_HOME": str(home)}, stdout=out, stderr=err)
    assert code == 0, out.getvalue() + err.getvalue()
    assert (target / "webfetch-model.json").is_file()
    yield target


def test_scores_of_the_cross_encoders_agree(home: Path, trained: Path, exported: Path) -> None:
    theirs = ranker(home, "rank_sbert", "sbert_crossencoder", crossencoder=str(trained))
    ours = ranker(home, "rank_onnx", "onnx_crossencoder", crossencoder=str(exported))
    for query in TEXTS.queries:
        wanted = theirs.score(query, TEXTS.passages)
        assert ours.score(query, TEXTS.passages) == pytest.approx(wanted, abs=MOST_DIFFERENCE)
        assert np.ptp(wanted) > 100 * MOST_DIFFERENCE  # it tells passages apart


def test_opening_and_scoring_asks_nothing_of_any_hub(home: Path, trained: Path) -> None:
    code = """
import json, sys
seen = []
def hook(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        seen.append(f"{event} {arguments!r}")
sys.addaudithook(hook)
from webfetch_core import Settings, Webfetch
home, folder = sys.argv[1:]
plugins = {"rank_sbert": {"crossencoder": folder}}
chosen = Settings(home=home, rank=("sbert", "sbert_crossencoder"), cache=("none",), plugins=plugins)
with Webfetch(chosen, environ={}) as wf:
    wf.warm_up("rank")
    steps = wf.rank("how high is it", ["41 metres", "in 1962"])[0].steps
print(json.dumps([sorted(steps), seen]))
"""
    environ = {k: v for k, v in os.environ.items() if k not in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")}
    ran = subprocess.run(
        [sys.executable, "-c", code, str(home), str(trained)],
        capture_output=True, text=True, check=False, env=environ, timeout=300,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    steps, seen = json.loads(ran.stdout.splitlines()[-1])
    assert {"biencoder", "crossencoder"} <= set(steps)
    assert seen == []
