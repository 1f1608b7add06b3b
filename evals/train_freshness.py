"""Train freshness_classifier's two linear models and write its ``model.json``.

Multinomial logistic regressions over the plugin's features, and over these and the int8 vector of the shipped
bi-encoder. They learn from FreshQA (weight 1, questions with a false premise 0.5), the tech questions (1) and
our own templates (0.3 each template); what rules decide is left out. Chosen by five inner folds over groups
of like questions: the penalty and how much the vector weighs (least log loss), then the bonus of realtime
and the bound above which nothing is stable (best accuracy whose realtime recall is 0.92 and whose share of
realtime called stable is 0.03, as far as that goes).

    python evals/train_freshness.py [--dry-run]

``evals/freshness.py`` measures the same procedure on questions that it has not seen. Needs numpy and
webfetch-rank-onnx with its weights; takes a minute. The same data gives the same file, on one kind of
processor at least.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from attrs import frozen
from freshness_data import Array, Set, bi_encoder, folds, groups, joined, labelled, templated
from webfetch_freshness_classifier import model as model_module
from webfetch_freshness_classifier.features import FEATURES
from webfetch_freshness_classifier.model import CLASSES, Linear

TARGET = Path(model_module.__file__).with_name("model.json")
PRECISION = "int8"
"""Of the vectors: that of most machines."""
OTHERS = 0.5
TEMPLATES = 0.3
PENALTIES = (30.0, 100.0)
SCALES = (4.0, 8.0)
"""What vectors are multiplied with, beside features of standard deviation 1: their penalty is the less."""
INNER = 5
ROUNDS = 3
"""Times that the inner folds are drawn anew for bonus and bound, which single ones hit or miss by luck."""
UNKNOWN = CLASSES.index("recent")
RECALL, AS_STABLE = 0.92, 0.03
BONUSES = tuple(round(-0.5 + 0.1 * n, 1) for n in range(31))
BOUNDS = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 1.0)
STEPS = 80


@frozen(kw_only=True)
class Weights:
    """Coefficients of the raw columns, an array (columns, classes), and the intercepts."""

    columns: Array
    intercepts: Array

    def probabilities(self, x: Array) -> Array:
        return _softmax(x @ self.columns + self.intercepts)


def _softmax(scores: Array) -> Array:
    parts = np.exp(scores - scores.max(1, keepdims=True))
    return parts / parts.sum(1, keepdims=True)


def columns(some: Set, meaning: bool) -> Array:
    return np.hstack([some.x, some.vectors]) if meaning else some.x


def fit(some: Set, meaning: bool, penalty: float, scale: float) -> Weights:
    """Minimise the weighted log loss and ``penalty / 2`` times the squares of the scaled coefficients.

    By Böhning's bound of the Hessian, which is inverted once, with Nesterov's momentum.
    """
    usable = some.at(some.told < 0)
    raw = columns(usable, meaning)
    n = usable.x.shape[1]
    center = np.concatenate([usable.x.mean(0), np.zeros(raw.shape[1] - n)])
    spread = np.concatenate([np.maximum(usable.x.std(0), 0.05), np.full(raw.shape[1] - n, 1 / scale)])
    x = np.hstack([(raw - center) / spread, np.ones((len(raw), 1))]).astype("f4")
    target = np.eye(len(CLASSES), dtype="f4")[usable.y]
    weight = usable.weight[:, None].astype("f4")
    penalties = np.full(x.shape[1], penalty, "f4")
    penalties[-1] = 1e-3
    bound = 0.5 * (x * weight).T @ x + np.diag(penalties)
    step = np.linalg.inv(bound.astype("f8")).astype("f4")
    found = ahead = np.zeros((x.shape[1], len(CLASSES)), "f4")
    speed = 1.0
    for _ in range(STEPS):
        slope = x.T @ ((_softmax(x @ ahead) - target) * weight) + penalties[:, None] * ahead
        new = ahead - step @ slope
        faster = (1 + np.sqrt(1 + 4 * speed * speed)) / 2
        ahead = new + (speed - 1) / faster * (new - found)
        found, speed = new, faster
    coefficients = found[:-1] / spread[:, None]
    return Weights(columns=coefficients, intercepts=found[-1] - center @ coefficients)


def decide(chances: Array, some: Set, meaning: bool, bonus: float, bound: float) -> Array:
    """What the plugin answers, for all questions at once; freshness.py checks that it does.

    Where it has no answer, it is the class that the core then takes.
    """
    scores = np.log(np.maximum(chances, 1e-12))
    scores[:, 0] += np.where(some.silent, 0.0, bonus)
    scores[(chances[:, 0] > bound) | some.open, 2] = -np.inf
    answers = np.where(some.told >= 0, some.told, scores.argmax(1))
    return answers if meaning else np.where(some.silent & (some.told < 0), UNKNOWN, answers)


def judged(answers: Array, y: Array) -> tuple[float, float, float]:
    """Accuracy, recall of realtime, share of realtime that is called stable."""
    fast = answers[y == 0]
    return float((answers == y).mean()), float((fast == 0).mean()), float((fast == 2).mean())


def learn(known: Set, group: Array, own: Set, meaning: bool, seed: int = 0) -> Linear:
    """Choose all that is to be chosen by folds within ``known``, and train on all of it and on ``own``."""

    def held_out(penalty: float, scale: float, turn: int) -> Array:
        inner = folds(group, known.y, INNER, seed * ROUNDS + turn)
        chances = np.zeros((len(known), len(CLASSES)))
        for fold in range(INNER):
            trained = fit(joined(known.at(inner != fold), own), meaning, penalty, scale)
            chances[inner == fold] = trained.probabilities(columns(known.at(inner == fold), meaning))
        return chances

    def loss(chances: Array) -> float:
        asked = known.told < 0
        return -float((np.log(chances[asked, known.y[asked]]) * known.weight[asked]).sum())

    pairs = [(penalty, scale) for scale in (SCALES if meaning else (1.0,)) for penalty in PENALTIES]
    first = {pair: held_out(*pair, 0) for pair in pairs}
    pair = min(pairs, key=lambda pair: loss(first[pair]))
    bonus, bound = cheapest(
        [first[pair], *(held_out(*pair, turn) for turn in range(1, ROUNDS))], known, meaning
    )
    final = fit(joined(known, own), meaning, *pair)
    return Linear(
        weights=np.round(final.columns.T, 3).tolist(),
        intercepts=np.round(final.intercepts, 3).tolist(),
        bonus=bonus,
        bound=bound,
    )


def cheapest(rounds: Sequence[Array], known: Set, meaning: bool) -> tuple[float, float]:
    """Bonus and bound of the best accuracy, less twice what is missing of recall and over of as-stable."""
    full = known.weight == 1
    part = known.at(full)

    def worth(pair: tuple[float, float]) -> float:
        each = [judged(decide(chances[full], part, meaning, *pair), part.y) for chances in rounds]
        accuracy, recall, stable = (float(np.mean(values)) for values in zip(*each, strict=True))
        return accuracy - 2 * max(0.0, RECALL - recall) - 2 * max(0.0, stable - AS_STABLE)

    return max(((bonus, bound) for bonus in BONUSES for bound in BOUNDS), key=worth)


def answers_of(linear: Linear, some: Set) -> Array:
    """The answers of a model to all questions."""
    weights = Weights(columns=np.array(linear.weights).T, intercepts=np.array(linear.intercepts))
    meaning = len(weights.columns) > len(FEATURES)
    chances = weights.probabilities(columns(some, meaning))
    return decide(chances, some, meaning, linear.bonus, linear.bound)


def weighed(sets: Mapping[str, Set], names: Sequence[str]) -> Set:
    """The named sets as they are learned from."""
    known = joined(*(sets[name] for name in names))
    known.weight[known.of == "false_premise"] = OTHERS
    return known


def own_templates(made: Set) -> Set:
    """Templates with the weight that they are learned with."""
    made.weight[:] *= TEMPLATES
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    args = parser.parse_args()
    embed = bi_encoder(PRECISION)
    if embed is None:
        return 1
    known = weighed(labelled(embed), ("freshqa", "tech", "unseen", "false_premise"))
    own = own_templates(templated(embed))
    group = groups(known)
    data: dict[str, object] = {"features": FEATURES}
    for name, meaning in (("words", False), ("meaning", True)):
        linear = learn(known, group, own, meaning)
        data[name] = {f: getattr(linear, f) for f in ("weights", "intercepts", "bonus", "bound")}
        print(f"{name}: bonus {linear.bonus}, bound {linear.bound}")
    text = json.dumps(data, separators=(",", ":"))
    print(f"{len(text)} bytes, from {len(known)} questions and {len(own)} of templates")
    if not args.dry_run:
        TARGET.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
