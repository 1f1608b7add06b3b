"""What the paraphrase model knows: each set of pairs apart, without the matcher's guards.

For each set the area under the ROC curve, the largest recall at a precision of .95 and of .98 (which the set
itself tells, so they are bounds and no promise), and precision and recall at one probability for all.
The trusted part of the seed's 285 pairs is all but its QQP rows. Nothing here was trained on, but for
CheckList, whose other pairs of the same templates were. QQP's labels are noisy.

    python evals/paraphrase.py [--at P] [--kinds]

Needs webfetch-rank-onnx and its weights, and ``../shared/data``.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import DATA, finish, need, percentile, rows
from webfetch_rank_onnx import paraphrase, plugin
from webfetch_rank_onnx.settings import RankOnnxSettings

from webfetch_core.testing import model_store

AT = 0.9
HOW = "It holds the development halves of the pairs."


def sets() -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Yield (set, kind of row's field, rows)."""
    seed = list(rows(need(DATA / "seed_evals" / "matcher_pairs.jsonl", HOW)))
    yield "seed, trusted", "source", [row for row in seed if not row["source"].startswith("qqp")]
    yield "seed, QQP", "source", [row for row in seed if row["source"].startswith("qqp")]
    for name, kind in (("fow_pairs", "category"), ("checklist_qqp_mft", "test"),
                       ("tsqa_year_swap_negatives", ""), ("qqp_pairs", "")):  # fmt: skip
        yield name, kind, list(rows(need(DATA / "paraphrase" / f"{name}.jsonl", HOW)))


def area(scores: np.ndarray, labels: np.ndarray) -> float:
    """The probability that a positive has a higher score than a negative."""
    ranks = np.empty(len(scores))
    order = np.argsort(scores, kind="stable")
    ranks[order] = np.arange(1, len(scores) + 1)
    for value in np.unique(scores):
        same = scores == value
        ranks[same] = ranks[same].mean()
    positive = labels == 1
    n, m = int(positive.sum()), int((~positive).sum())
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * m)) if n and m else float("nan")


def recall_at(scores: np.ndarray, labels: np.ndarray, least: float) -> float:
    """The largest recall at which precision is ``least`` or more; ties count together."""
    best = 0.0
    for bound in np.unique(scores):
        taken = scores >= bound
        if labels[taken].mean() >= least:
            best = max(best, float(labels[taken].sum() / max(labels.sum(), 1)))
    return best


def measured(scores: np.ndarray, labels: np.ndarray, at: float) -> dict[str, float]:
    found = {"false hits": float((1 - labels[scores >= at]).sum()), "hits": float(labels[scores >= at].sum())}
    if 0 < labels.sum() < len(labels):
        found |= {"area": area(scores, labels), "recall at .98": recall_at(scores, labels, 0.98)}
    return found


def line(name: str, scores: np.ndarray, labels: np.ndarray, at: float) -> list[str]:
    taken = scores >= at
    hits, false = int(labels[taken].sum()), int((1 - labels[taken]).sum())
    curve = [f"{area(scores, labels):.3f}", *(f"{recall_at(scores, labels, p):.3f}" for p in (0.95, 0.98))]
    both = 0 < labels.sum() < len(labels)
    return [name, f"{int(labels.sum())} / {int((1 - labels).sum())}", *(curve if both else ["", "", ""]),
            f"{hits} / {false}"]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--at", type=float, default=AT, help="the probability from which a pair is taken")
    parser.add_argument("--kinds", action="store_true", help="each kind of pair apart")
    args = parser.parse_args()
    began = time.perf_counter()
    paths = model_store(Path.home()).files(plugin.MINILM)
    model = paraphrase.load(paths, RankOnnxSettings(threads=1))
    print(f"opened in {time.perf_counter() - began:.2f} s")
    lines: list[Sequence[str]] = []
    figures: dict[str, Any] = {}
    took: list[float] = []
    for name, kind, found in sets():
        scores = np.zeros(len(found))
        for n, row in enumerate(found):
            start = time.perf_counter()
            scores[n] = model.score(row["q1"], [row["q2"]])[0]
            took.append(time.perf_counter() - start)
        labels = np.array([int(row["label"]) for row in found])
        lines.append(line(name, scores, labels, args.at))
        figures |= {f"{name}: {what}": value for what, value in measured(scores, labels, args.at).items()}
        if args.kinds and kind:
            by_kind: dict[str, list[int]] = defaultdict(list)
            for n, row in enumerate(found):
                by_kind[str(row[kind])].append(n)
            lines += [line(f"- {k}", scores[v], labels[v], args.at) for k, v in sorted(by_kind.items())]
    model.close()
    head = [
        "set",
        "same / other",
        "area",
        "recall at .95",
        "recall at .98",
        f"taken at {args.at}: same / other",
    ]
    widths = [max(len(row[n]) for row in (head, *lines)) for n in range(len(head))]
    for row in (head, *lines):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print(f"ms a pair: median {1e3 * percentile(took, 0.5):.1f}, 95 % {1e3 * percentile(took, 0.95):.1f}")
    finish("paraphrase", figures)


if __name__ == "__main__":
    main()
