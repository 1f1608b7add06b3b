"""How well the freshness class is told: freshness_classifier beside the core's cue words and the seed.

All that ``train_freshness.py`` does is measured, nested: each of five outer folds over groups of like
questions is answered by models that were trained, and whose penalty, bonus and bound were chosen, on the
other four. Repeated with other folds; figures are means, in brackets the standard deviation over the repeats.

    python evals/freshness.py [--repeats N] [--parts]

It tells, with n: the 413 questions of the seed's evals (377 FreshQA, 36 tech); FreshQA questions that were
not among them, by models that have not learned from them; our templates, by models that have seen none of the
same topic; a news quiz and questions on past periods, by the shipped model. Vectors are int8; the same models
are asked with fp32 vectors too.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen
from common import finish
from freshness_data import (
    ALIKE,
    NOW,
    Array,
    Set,
    bi_encoder,
    folds,
    foreign,
    groups,
    labelled,
    only_measured,
    templated,
)
from train_freshness import (
    CLASSES,
    PRECISION,
    TARGET,
    answers_of,
    judged,
    learn,
    own_templates,
    weighed,
)
from webfetch_freshness_classifier.classifier import TrainedClassifier
from webfetch_freshness_classifier.languages import is_english
from webfetch_freshness_classifier.model import load_model
from webfetch_freshness_classifier.words import read_query

from webfetch_core.api import Freshness
from webfetch_core.pipeline.freshness import classify_keywords

OUTER = 5
PUBLISHED = {"accuracy": 0.588, "recall": 0.705, "as_stable": 0.136}
"""Of the seed's shipped classifier, keywords and then a centroid, on its held-out part of 165."""


@frozen(kw_only=True)
class Scores:
    """Of one set of answers: shares, and how often each class was answered for each class."""

    accuracy: float
    recall: float
    as_stable: float
    confusion: Array

    @property
    def recalls(self) -> str:
        return " / ".join(f"{row[i] / max(1, row.sum()):.3f}" for i, row in enumerate(self.confusion))


def scores(answers: Array, y: Array) -> Scores:
    confusion = np.zeros((len(CLASSES), len(CLASSES)), int)
    np.add.at(confusion, (y, answers), 1)
    accuracy, recall, as_stable = judged(answers, y)
    return Scores(accuracy=accuracy, recall=recall, as_stable=as_stable, confusion=confusion)


def keywords(some: Set) -> Array:
    """What the core says without any classifier."""
    told = [
        classify_keywords(q, now) or Freshness.RECENT for q, now in zip(some.queries, some.nows, strict=True)
    ]
    return np.array([CLASSES.index(fresh.value) for fresh in told])


def crossed(
    known: Set, own: Set, meaning: bool, repeats: int, twin: Set | None = None
) -> tuple[list[Array], list[Array]]:
    """Answers to all of ``known``, repeat after repeat, and to ``twin``, which is it with other vectors."""
    group = groups(known)
    rounds: list[Array] = []
    twins: list[Array] = []
    for repeat in range(repeats):
        outer = folds(group, known.y, OUTER, 1_000 + repeat)
        got, other = np.zeros(len(known), int), np.zeros(len(known), int)
        for fold in range(OUTER):
            held = outer == fold
            linear = learn(known.at(~held), group[~held], own, meaning, seed=repeat)
            got[held] = answers_of(linear, known.at(held))
            if twin is not None:
                other[held] = answers_of(linear, twin.at(held))
        rounds.append(got)
        twins.append(other)
    return rounds, twins


def told_in_words(label: str, all_scores: Sequence[Scores], n: int) -> str:
    def both(name: str) -> str:
        values = [getattr(one, name) for one in all_scores]
        return f"{statistics.fmean(values):.3f} ({statistics.pstdev(values):.3f})"

    recalls = all_scores[0].recalls
    return f"{label:44} {n:5}  {both('accuracy'):15} {both('recall'):15} {both('as_stable'):15} {recalls}"


def template_folds(known: Set, own: Set, meaning: bool) -> Array:
    """Answers to our own questions by models that have seen none of the same topic."""
    group = groups(known)
    got = np.zeros(len(own), int)
    topics = sorted(set(own.of))
    for start in range(OUTER):
        held = np.isin(own.of, topics[start::OUTER])
        got[held] = answers_of(learn(known, group, own.at(~held), meaning), own.at(held))
    return got


def milliseconds(classify: Callable[[int], object], n: int) -> float:
    """Median of ``n`` calls."""
    taken = []
    for i in range(n):
        started = time.perf_counter()
        classify(i)
        taken.append(time.perf_counter() - started)
    return 1e3 * statistics.median(taken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--parts", action="store_true", help="what each part is worth too: takes twice as long"
    )
    args = parser.parse_args()
    repeats: int = args.repeats
    embed, exact = bi_encoder(PRECISION), bi_encoder("fp32")
    if embed is None or exact is None:
        return 1
    sets = labelled(embed)
    known = weighed(sets, ("freshqa", "tech", "false_premise"))
    twin = weighed(labelled(exact), ("freshqa", "tech", "false_premise"))
    own = own_templates(templated(embed))
    figures: dict[str, Any] = {"artefact_bytes": Path(TARGET).stat().st_size}
    main_set = known.of != "false_premise"
    tech = known.of == "tech"
    print(f"{'':44} {'n':>5}  {'accuracy':15} {'realtime':15} {'as stable':15} recall of each class")

    def show(name: str, label: str, rounds: Sequence[Array], some: Set, part: Array | None = None) -> None:
        part = np.ones(len(some), bool) if part is None else part
        judged_rounds = [scores(got[part], some.y[part]) for got in rounds]
        print(told_in_words(label, judged_rounds, int(part.sum())), flush=True)
        for figure in ("accuracy", "recall", "as_stable"):
            figures[f"{name}_{figure}"] = statistics.fmean(getattr(one, figure) for one in judged_rounds)
        figures[f"{name}_n"] = int(part.sum())
        figures[f"{name}_accuracy_sd"] = statistics.pstdev(one.accuracy for one in judged_rounds)
        figures[f"{name}_recall_sd"] = statistics.pstdev(one.recall for one in judged_rounds)

    print(f"{'the seed, published':44} {165:5}  " + " ".join(f"{v:<15}" for v in PUBLISHED.values()))
    show("keywords", "the core's cue words", [keywords(known)], known, main_set)
    words, _ = crossed(known, own, False, repeats)
    show("words", "words alone", words, known, main_set)
    meaning, fp32 = crossed(known, own, True, repeats, twin)
    show("meaning", "words and meaning", meaning, known, main_set)
    show("meaning_fp32", "... asked with fp32 vectors", fp32, known, main_set)
    show("meaning_tech", "... tech alone", meaning, known, tech)
    show("words_tech", "words alone, tech alone", words, known, tech)
    if args.parts:
        blank = evolve(known, x=np.zeros_like(known.x))
        alone, _ = crossed(blank, evolve(own, x=np.zeros_like(own.x)), True, repeats)
        show("vectors", "vectors and rules, no words", alone, known, main_set)
        free, free_own = (
            evolve(s, told=np.full(len(s), -1), open=np.zeros(len(s), bool)) for s in (known, own)
        )
        unruled, _ = crossed(free, free_own, True, repeats)
        show("no_rules", "words and meaning, no rules", unruled, known, main_set)
        bare, _ = crossed(known, own.at(np.zeros(len(own), bool)), True, repeats)
        show("no_templates", "words and meaning, no templates", bare, known, main_set)

    print("\nFreshQA questions that are not among the 413, true premise; models learned nothing from them")
    unseen = sets["unseen"]
    group = groups(known)
    near = (unseen.vectors @ known.vectors.T).max(1) >= ALIKE
    for name, label, with_meaning in (
        ("words", "words alone", False),
        ("meaning", "words and meaning", True),
    ):
        got = [answers_of(learn(known, group, own, with_meaning), unseen)]
        show(f"unseen_{name}", label, got, unseen)
        show(f"unseen_unlike_{name}", "... unlike any that was learned from", got, unseen, ~near)

    print("\nOur own questions, by models that have seen none of the same topic")
    for name, label, with_meaning in (
        ("words", "words alone", False),
        ("meaning", "words and meaning", True),
    ):
        show(f"templates_{name}", label, [template_folds(known, own, with_meaning)], own)

    print("\nThe shipped model on what nothing learned from: shares called realtime / recent / stable")
    shipped = load_model()
    for name, some in only_measured(embed).items():
        for arm, linear in (("words", shipped.words), ("meaning", shipped.meaning)):
            shares = np.bincount(answers_of(linear, some), minlength=3) / len(some)
            print(f"{name:12} {arm:8} n {len(some):4}  " + " / ".join(f"{share:.3f}" for share in shares))
            figures[f"{name}_{arm}_realtime"], _, figures[f"{name}_{arm}_stable"] = map(float, shares)

    others = foreign()
    told = [is_english(read_query(query, NOW)) for query in others]
    figures["foreign_taken_for_english"] = sum(told) / len(told)
    figures["foreign_n"] = len(told)
    print(f"{sum(told)} of {len(told)} questions in ten other languages are taken for English")

    by_words, by_meaning = TrainedClassifier(shipped), TrainedClassifier(shipped, embed, patience_s=30)
    for linear, classifier in ((shipped.words, by_words), (shipped.meaning, by_meaning)):
        got = answers_of(linear, known)
        same = [
            classifier.classify(q, now) in (Freshness(CLASSES[i]), None)
            for q, now, i in zip(known.queries, known.nows, got, strict=True)
        ]
        if not all(same):
            raise SystemExit(f"the plugin answers {same.count(False)} questions otherwise than measured here")
    n = 300
    fresh = [f"{query} {i}" for i, query in enumerate(known.queries[:n])]
    figures["ms_words"] = milliseconds(lambda i: by_words.classify(fresh[i], known.nows[i]), n)
    figures["ms_meaning"] = milliseconds(lambda i: by_meaning.classify(fresh[i], known.nows[i]), n)
    print(f"\na query: {figures['ms_words']:.2f} ms by words, {figures['ms_meaning']:.1f} ms with its vector")
    print(f"model.json: {figures['artefact_bytes']} bytes")
    finish("freshness", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
