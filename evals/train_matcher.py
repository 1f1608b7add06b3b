"""Fit the weights of match_semantic's smallest verifier and write its ``model.json``.

    python evals/train_matcher.py [--dry-run] [--pairs 12000]

A logistic regression over ``webfetch_match_semantic.features``, for the pairs that the rules leave open: our
development pairs (each counts ten times) and pairs made by ``paraphrase_data``, whose sources may all be
shipped. Prints how it does on a fifth of them that it was not fitted on, five times over, and the least
threshold with a precision of 0.98 there. The cosines need webfetch-rank-onnx with its weights.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from compression import biencoder
from matcher_sets import Pair, development, judged, made
from numpy.typing import NDArray
from webfetch_match_semantic import features as module
from webfetch_match_semantic.features import FEATURES, features

OUT = Path(module.__file__).parent / "data" / "model.json"
OWN_WEIGHT = 10.0
RIDGE = 1.0
PRECISION = 0.98
Floats = NDArray[np.float64]


def rows_of(pairs: list[Pair]) -> tuple[Floats, Floats, Floats]:
    """Features, labels and weights of the pairs that are open and not doubtful."""
    xs, ys, ws = [], [], []
    for pair in pairs:
        r = pair.ruling
        if r and r.same is None and not r.guard and r.a and r.b and r.pairs and pair.cosine >= 0.6:
            xs.append(features(r.a, r.b, r.pairs, pair.cosine, pair.left_cosine))
            ys.append(float(pair.same))
            ws.append(OWN_WEIGHT if pair.set == "development" else 1.0)
    return np.array(xs), np.array(ys), np.array(ws)


def fit(x: Floats, y: Floats, w: Floats) -> Floats:
    """Weights, then the bias, by Newton's method on standardised features."""
    mean, deviation = x.mean(axis=0), x.std(axis=0) + 1e-9
    z = np.hstack([(x - mean) / deviation, np.ones((len(x), 1))])
    beta = np.zeros(z.shape[1])
    ridge = RIDGE * np.eye(len(beta))
    ridge[-1, -1] = 0
    for _ in range(50):
        p = 1 / (1 + np.exp(-z @ beta))
        gradient = z.T @ (w * (p - y)) + ridge @ beta
        step = np.linalg.solve((z * (w * p * (1 - p))[:, None]).T @ z + ridge, gradient)
        beta -= step
        if np.abs(step).max() < 1e-8:
            break
    weights = beta[:-1] / deviation
    return np.append(weights, beta[-1] - weights @ mean)


def sure(beta: Floats, x: Floats) -> Floats:
    result: Floats = 1 / (1 + np.exp(-(x @ beta[:-1] + beta[-1])))
    return result


def least_threshold(p: Floats, y: Floats) -> tuple[float, float]:
    """The least threshold with ``PRECISION``, and the recall there."""
    order = np.argsort(-p)
    hits = np.cumsum(y[order])
    precision = hits / np.arange(1, len(p) + 1)
    fine = np.flatnonzero(precision >= PRECISION)
    return (float(p[order][fine[-1]]), float(hits[fine[-1]] / y.sum())) if len(fine) else (1.0, 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description="fit the smallest verifier")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--pairs", type=int, default=12_000)
    args = parser.parse_args()
    embed = biencoder()
    if embed is None:
        raise SystemExit("the cosines need webfetch-rank-onnx")
    x, y, w = rows_of(judged([*development(), *made(args.pairs, 11, of_held=False)], embed, {}))
    fold = np.random.default_rng(0).integers(0, 5, len(y))
    out = np.zeros(len(y))
    for n in range(5):
        out[fold == n] = sure(fit(x[fold != n], y[fold != n], w[fold != n]), x[fold == n])
    order = np.argsort(-out)
    hits = np.cumsum(y[order])
    average = float((hits / np.arange(1, len(y) + 1) * y[order]).sum() / y.sum())
    print(f"average precision {average:.4f}")
    for name, mask in (("all", w > 0), ("our own", w > 1)):
        threshold, recall = least_threshold(out[mask], y[mask])
        print(f"{name}: {int(y[mask].sum())} of {mask.sum()} ask the same; "
              f"precision {PRECISION} from {threshold:.3f}, recall {recall:.3f}")  # fmt: skip
    beta = fit(x, y, w)
    for name, value in zip((*FEATURES, "bias"), beta, strict=True):
        print(f"{name:<20} {value:8.3f}")
    if not args.dry_run:
        weights = {name: round(float(value), 4) for name, value in zip(FEATURES, beta, strict=False)}
        text = json.dumps({"weights": weights, "bias": round(float(beta[-1]), 4)}, indent=1)
        OUT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
