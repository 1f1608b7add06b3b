"""How well passages are ranked: nDCG@10 and MRR@10 of each scorer, each fusion and the default cascade.

    python evals/rerank.py [--sets nq_qed,squad2] [--sample N]

Reads ``rerank/<set>.jsonl.xz``: rows of ``query`` and ``candidates`` with ``text`` and ``label`` (0 is not
relevant, more is better), and ``lang`` where a set has several, each of which gets a table of its own.
BM25 is what there is without a model; rows that need a model say "not available here" where it is not on
the machine. Fusions are the core's own. The rows of the bi-encoder and of the fusions are made of its
scores whatever the language; in the default cascade it declines what it does not read.

The fusion was chosen on the rows with even numbers, and the differences are told for the odd ones, with a
95 % interval of a paired bootstrap over questions.
"""

from __future__ import annotations

import argparse
import math
import os
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen
from common import DATA, finish, mean, need, rows
from webfetch_rank_bm25.ranker import Bm25Ranker
from webfetch_rank_bm25.settings import Bm25Settings

from webfetch_core.errors import NotConfigured
from webfetch_core.pipeline.cascade import Step, run, steps_for
from webfetch_core.runtime.models import ModelStore
from webfetch_core.settings import RankingSettings, default_home

SETS = ("nq_qed", "squad2", "tsqa", "xquad_multilingual", "cranfield", "cisi", "trecqa", "pubmedqa")
LANGUAGES = "xquad_multilingual"
HOW = "Any rows of the form that this script's docstring tells will do."
TOP = 10
RESAMPLES = 2_000

Score = Callable[[str, Sequence[str]], Sequence[float | None] | None]


@frozen(kw_only=True)
class Arm:
    """A cascade, the fusion of its first step, and what it needs."""

    steps: tuple[Step, ...]
    fusion: str = "rrf"

    @property
    def kinds(self) -> set[str]:
        return {kind for step in self.steps for kind in step.kinds}


RULES = RankingSettings()
READS = "biencoder where it reads the language"


def _both(fusion: str, weight: float = 1.0, kind: str = "biencoder") -> Arm:
    return Arm(steps=(Step(kinds=("lexical", kind), keep=1_000, weights={"lexical": weight}),), fusion=fusion)


ARMS: dict[str, Arm] = {
    "bm25": Arm(steps=(Step(kinds=("lexical",), keep=1_000),)),
    "bi-encoder": Arm(steps=(Step(kinds=("biencoder",), keep=1_000),)),
    "rrf": _both("rrf"),
    "rrf, bm25 x 0.5": _both("rrf", 0.5),
    "zscore": _both("zscore"),
    "zscore, bm25 x 0.5": _both("zscore", 0.5),
    "default": _both(RULES.fusion, RULES.lexical_weight, READS),
    "default with cross-encoder": Arm(
        steps=steps_for(shortlist=RULES.shortlist, keep=RULES.shortlist, lexical_weight=RULES.lexical_weight),
        fusion=RULES.fusion,
    ),
}
CONTESTS = (("zscore", "rrf"), ("default", "rrf"), ("default", "zscore"), ("default", "bi-encoder"))
"""Pairs whose difference over the English sets is told with its interval."""


def ndcg(labels: Sequence[int]) -> float:
    """nDCG@10 with gains of ``2^label - 1`` (Burges et al., 2005)."""

    def dcg(ordered: Sequence[int]) -> float:
        return sum((2.0**label - 1) / math.log2(place + 2) for place, label in enumerate(ordered[:TOP]))

    best = dcg(sorted(labels, reverse=True))
    return dcg(labels) / best if best else 0.0


def reciprocal_rank(labels: Sequence[int]) -> float:
    """1 / the place of the first relevant passage; 0 beyond the tenth."""
    return next((1 / place for place, label in enumerate(labels[:TOP], 1) if label > 0), 0.0)


def biencoder() -> Any:
    """The package's bi-encoder. Raises ImportError where it is not installed."""
    from webfetch_rank_onnx import minilm
    from webfetch_rank_onnx.biencoder import BiEncoder
    from webfetch_rank_onnx.settings import RankOnnxSettings
    from webfetch_rank_onnx.specs import MINILM

    store = ModelStore(os.environ, default_home(os.environ))
    return BiEncoder(minilm.load(store.files(MINILM), RankOnnxSettings()), None)


def unless_it_declines(ranker: Any) -> Score:
    """Its scores, or None where it says that it has no opinion; without a limit of time."""

    def score(query: str, passages: Sequence[str]) -> Sequence[float | None] | None:
        try:
            scores: Sequence[float | None] = ranker.score_within(
                query, passages, range(len(passages)), 3_600.0
            )
        except NotConfigured:
            return None
        return scores

    return score


def scorers() -> dict[str, Score]:
    """The scorers that this machine has, by kind."""
    found: dict[str, Score] = {"lexical": Bm25Ranker(Bm25Settings()).score}
    try:
        from webfetch_rank_onnx import crossencoder
        from webfetch_rank_onnx.settings import RankOnnxSettings
        from webfetch_rank_onnx.specs import MSMARCO

        ranker = biencoder()
    except ImportError as exc:
        print(f"bi-encoder: not available here ({exc})")
        return found
    found["biencoder"] = ranker.score
    found[READS] = unless_it_declines(ranker)
    try:
        store = ModelStore(os.environ, default_home(os.environ))
        found["crossencoder"] = crossencoder.load(store.files(MSMARCO), RankOnnxSettings()).score
    except NotConfigured as exc:
        print(f"cross-encoder: not available here ({exc})")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="nDCG@10 and MRR@10 of scorers and fusions")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--sample", type=int, default=0, help="the first N queries of each set")
    args = parser.parse_args()
    have = scorers()
    figures: dict[str, Any] = {}
    told: dict[str, list[float]] = defaultdict(list)  # nDCG@10 of the rows with odd numbers, English sets
    lags: list[float] = []
    for name in args.sets.split(","):
        table = list(rows(need(DATA / "rerank" / f"{name}.jsonl.xz", HOW)))
        table = table[: args.sample] if args.sample else table
        groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in table:
            groups[row.get("lang") or ""].append(row)
        for group, some in sorted(groups.items()):
            results = evaluate(some, have)
            figures |= report(f"{name} {group}".strip(), len(some), results)
            if name == LANGUAGES and "default" in results:
                lags.append(mean(_ndcgs(results["default"])) - mean(_ndcgs(results["bm25"])))
            for arm, values in results.items() if name != LANGUAGES else ():
                told[arm] += _ndcgs(values)[1::2]
    if lags:
        figures["default_over_bm25_worst_language"] = round(min(lags), 4)
        print(f"\nthe default cascade beside BM25, worst of {len(lags)} languages: {min(lags):+.4f} nDCG@10")
    for one, other in CONTESTS:
        if one in told and other in told:
            differences = [a - b for a, b in zip(told[one], told[other], strict=True)]
            low, high = interval(differences)
            gain = mean(differences)
            print(f"{one} over {other}: {gain:+.4f} [{low:+.4f}, {high:+.4f}], n = {len(differences)}")
            key = f"{one}_over_{other}".replace("-", "")
            figures |= {key: round(gain, 4), f"{key}_low": round(low, 4), f"{key}_high": round(high, 4)}
    finish("rerank", figures)


def interval(values: Sequence[float], seed: int = 7) -> tuple[float, float]:
    """The 95 % interval of the mean, by bootstrap."""
    chance = random.Random(seed)
    means = sorted(mean(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]


def _ndcgs(values: Sequence[tuple[float, float]]) -> list[float]:
    return [value for value, _ in values]


def evaluate(table: Sequence[dict[str, Any]], have: dict[str, Score]) -> dict[str, list[tuple[float, float]]]:
    """(nDCG@10, MRR@10) of each question, by arm; arms that need what is not there are left out."""
    arms = {name: arm for name, arm in ARMS.items() if arm.kinds <= set(have)}
    results: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in table:
        passages = [candidate["text"] for candidate in row["candidates"]]
        labels = [int(candidate["label"]) for candidate in row["candidates"]]
        known: dict[str, Sequence[float | None] | None] = {}

        def score(
            kind: str,
            some: Sequence[str],
            order: Sequence[int],
            query: str = row["query"],
            known: dict[str, Sequence[float | None] | None] = known,
            total: int = len(passages),
        ) -> Sequence[float | None] | None:
            if len(some) < total:
                return have[kind](query, some)
            if kind not in known:
                known[kind] = have[kind](query, some)
            return known[kind]

        for name, arm in arms.items():
            ranking = run(arm.steps, passages, score, fusion=arm.fusion)
            placed = [scored.index for scored in ranking.scored]
            # What a lexical scorer shares no word with is left out by the cascade: it ranks last.
            placed += [i for i in range(len(passages)) if i not in set(placed)]
            ordered = [labels[i] for i in placed]
            results[name].append((ndcg(ordered), reciprocal_rank(ordered)))
    return results


def report(name: str, n: int, results: dict[str, list[tuple[float, float]]]) -> dict[str, float]:
    """Print a block of lines for one set; return its figures."""
    print(f"\n{f'{name} ({n} queries)':<36}  nDCG@10   MRR@10")
    figures = {}
    for arm in ARMS:
        if arm not in results:
            print(f"  {arm:<34}  not available here")
            continue
        quality = mean(_ndcgs(results[arm]))
        first = mean([value for _, value in results[arm]])
        print(f"  {arm:<34}  {quality:.3f}     {first:.3f}", flush=True)
        key = f"{name} {arm}".replace(", ", " ").replace(" ", "_").replace("-", "")
        figures[f"{key}_ndcg10"] = round(quality, 4)
        figures[f"{key}_mrr10"] = round(first, 4)
    return figures


if __name__ == "__main__":
    main()
