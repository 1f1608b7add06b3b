"""How well passages are ranked: nDCG@10 and MRR@10 of each scorer and each fusion.

    python evals/rerank.py [--sets nq_qed,squad2] [--sample N]

Reads ``rerank/<set>.jsonl.xz``: rows of ``query`` and ``candidates`` with ``text`` and ``label`` (0 is not
relevant, more is better), and ``lang`` where a set has several. BM25 is what there is without a model;
the cross-encoder's rows say "not available here" where its weights are not on the machine. Fusions are the
core's own. No bound is tuned here: every candidate of every query counts.
"""

from __future__ import annotations

import argparse
import math
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from common import DATA, finish, need, rows
from webfetch_rank_bm25.ranker import Bm25Ranker
from webfetch_rank_bm25.settings import Bm25Settings

from webfetch_core.errors import NotConfigured
from webfetch_core.pipeline.cascade import Step, run
from webfetch_core.runtime.models import ModelStore
from webfetch_core.settings import default_home

SETS = ("nq_qed", "squad2", "tsqa", "xquad_multilingual", "cranfield", "cisi", "trecqa", "pubmedqa")
HOW = "Any rows of the form that this script's docstring tells will do."
TOP = 10

Score = Callable[[str, Sequence[str]], Sequence[float]]


def ndcg(labels: Sequence[int]) -> float:
    """nDCG@10 with gains of ``2^label - 1`` (Burges et al., 2005)."""

    def dcg(ordered: Sequence[int]) -> float:
        return sum((2**label - 1) / math.log2(place + 2) for place, label in enumerate(ordered[:TOP]))

    best = dcg(sorted(labels, reverse=True))
    return dcg(labels) / best if best else 0.0


def reciprocal_rank(labels: Sequence[int]) -> float:
    """1 / the place of the first relevant passage; 0 beyond the tenth."""
    return next((1 / place for place, label in enumerate(labels[:TOP], 1) if label > 0), 0.0)


def scorers() -> dict[str, Score]:
    """The scorers that this machine has, by kind."""
    found: dict[str, Score] = {"lexical": Bm25Ranker(Bm25Settings()).score}
    try:
        from webfetch_rank_onnx import crossencoder, minilm
        from webfetch_rank_onnx.biencoder import BiEncoder
        from webfetch_rank_onnx.settings import RankOnnxSettings
        from webfetch_rank_onnx.specs import MINILM, MSMARCO
    except ImportError as exc:
        print(f"bi-encoder: not available here ({exc})")
        return found
    store, settings = ModelStore(os.environ, default_home(os.environ)), RankOnnxSettings()
    found["biencoder"] = BiEncoder(minilm.load(store.files(MINILM), settings), None).score
    try:
        found["crossencoder"] = crossencoder.load(store.files(MSMARCO), settings).score
    except NotConfigured as exc:
        print(f"cross-encoder: not available here ({exc})")
    return found


ARMS: dict[str, tuple[tuple[Step, ...], str]] = {
    "bm25": ((Step(kinds=("lexical",), keep=1_000),), "rrf"),
    "bi-encoder": ((Step(kinds=("biencoder",), keep=1_000),), "rrf"),
    "both, rrf": ((Step(kinds=("lexical", "biencoder"), keep=1_000),), "rrf"),
    "both, zscore": ((Step(kinds=("lexical", "biencoder"), keep=1_000),), "zscore"),
    "cross-encoder over 30 of both": (
        (Step(kinds=("lexical", "biencoder"), keep=30), Step(kinds=("crossencoder",), keep=30)),
        "zscore",
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="nDCG@10 and MRR@10 of scorers and fusions")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--sample", type=int, default=0, help="the first N queries of each set")
    args = parser.parse_args()
    have = scorers()
    arms = {n: a for n, a in ARMS.items() if {kind for step in a[0] for kind in step.kinds} <= set(have)}
    figures: dict[str, Any] = {}
    for name in args.sets.split(","):
        table = list(rows(need(DATA / "rerank" / f"{name}.jsonl.xz", HOW)))
        table = table[: args.sample] if args.sample else table
        groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in table:
            groups[row.get("lang") or ""].append(row)
        for group, some in sorted(groups.items()):
            figures |= report(f"{name} {group}".strip(), some, arms, have)
    finish("rerank", figures)


def report(
    name: str,
    table: Sequence[dict[str, Any]],
    arms: dict[str, tuple[tuple[Step, ...], str]],
    have: dict[str, Score],
) -> dict[str, float]:
    """Print a block of lines for one set; return its figures."""
    print(f"\n{name} ({len(table)} queries){'':<12} nDCG@10   MRR@10", flush=True)
    results: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in table:
        passages = [candidate["text"] for candidate in row["candidates"]]
        labels = [int(candidate["label"]) for candidate in row["candidates"]]
        known: dict[tuple[str, int], Sequence[float]] = {}

        def score(
            kind: str,
            some: Sequence[str],
            order: Sequence[int],
            query: str = row["query"],
            known: dict[tuple[str, int], Sequence[float]] = known,
            total: int = len(passages),
        ) -> Sequence[float]:
            key = (kind, len(some))
            if key not in known or len(some) < total:
                known[key] = have[kind](query, some)
            return known[key]

        for arm, (steps, fusion) in arms.items():
            ranking = run(steps, passages, score, fusion=fusion)
            placed = [scored.index for scored in ranking.scored]
            # What a lexical scorer shares no word with is left out by the cascade: it ranks last.
            placed += [i for i in range(len(passages)) if i not in set(placed)]
            ordered = [labels[i] for i in placed]
            results[arm].append((ndcg(ordered), reciprocal_rank(ordered)))
    figures = {}
    for arm, values in results.items():
        quality = sum(value for value, _ in values) / len(values)
        first = sum(value for _, value in values) / len(values)
        print(f"  {arm:<34}  {quality:.3f}     {first:.3f}", flush=True)
        key = f"{name} {arm}".replace(", ", " ").replace(" ", "_").replace("-", "")
        figures[f"{key}_ndcg10"] = round(quality, 4)
        figures[f"{key}_mrr10"] = round(first, 4)
    return figures


if __name__ == "__main__":
    main()
