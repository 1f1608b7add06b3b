"""Pairs of queries for the matcher's evals, and what the verifiers say of them.

- ``evals/matcher_pairs/dev_same.tsv`` and ``dev_other.tsv``: ours, ``category<TAB>query<TAB>query``. What was
  developed and what thresholds were chosen on, together with held-out pairs of ``paraphrase_data``.
- ``seed_evals/matcher_pairs.jsonl``: 285 pairs of the reference's own eval, 200 of them Quora's.
- ``paraphrase/*.jsonl``: see its README. STS 2016 has scores from 0 to 5: 4 and more counts as the same here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from attrs import Factory, evolve, frozen
from common import DATA, need, rows
from numpy.typing import NDArray
from webfetch_match_semantic.bars import bar
from webfetch_match_semantic.features import features, left_texts, load_model
from webfetch_match_semantic.rules import Ruling, rule

from webfetch_core.api import Embeddings

OURS = Path(__file__).parent / "matcher_pairs"
SEED = DATA / "seed_evals" / "matcher_pairs.jsonl"
PARAPHRASE = DATA / "paraphrase"
HOW = "It holds pairs of queries as its README says."
YEAR = 2026
SAME_FROM = 4.0
SHORTLIST = 0.6
"""Cosine below which the matcher never sees a pair."""


@frozen(kw_only=True)
class Pair:
    """Two queries, whether they ask the same, the set they are of, and what was found out about them.

    Attributes:
        part: a category inside of the set.
        ruling: of the rules.
        cosine: of the bi-encoder.
        scores: of each verifier, for pairs that the rules leave open.
        left_cosine: of the words that each side has alone; None where one has none.
    """

    set: str
    part: str
    a: str
    b: str
    same: bool
    ruling: Ruling | None = None
    cosine: float = 1.0
    left_cosine: float | None = None
    scores: Mapping[str, float] = Factory(dict)

    def accepted(self, verifier: str, threshold: float) -> bool:
        """Whether the matcher takes this pair for the same question."""
        assert self.ruling is not None
        if self.cosine < SHORTLIST - 1e-6 or self.ruling.same is False:
            return False
        if self.ruling.same:
            return True
        return verifier in self.scores and self.scores[verifier] >= bar(verifier, threshold, self.ruling)


def development() -> list[Pair]:
    """Our own pairs."""
    found = []
    for name, same in (("dev_same", True), ("dev_other", False)):
        for line in (OURS / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
            part, a, b = line.split("\t")
            found.append(Pair(set="development", part=part, a=a, b=b, same=same))
    return found


def made(number: int, seed: int, of_held: bool) -> list[Pair]:
    """Pairs from templates and rules; the paraphrase model learned from those that are not held."""
    from paraphrase_data import pairs

    return [
        Pair(set="made", part=pair.kind, a=pair.a, b=pair.b, same=bool(pair.label))
        for pair in pairs(number, seed, of_held)
        # CheckList has labels that a cache must not follow: an answer for one person is none for another.
        if not (pair.label and "asymmetric" in pair.kind)
    ]


def reported() -> Iterator[Pair]:
    """Every pair of the sets that are reported."""
    for row in rows(need(SEED, HOW)):
        name = "qqp of the 285" if row["source"].startswith("qqp") else "trusted of the 285"
        yield Pair(set=name, part=row["source"], a=row["q1"], b=row["q2"], same=bool(row["label"]))
    files = {
        "fow_pairs": "category", "checklist_qqp_mft": "capability", "qqp_pairs": "source", "mrpc_pairs": "",
        "tsqa_year_swap_negatives": "", "gptcache_mock_positive": "", "sts16_question_question": "",
    }  # fmt: skip
    for name, part in files.items():
        for row in rows(need(PARAPHRASE / f"{name}.jsonl", HOW)):
            same = row["score"] >= SAME_FROM if "score" in row else bool(row["label"])
            yield Pair(set=name, part=row.get(part, ""), a=row["q1"], b=row["q2"], same=same)
    for row in rows(need(PARAPHRASE / "fow_conversations.jsonl", HOW)):
        a, b = (_spoken(row[side]) for side in "ab")
        yield Pair(set="fow_conversations", part=row["subtype"], a=a, b=b, same=row["same_answer"])


def _spoken(turns: Sequence[object]) -> str:
    """A conversation as one text: what a cache of queries would be asked."""
    return "\n".join(
        str(turn.get("content", turn)) if isinstance(turn, dict) else str(turn) for turn in turns
    )


def judged(
    pairs: Sequence[Pair],
    embed: Callable[[Sequence[str]], Embeddings],
    models: dict[str, Callable[[str, str], float]],
) -> list[Pair]:
    """The pairs with rulings, cosines, and scores of verifiers where the rules leave a pair open."""
    rulings = [rule(pair.a, pair.b, YEAR) for pair in pairs]
    alone = [left_texts(ruling.pairs) if ruling.pairs else ("", "") for ruling in rulings]
    texts = [text for pair, left in zip(pairs, alone, strict=True) for text in (pair.a, pair.b, *left)]
    vectors = _vectors(texts, embed)
    out = []
    for pair, ruling, (one, other) in zip(pairs, rulings, alone, strict=True):
        cosine = float(vectors[pair.a] @ vectors[pair.b])
        left = float(vectors[one] @ vectors[other]) if one and other else None
        scores = {}
        if ruling.same is None and cosine >= SHORTLIST:
            scores = {name: score(min(pair.a, pair.b), max(pair.a, pair.b)) for name, score in models.items()}
            scores["features"] = _by_features(ruling, cosine, left)
        out.append(evolve(pair, ruling=ruling, cosine=cosine, left_cosine=left, scores=scores))
    return out


def _vectors(
    texts: Sequence[str], embed: Callable[[Sequence[str]], Embeddings]
) -> Mapping[str, NDArray[np.float32]]:
    found: dict[str, NDArray[np.float32]] = {}
    distinct = list(dict.fromkeys(texts))
    for start in range(0, len(distinct), 256):
        some = distinct[start : start + 256]
        vectors = embed(some)
        found |= dict(zip(some, np.frombuffer(vectors.data, "<f4").reshape(-1, vectors.dim), strict=True))
    return found


def _by_features(ruling: Ruling, cosine: float, left: float | None) -> float:
    if ruling.a is None or ruling.b is None or ruling.pairs is None:
        return 0.0
    try:
        return load_model().sure(features(ruling.a, ruling.b, ruling.pairs, cosine, left))
    except ValueError:  # no model of these features yet
        return 0.0
