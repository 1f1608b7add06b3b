"""Train the linear scorers of compress_sentences and write its ``model.json``.

Three kinds of results are learned from, each result once, all with the same weight:

- short: ``../shared/data/qa_results/train.jsonl.xz``, questions with five chunks of 400 characters in
  which the answer stands. A unit that holds the answer is a positive.
- long: the same questions; the chunks of one source are put together to a page, and each of the five
  is shown in its surroundings, by the core's own selection: excerpts of up to 1,600 characters.
- table: ``../shared/train/wtq_question_table.jsonl.xz``, questions asked of a table, with the sections
  of the table's article (``wiki_heading_section_pairs.jsonl.xz``) around it and the four most similar
  articles beside it; chunked, ranked and selected as in a search. The data has no answers: the row that
  holds it is told from the words of the question (see ``asked_row``), and where it cannot be told the
  question is left out.

Two sets of weights come of it: one for words alone, and one for words and the cosines of a bi-encoder
(learned over the units that words rank first, which are those that are embedded). The loss is that of a
softmax over the units of one result (any positive will do), so only the order within a result is learned.
The idf table is counted over the chunks of the short results.

    python evals/train_compress.py [--dry-run] [--validate]

``--validate`` writes nothing: it trains on four fifths of the topics and tells what is kept of the last
fifth, five times over, for budgets and floors. What was chosen (features, floors, budget) was chosen there
and not on the development results.

Needs numpy, webfetch-rank-bm25 and webfetch-rank-onnx with its weights; most of the time goes into
embedding some 50,000 texts (minutes). The same data gives the same file, on one kind of processor at least:
vectors of another differ in the last digits.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen
from compress_data import (
    RESULTS,
    SECTIONS,
    TABLES,
    Example,
    long_results,
    short_results,
    table_pages,
    table_results,
)
from compression import biencoder, kept, rendered
from webfetch_compress_sentences import model as model_module
from webfetch_compress_sentences.closeness import WITH_MEANING, with_cosines
from webfetch_compress_sentences.compressor import SentenceCompressor
from webfetch_compress_sentences.features import FEATURES, features
from webfetch_compress_sentences.layout import Placed, lay_out
from webfetch_compress_sentences.meaning import MOST, told
from webfetch_compress_sentences.model import Model
from webfetch_compress_sentences.question import read_question
from webfetch_compress_sentences.words import terms

from webfetch_core.api import Embeddings

TARGET = Path(model_module.__file__).with_name("model.json")
COMMON_TERMS = 1_500
SET_BY_HAND = {"navigation": -1.0, "heading": -0.5, "item": 0.0, "code": 0.0}
"""Weights of what encyclopaedia pages hold too rarely to learn from."""
FLOOR = 7.0
FLOOR_WITH_MEANING = 8.0
"""How far below the best a unit is filling and not evidence, in the scale of the scores: see --validate."""
FOLDS = 5


@frozen(kw_only=True)
class Prepared:
    """An example as the scorers see it.

    Attributes:
        fold: the same for all examples of one topic.
        x, y: features and labels, one line a unit.
        texts: what is embedded of each unit.
    """

    example: Example
    fold: int
    x: np.ndarray
    y: np.ndarray
    texts: Sequence[str]
    placed: Sequence[Placed]


Embed = Callable[[Sequence[str]], Embeddings]


class Remembered:
    """Embeds each text once; the rest comes from memory."""

    def __init__(self, embed: Embed, batch: int = 512) -> None:
        self._embed = embed
        self._batch = batch
        self._rows: dict[str, np.ndarray] = {}

    def learn(self, texts: Iterable[str]) -> None:
        new = sorted(set(texts) - set(self._rows), key=lambda text: (len(text), text))
        for start in range(0, len(new), self._batch):
            some = new[start : start + self._batch]
            vectors = self._embed(some)
            rows = np.frombuffer(vectors.data, "<f4").reshape(vectors.rows, vectors.dim)
            self._rows.update(zip(some, rows.astype(np.float16), strict=True))
            if start % (40 * self._batch) == 0:
                print(f"  embedded {start} of {len(new)}", file=sys.stderr, flush=True)

    def __call__(self, texts: Sequence[str]) -> Embeddings:
        self.learn(texts)
        rows = np.stack([self._rows[text] for text in texts]).astype("<f4")
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return Embeddings(data=rows.tobytes(), rows=len(texts), dim=rows.shape[1])


def idf_table(examples: Sequence[Example]) -> tuple[dict[str, float], float]:
    """Return the idf of the most common terms, and that of all others."""
    texts = {c.text for example in examples for c in example.chunks}
    found = Counter(t for text in texts for t in set(terms(text)))
    common = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:COMMON_TERMS]
    return {t: round(math.log(len(texts) / n), 2) for t, n in common}, round(math.log(len(texts) / 2), 2)


def prepare(example: Example, idf: dict[str, float], rare: float) -> Prepared:
    placed = lay_out(example.chunks)
    topic = example.topic(placed) or example.query
    return Prepared(
        example=example,
        fold=int(hashlib.sha256(topic.encode()).hexdigest(), 16) % FOLDS,
        x=np.array(features(read_question(example.query), example.chunks, placed, idf, rare)),
        y=np.array(example.labels(placed)),
        texts=[told(example.chunks[p.owner].title, p.unit.text) for p in placed],
        placed=placed,
    )


def ranked_first(one: Prepared, weights: np.ndarray) -> list[int]:
    """The units that are embedded: those that words rank first."""
    scores = one.x @ weights
    return sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:MOST]


def rows_with_meaning(one: Prepared, order: Sequence[int], embed: Embed) -> tuple[np.ndarray, np.ndarray]:
    """Features with cosines, and labels, of the units in ``order``."""
    vectors = embed([one.example.query, *(one.texts[i] for i in order)])
    table = np.frombuffer(vectors.data, "<f4").reshape(vectors.rows, vectors.dim)
    values = (table[1:] @ table[0]).tolist()
    rows = with_cosines(one.x.tolist(), one.placed, order, values)
    return np.array(rows), one.y[list(order)]


def train(
    given: Sequence[tuple[np.ndarray, np.ndarray]], names: Sequence[str], penalty: float, steps: int
) -> np.ndarray:
    """Minimise the listwise loss by Adam on the whole set; return weights of the raw features.

    Args:
        given: features and labels of each result; those without both kinds of units are left out.
    """
    usable = [(x, y) for x, y in given if y.any() and not y.all()]
    x = np.concatenate([x for x, _ in usable])
    y = np.concatenate([y for _, y in usable])
    sizes = np.array([len(y) for _, y in usable])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    mean, scale = x.mean(0), x.std(0)
    scale[scale < 1e-9] = 1.0
    z = (x - mean) / scale
    by_hand = np.array([SET_BY_HAND.get(name, 0.0) for name in names])
    fixed = np.array([name in SET_BY_HAND for name in names])
    base = x @ by_hand
    z[:, fixed] = 0.0
    n = len(usable)
    group = np.repeat(np.arange(n), sizes)
    w, m, v = np.zeros(x.shape[1]), np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for step in range(1, steps + 1):
        s = base + z @ w
        e = np.exp(s - np.maximum.reduceat(s, starts)[group])
        p = e / np.add.reduceat(e, starts)[group]
        q = e * y
        q /= np.add.reduceat(q, starts)[group]
        grad = z.T @ (p - q) / n + penalty * w
        m, v = 0.9 * m + 0.1 * grad, 0.999 * v + 0.001 * grad**2
        w -= 0.05 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return np.where(fixed, by_hand, w / scale)


def fit(
    some: Sequence[Prepared],
    embed: Remembered,
    idf: dict[str, float],
    rare: float,
    penalty: float,
    steps: int,
) -> Model:
    """Train both sets of weights."""
    words = np.round(train([(one.x, one.y) for one in some], FEATURES, penalty, steps), 3)
    orders = [ranked_first(one, words) for one in some]
    wanted: set[str] = set()
    for one, order in zip(some, orders, strict=True):
        wanted.update((one.example.query, *(one.texts[i] for i in order)))
    embed.learn(wanted)
    near = [rows_with_meaning(one, order, embed) for one, order in zip(some, orders, strict=True)]
    meaning = np.round(train(near, WITH_MEANING, penalty, steps), 3)
    return Model(
        weights=tuple(map(float, words)),
        with_meaning=tuple(map(float, meaning)),
        floor=FLOOR,
        floor_with_meaning=FLOOR_WITH_MEANING,
        idf=idf,
        rare=rare,
    )


def validate(
    prepared: Sequence[Prepared],
    embed: Remembered,
    idf: dict[str, float],
    rare: float,
    args: argparse.Namespace,
) -> None:
    """Print what is kept of topics that the model in question has not seen."""
    found: dict[tuple[str, str, int, float], list[tuple[bool, int]]] = {}
    for fold in range(FOLDS):
        model = fit([p for p in prepared if p.fold != fold], embed, idf, rare, args.penalty, args.steps)
        held = [p.example for p in prepared if p.fold == fold and p.example.answers]
        for label, embedder, floors in (
            ("words", None, (5.0, FLOOR, 9.0)),
            ("words and meaning", embed, (6.0, 7.0, FLOOR_WITH_MEANING, 10.0)),
        ):
            for floor in sorted(set(floors)):
                compressor = SentenceCompressor(
                    evolve(model, floor=floor, floor_with_meaning=floor), embedder
                )
                for budget in map(int, args.budgets.split(",")):
                    for example in held:
                        text = rendered(compressor.compress(example.query, example.chunks, budget))
                        some = found.setdefault((label, example.kind, budget, floor), [])
                        some.append((kept(text, example.answers), len(text) // 4))
        print(f"fold {fold + 1} of {FOLDS}", file=sys.stderr, flush=True)
    for (label, kind, budget, floor), some in sorted(found.items()):
        hits = sum(hit for hit, _ in some)
        tokens = sum(size for _, size in some) / len(some)
        print(f"{label:18} {kind:6} {budget:5} floor {floor:4} {hits:5} of {len(some)}  {tokens:6.1f} tokens")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--dry-run", action="store_true", help="print the weights, write nothing")
    parser.add_argument("--validate", action="store_true", help="cross-validate over topics, write nothing")
    parser.add_argument("--budgets", default="700,900,950,1000,1100", help="of --validate")
    parser.add_argument("--penalty", type=float, default=0.01)
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()
    for path in (RESULTS, TABLES, SECTIONS):
        if not path.is_file():
            print(f"no training data: {path} is not there", file=sys.stderr)
            return 1
    embed = biencoder()
    if embed is None:
        return 1
    short = short_results()
    idf, rare = idf_table(short)
    examples = [*short, *long_results(short), *table_results(table_pages())]
    prepared = [prepare(example, idf, rare) for example in examples]
    remembered = Remembered(embed)
    if args.validate:
        validate(prepared, remembered, idf, rare, args)
        return 0
    trained = fit(prepared, remembered, idf, rare, args.penalty, args.steps)
    model: dict[str, Any] = {
        "weights": dict(zip(FEATURES, trained.weights, strict=True)),
        "with_meaning": dict(zip(WITH_MEANING, trained.with_meaning, strict=True)),
        "floor": trained.floor,
        "floor_with_meaning": trained.floor_with_meaning,
        "rare": rare,
        "idf": dict(sorted(idf.items())),
    }
    units = sum(len(one.y) for one in prepared)
    print(
        f"{len(prepared)} results, {units} units, {sum(int(one.y.sum()) for one in prepared)} with the answer"
    )
    for name in WITH_MEANING:
        print(f"{model['weights'].get(name, math.nan):8.3f} {model['with_meaning'][name]:8.3f}  {name}")
    if not args.dry_run:
        TARGET.write_text(
            json.dumps(model, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
        )
        print(f"written: {TARGET}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
