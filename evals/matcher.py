"""Does the matcher take a rewording for the same question, and a trap for another one?

    python evals/matcher.py [--verifiers paraphrase,features,strict] [--choose] [--guards]

Every pair of ``matcher_sets`` goes through what match_semantic does: the cosine of the shortlist, the rules,
then each verifier that is here. Per set: how many pairs that ask the same were accepted (recall), how many
that do not, and the precision of both; for sets of traps, each that was accepted.

Thresholds are the plugin's defaults. They were chosen on our own development pairs and on held-out pairs of
``paraphrase_data``, which are reported first, and on no other set (``--choose`` shows the choice). No weights
were learned from a reported set.

Beside the figures of all 285 pairs stand those that the reference publishes for them. The labels of Quora's
pairs are noisy: accepted pairs that they call different are listed one by one.

Needs webfetch-rank-onnx (``features``, and ``paraphrase`` where its weights are here). The entailment model
is measured where it was pulled.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, frozen
from common import finish
from compression import biencoder
from matcher_sets import SHORTLIST, Pair, development, judged, made, reported
from webfetch_match_semantic.settings import MatchSemanticSettings

from webfetch_core.api import NotConfigured, WebfetchError
from webfetch_core.runtime.models import ModelStore

REFERENCE = (
    {"gate": "published, NLI gate 0.97", "precision": 0.960, "recall": 0.338},
    {"gate": "published, NLI gate 0.92", "precision": 0.948, "recall": 0.387},
)
TRAPS = {
    "entity, number, date, unit and year swaps": {
        ("fow_pairs", "entity_swap"), ("fow_pairs", "number_date"), ("tsqa_year_swap_negatives", ""),
        ("trusted of the 285", "factoid-negative"), ("checklist_qqp_mft", "NER"),
    },
    "polarity and direction": {
        ("fow_pairs", "negation"), ("checklist_qqp_mft", "Negation"), ("checklist_qqp_mft", "SRL"),
        ("checklist_qqp_mft", "Temporal"), ("checklist_qqp_mft", "Coref"), ("checklist_qqp_mft", "Logic"),
    },
}  # fmt: skip
CURVES = ("trusted of the 285", "all 285", "fow_pairs", "checklist_qqp_mft", "qqp_pairs")
STEPS = [n / 200 for n in range(100, 200)] + [n / 2000 for n in range(1990, 2001)]


@frozen(kw_only=True)
class Line:
    """What was accepted of one set by one verifier."""

    set: str
    verifier: str
    same: int
    other: int
    hits: int
    false: int

    @property
    def precision(self) -> float:
        return self.hits / (self.hits + self.false) if self.hits + self.false else 1.0

    @property
    def recall(self) -> float:
        return self.hits / self.same if self.same else 0.0

    def figures(self) -> str:
        return f"{self.hits}/{self.same} false {self.false}/{self.other} precision {self.precision:.3f}"

    def text(self) -> str:
        parts = [f"{self.set:<34}{self.verifier:<12}"]
        if self.same:
            parts.append(f"recall {self.recall:.3f} ({self.hits}/{self.same})")
        if self.other:
            parts.append(f"false hits {self.false}/{self.other}")
        if self.same and self.other:
            parts.append(f"precision {self.precision:.3f}")
        return "  ".join(parts)


def models(embed: Any) -> dict[str, Callable[[str, str], float]]:
    """The pairwise verifiers that are here, each with why it is not."""
    found: dict[str, Callable[[str, str], float]] = {}
    try:
        from webfetch_rank_onnx.paraphrase import load
        from webfetch_rank_onnx.settings import RankOnnxSettings
        from webfetch_rank_onnx.specs import MINILM

        model = load(ModelStore({}, Path("nowhere")).files(MINILM), RankOnnxSettings())
        found["paraphrase"] = lambda a, b: model.score(a, [b])[0]
    except (ImportError, OSError, NotConfigured) as exc:
        print(f"paraphrase: not available here ({exc})")
    try:
        from webfetch_rank_onnx.entailment import load as load_entailment
        from webfetch_rank_onnx.settings import RankOnnxSettings
        from webfetch_rank_onnx.specs import NLI

        reader = load_entailment(ModelStore({}, Path("nowhere")).files(NLI), RankOnnxSettings())
        found["entailment"] = lambda a, b: reader.score(a, [b])[0]
    except (ImportError, OSError, WebfetchError) as exc:
        print(f"entailment: not available here ({str(exc).splitlines()[0]})")
    return found


def thresholds() -> dict[str, float]:
    """For each verifier how sure it must be."""
    chosen = MatchSemanticSettings()
    return {
        "entailment": chosen.entailment_threshold,
        "paraphrase": chosen.paraphrase_threshold,
        "features": chosen.features_threshold,
        "strict": 1.0,
    }


def measure(name: str, pairs: Sequence[Pair], verifier: str, threshold: float) -> Line:
    taken = [pair for pair in pairs if pair.accepted(verifier, threshold)]
    return Line(
        set=name,
        verifier=verifier,
        same=sum(pair.same for pair in pairs),
        other=sum(not pair.same for pair in pairs),
        hits=sum(pair.same for pair in taken),
        false=sum(not pair.same for pair in taken),
    )


def grouped(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """By set, and the 285 together; parts of sets after them."""
    found: dict[str, list[Pair]] = {}
    for pair in pairs:
        found.setdefault(pair.set, []).append(pair)
    found["all 285"] = [pair for pair in pairs if pair.set.endswith("of the 285")]
    return found


def parts(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.part and pair.set != "made":
            found.setdefault(f"{pair.set}: {pair.part}", []).append(pair)
    return found


def curve(pairs: Sequence[Pair], verifier: str) -> list[dict[str, float]]:
    """Recall and precision for every threshold."""
    lines = [(t, measure("", pairs, verifier, t)) for t in STEPS]
    return [{"threshold": t, "recall": line.recall, "precision": line.precision} for t, line in lines]


def choose(pairs: Sequence[Pair], verifier: str) -> None:
    """What thresholds do on the pairs that they are chosen on, by class of pair."""
    open_ = [pair for pair in pairs if pair.ruling and pair.ruling.same is None and pair.cosine >= SHORTLIST]
    classes: dict[str, list[Pair]] = {}
    for pair in open_:
        assert pair.ruling is not None
        doubt = f"doubt: {pair.ruling.guard}"
        name = doubt if pair.ruling.guard else "all words alike" if pair.ruling.alike else "other words"
        classes.setdefault(name, []).append(pair)
    for name, some in sorted(classes.items()):
        print(f"\n{verifier}, {name}: {len(some)} pairs, {sum(pair.same for pair in some)} ask the same")
        for least in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.94, 0.97, 0.98):
            taken = [pair for pair in some if pair.scores.get(verifier, 0.0) >= least]
            hits = sum(pair.same for pair in taken)
            own = Counter(pair.same for pair in taken if pair.set == "development")
            print(f"  from {least:.2f}: {hits} right, {len(taken) - hits} wrong, precision "
                  f"{hits / max(len(taken), 1):.3f}; of our own {own[True]} and {own[False]}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="rewordings found, and traps taken for them")
    parser.add_argument("--verifiers", default="entailment,paraphrase,features,strict")
    parser.add_argument("--made", type=int, default=4_000, help="held-out pairs that are made")
    parser.add_argument(
        "--choose", action="store_true", help="show thresholds on the development pairs, and stop"
    )
    parser.add_argument("--guards", action="store_true", help="what rejected how many, by set")
    args = parser.parse_args()
    embed = biencoder()
    if embed is None:
        raise SystemExit("the cosines need webfetch-rank-onnx")
    known = models(embed)
    there = [name for name in args.verifiers.split(",") if name in ("features", "strict", *known)]
    known = {name: score for name, score in known.items() if name in there}
    chosen_on = judged([*development(), *made(args.made, 23, of_held=True)], embed, known)
    if args.choose:
        for verifier in there:
            if verifier != "strict":
                choose(chosen_on, verifier)
        return
    pairs = judged(list(reported()), embed, known)
    figures: dict[str, Any] = {"reference": REFERENCE, "lines": [], "curves": {}}
    sets = grouped([*chosen_on, *pairs])
    limits = thresholds()
    for verifier in there:
        least = limits[verifier]
        print(f"\n{verifier}" + (f", from {least}" if verifier != "strict" else ""))
        for name, some in (sets | parts(pairs)).items():
            line = measure(name, some, verifier, least)
            print("  " + line.text())
            figures["lines"].append(asdict(line))
        figures |= summary(verifier, sets, pairs, least)
        if verifier != "strict":
            figures["curves"][verifier] = {name: curve(sets[name], verifier) for name in CURVES}
    for row in REFERENCE:
        print(f"all 285, {row['gate']}: precision {row['precision']:.3f}, recall {row['recall']:.3f}")
    if args.guards:
        by_guard(pairs)
    finish("matcher", figures)


def summary(
    verifier: str, sets: dict[str, list[Pair]], pairs: Sequence[Pair], least: float
) -> dict[str, Any]:
    """The figures that have bounds, and every trap that was taken."""
    trusted = measure("", sets["trusted of the 285"], verifier, least)
    every = measure("", sets["all 285"], verifier, least)
    found: dict[str, Any] = {
        f"{verifier}_trusted_precision": round(trusted.precision, 3),
        f"{verifier}_trusted_recall": round(trusted.recall, 3),
        f"{verifier}_285_precision": round(every.precision, 3),
        f"{verifier}_285_recall": round(every.recall, 3),
    }
    for kind, where in TRAPS.items():
        some = [pair for pair in pairs if (pair.set, pair.part) in where and not pair.same]
        taken = [pair for pair in some if pair.accepted(verifier, least)]
        print(f"  traps of {kind}: {len(taken)} of {len(some)} accepted")
        found[f"{verifier}_{kind.split()[0].strip(',')}_traps"] = round(len(taken) / len(some), 4)
        listed(taken)
    print("  accepted though the label says otherwise, in the 285:")
    listed([pair for pair in sets["all 285"] if not pair.same and pair.accepted(verifier, least)])
    return found


def listed(pairs: Sequence[Pair]) -> None:
    for pair in pairs:
        print(f"    {pair.part}: {pair.a} | {pair.b}")


def by_guard(pairs: Sequence[Pair]) -> None:
    """What the rules did with each set."""
    for name, some in grouped(pairs).items():
        for same in (True, False):
            found = Counter(
                "same"
                if p.ruling.same
                else p.ruling.guard
                if p.ruling.same is False
                else f"asked {p.ruling.guard}"
                for p in some
                if p.same is same and p.ruling
            )
            if found:
                print(f"{name}, {'same' if same else 'other'}: "
                      + ", ".join(f"{k} {v}" for k, v in found.most_common()))  # fmt: skip


if __name__ == "__main__":
    main()
