"""Train the linear scorer of compress_sentences and write its ``model.json``.

Reads ``../shared/data/qa_results/train.jsonl.xz``: questions with five chunks each, in which the
answer stands. A unit that holds the answer is a positive; the loss is that of a softmax over the
units of one result (any positive will do), so only the order within a result is learned. The idf
table is counted over the training chunks. Needs numpy; takes about a minute.

    python evals/train_compress.py [--dry-run]
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from webfetch_compress_sentences import model as model_module
from webfetch_compress_sentences.features import FEATURES, features
from webfetch_compress_sentences.layout import lay_out
from webfetch_compress_sentences.question import read_question
from webfetch_compress_sentences.words import terms

from webfetch_core.api import Chunk

DATA = Path(__file__).parents[2] / "shared" / "data" / "qa_results"
TARGET = Path(model_module.__file__).with_name("model.json")
COMMON_TERMS = 1_500
SET_BY_HAND = {"navigation": -1.0, "heading": -0.5, "row": 0.3, "item": 0.0, "code": 0.0}
"""Weights of what encyclopaedia paragraphs hold too rarely to learn from."""


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a packed JSON-lines file, with chunks as records."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            row["chunks"] = [Chunk(text=c["text"], url=c["url"], title=c["title"]) for c in row["chunks"]]
            yield row


def plain(text: str) -> str:
    """NFKC, lower case, punctuation to blanks, blanks folded: the form answers are compared in."""
    lowered = unicodedata.normalize("NFKC", text).lower()
    return re.sub(r"\s+", " ", re.sub(r"[^\w\s]|_", " ", lowered)).strip()


def holds(text: str, answers: list[str]) -> bool:
    """Whether an answer stands in ``text`` as whole words."""
    padded = f" {plain(text)} "
    return any(f" {plain(a)} " in padded for a in answers if plain(a))


def idf_table(rows: list[dict[str, Any]]) -> tuple[dict[str, float], float]:
    """Return the idf of the most common terms, and that of all others."""
    texts = {c.text for row in rows for c in row["chunks"]}
    found = Counter(t for text in texts for t in set(terms(text)))
    table = {t: round(math.log(len(texts) / n), 2) for t, n in found.most_common(COMMON_TERMS)}
    return table, round(math.log(len(texts) / 2), 2)


def examples(
    rows: list[dict[str, Any]], idf: dict[str, float], rare: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, labels and the number of the result, one line a unit."""
    xs: list[list[float]] = []
    ys: list[float] = []
    groups: list[int] = []
    for number, row in enumerate(rows):
        placed = lay_out(row["chunks"])
        labels = [float(holds(p.unit.text, row["answers"])) for p in placed]
        if not any(labels) or all(labels):
            continue
        xs += features(read_question(row["query"]), row["chunks"], placed, idf, rare)
        ys += labels
        groups += [number] * len(placed)
    _, dense = np.unique(np.array(groups), return_inverse=True)
    return np.array(xs), np.array(ys), dense


def train(x: np.ndarray, y: np.ndarray, group: np.ndarray, penalty: float, steps: int) -> np.ndarray:
    """Minimise the listwise loss by Adam on the whole set; return weights of the raw features."""
    mean, scale = x.mean(0), x.std(0)
    scale[scale < 1e-9] = 1.0
    z = (x - mean) / scale
    given = np.array([name in SET_BY_HAND for name in FEATURES])
    base = x @ np.array([SET_BY_HAND.get(name, 0.0) for name in FEATURES])
    z[:, given] = 0.0
    n = group.max() + 1
    w, m, v = np.zeros(x.shape[1]), np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for step in range(1, steps + 1):
        s = base + z @ w
        top = np.full(n, -np.inf)
        np.maximum.at(top, group, s)
        e = np.exp(s - top[group])
        p = e / np.bincount(group, e, n)[group]
        q = e * y
        q /= np.bincount(group, q, n)[group]
        grad = z.T @ (p - q) / n + penalty * w
        m, v = 0.9 * m + 0.1 * grad, 0.999 * v + 0.001 * grad**2
        w -= 0.05 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return np.where(given, [SET_BY_HAND.get(name, 0.0) for name in FEATURES], w / scale)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--dry-run", action="store_true", help="print the weights, write nothing")
    parser.add_argument("--penalty", type=float, default=0.002)
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()
    if not DATA.is_dir():
        print(f"no training data: {DATA} is not there", file=sys.stderr)
        return 1
    rows = list(read(DATA / "train.jsonl.xz"))
    idf, rare = idf_table(rows)
    x, y, group = examples(rows, idf, rare)
    weights = train(x, y, group, args.penalty, args.steps)
    model = {
        "weights": {name: round(float(w), 4) for name, w in zip(FEATURES, weights, strict=True)},
        "rare": rare,
        "idf": dict(sorted(idf.items())),
    }
    print(f"{group.max() + 1} results, {len(y)} units, {int(y.sum())} with the answer")
    for name, w in sorted(model["weights"].items(), key=lambda pair: -abs(pair[1])):
        print(f"{w:8.3f}  {name}")
    if not args.dry_run:
        TARGET.write_text(
            json.dumps(model, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
        )
        print(f"written: {TARGET}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
