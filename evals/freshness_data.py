"""Questions with a freshness class, as ``freshness.py`` measures on them and ``train_freshness.py`` learns.

- FreshQA (Apache-2.0): 377 questions of the seed's evals, and 119 more of its release of 2023, 74 of which
  have a false premise. fast-changing is realtime, slow-changing recent, never-changing stable.
- tech (MIT): 36 questions on software and things to buy.
- realtimeqa: a weekly quiz on the news; no licence, so it is measured and nothing learns from it.
- tsqa (BSD-3-Clause): questions on a period of the past.
- templates: our own (``freshness_templates.py``).

Questions that are alike belong to one group (cosine of 0.70 or more, or through others that are), and no
group is in training and test at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen
from common import DATA, need, rows
from freshness_templates import questions
from webfetch_freshness_classifier.classifier import open_ended, ruled
from webfetch_freshness_classifier.features import cues, features, is_silent
from webfetch_freshness_classifier.model import CLASSES
from webfetch_freshness_classifier.words import read_query

from webfetch_core.api import Embeddings
from webfetch_core.runtime.models import ModelStore

NOW = datetime(2026, 7, 20)
"""When the questions count as asked: the month of the published figures."""
ALIKE = 0.70
HOW = "It is part of the shared data sets: see their INDEX.md."
_VOLATILITY = {"fast-changing": "realtime", "slow-changing": "recent", "never-changing": "stable"}

Embed = Callable[[Sequence[str]], Embeddings]
Array = Any


@frozen(kw_only=True)
class Set:
    """Questions, read once. Arrays have one line for each.

    Attributes:
        y: the right class, as an index of ``CLASSES``.
        told: the class that rules tell, or -1.
        open: a cue forbids "stable".
        silent: words say nothing.
        x, vectors: features, and vectors of the text that is embedded.
        weight: of each in training; those of one template share one.
        of: what each is of (a data set or a topic of templates).
    """

    queries: Sequence[str]
    nows: Sequence[datetime]
    y: Array
    told: Array
    open: Array
    silent: Array
    x: Array
    vectors: Array
    weight: Array
    of: Array

    def __len__(self) -> int:
        return len(self.queries)

    def at(self, which: Array) -> Set:
        """The questions of a mask or an array of indices."""
        indices = np.flatnonzero(which) if np.asarray(which).dtype == bool else np.asarray(which, int)
        lists = {name: [getattr(self, name)[i] for i in indices] for name in ("queries", "nows")}
        names = ("y", "told", "open", "silent", "x", "vectors", "weight", "of")
        return evolve(self, **lists, **{name: getattr(self, name)[indices] for name in names})


def bi_encoder(precision: str) -> Embed | None:
    """What embeds in ``int8`` or ``fp32``, or None with the reason printed."""
    try:
        from webfetch_rank_onnx import minilm
        from webfetch_rank_onnx.biencoder import BiEncoder
        from webfetch_rank_onnx.settings import RankOnnxSettings
        from webfetch_rank_onnx.specs import MINILM
    except ImportError as exc:
        print(f"no vectors: {exc}")
        return None
    files = ModelStore({}, Path("nowhere")).files(MINILM)
    encoder = minilm.load(files, RankOnnxSettings(precision=precision, backend="onnxruntime"))
    return BiEncoder(encoder, None).embed


def read(
    given: Sequence[tuple[str, str]], embed: Embed, of: str = "", nows: Sequence[datetime] | None = None
) -> Set:
    """Make a set of pairs of question and class."""
    times = nows or [NOW] * len(given)
    asked = [read_query(query, now) for (query, _), now in zip(given, times, strict=True)]
    found = [cues(query) for query in asked]
    told = [ruled(query, cue) for query, cue in zip(asked, found, strict=True)]
    return Set(
        queries=[query for query, _ in given],
        nows=times,
        y=np.array([CLASSES.index(label) for _, label in given], int),
        told=np.array([-1 if fresh is None else CLASSES.index(fresh.value) for fresh in told], int),
        open=np.array([open_ended(query, cue) for query, cue in zip(asked, found, strict=True)], bool),
        silent=np.array([is_silent(cue) for cue in found], bool),
        x=np.array([features(query, cue) for query, cue in zip(asked, found, strict=True)]),
        vectors=np.stack([_vector(embed, query.embedded) for query in asked]),
        weight=np.ones(len(given)),
        of=np.array([of] * len(given), object),
    )


def _vector(embed: Embed, text: str) -> Array:
    """One text a call, as the classifier asks: in a batch the last digits would differ."""
    return np.frombuffer(embed([text]).data, "<f4").astype(float)


def joined(*sets: Set) -> Set:
    """All questions of ``sets``, in their order."""
    names = ("y", "told", "open", "silent", "x", "vectors", "weight", "of")
    return Set(
        queries=[query for some in sets for query in some.queries],
        nows=[now for some in sets for now in some.nows],
        **{name: np.concatenate([getattr(some, name) for some in sets]) for name in names},
    )


def labelled(embed: Embed) -> Mapping[str, Set]:
    """FreshQA and tech: ``freshqa``, ``tech``, ``unseen`` (true premise) and ``false_premise``."""
    seeds, more = DATA / "seed_evals", DATA / "freshness" / "freshqa_600.jsonl"
    new = [row for row in rows(need(more, HOW)) if not row["in_seed_set"]]

    def pairs(path: Path) -> list[tuple[str, str]]:
        return [(row["query"], _VOLATILITY[row["volatility"]]) for row in rows(need(path, HOW))]

    def part(false: bool) -> list[tuple[str, str]]:
        return [(row["query"], row["class"]) for row in new if row["false_premise"] is false]

    return {
        "freshqa": read(pairs(seeds / "freshqa_queries.jsonl"), embed, "freshqa"),
        "tech": read(pairs(seeds / "tech_volatility_queries.jsonl"), embed, "tech"),
        "unseen": read(part(False), embed, "unseen"),
        "false_premise": read(part(True), embed, "false_premise"),
    }


def only_measured(embed: Embed) -> Mapping[str, Set]:
    """``realtimeqa``, each asked on its own day and called realtime, and ``tsqa``, called stable."""
    folder = DATA / "freshness"
    news = list(rows(need(folder / "realtimeqa_dated.jsonl", HOW)))
    days = [datetime.strptime(row["question_date"].replace("-", "/"), "%Y/%m/%d") for row in news]
    periods = list(rows(need(folder / "tsqa_questions.jsonl", HOW)))
    return {
        "realtimeqa": read([(row["query"], "realtime") for row in news], embed, "realtimeqa", days),
        "tsqa": read([(row["query"], "stable") for row in periods], embed, "tsqa"),
    }


def foreign() -> list[str]:
    """Questions in ten languages other than English (XQuAD, CC-BY-SA)."""
    path = need(DATA / "rerank" / "xquad_multilingual.jsonl.xz", HOW)
    return sorted({row["query"] for row in rows(path) if row["lang"] != "en"})


def templated(embed: Embed, seed: int = 0) -> Set:
    """Our own questions, those of one template weighing 1 together."""
    asked = questions(NOW.year, seed=seed)
    made = read([(one.query, one.label) for one in asked], embed)
    counts = {one.template: 0 for one in asked}
    for one in asked:
        counts[one.template] += 1
    return evolve(
        made,
        weight=np.array([1 / counts[one.template] for one in asked]),
        of=np.array([one.topic for one in asked], object),
    )


def groups(some: Set) -> Array:
    """A number for each question, the same for all that are alike."""
    parent = list(range(len(some)))

    def root(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    units = some.vectors / np.linalg.norm(some.vectors, axis=1, keepdims=True)
    for a, b in zip(*np.where(np.tril(units @ units.T, -1) >= ALIKE), strict=True):
        parent[root(int(a))] = root(int(b))
    return np.array([root(i) for i in range(len(some))])


def folds(group: Array, y: Array, k: int, seed: int) -> Array:
    """A fold in ``range(k)`` for each question: groups whole, classes spread evenly."""
    rng = np.random.default_rng(seed)
    members = {g: np.flatnonzero(group == g) for g in np.unique(group)}
    order = sorted(rng.permutation(list(members)), key=lambda g: -len(members[g]))
    counts = np.zeros((k, len(CLASSES)))
    fold = np.zeros(len(group), int)
    for g in order:
        added = np.bincount(y[members[g]], minlength=len(CLASSES))
        costs = ((counts + added) ** 2).sum(1) - (counts**2).sum(1)
        best = int(np.argmin(costs + rng.random(k) * 0.5))
        counts[best] += added
        fold[members[g]] = best
    return fold
