"""Train the content classifier of extract_html, cross-validate it, and write its model.

Needs lightgbm, scikit-learn, scipy and rapidfuzz beside the project; none of them is needed to run the
classifier. Takes about fifteen minutes on one core; the same data and versions give the same file.

    python evals/train_extract.py [--folds-only | --dry-run] [--pages CACHE]

1. Every page is read as the extractor reads it, and its blocks are labelled by the truth: a block's label is
   the share of its words in the longest common subsequence with the truth, or of its four-word runs that
   occur there, whichever is more; a copy counts only while the truth has words left for it.
2. Five folds by registered domain. In each, a linear model of words, a page-type model and the first stage
   are trained in three inner folds, so that the second stage learns from opinions about unseen pages.
3. The models of the folds go to ``evals/extract_folds`` (``evals/extraction.py`` measures each page with the
   model that has not seen its domain), the one trained on everything into the plugin.

Pages are those of ``extract_data.py``; pages of ``traf`` count a quarter and only where trafilatura keeps
all wanted snippets and no unwanted ones: its choice is then the label.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import scipy.sparse as sp
from attrs import field, frozen
from extract_data import FOLDS, TYPES, Sample, domain, holds, part, samples, words
from rapidfuzz.distance import LCSseq
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.preprocessing import StandardScaler
from webfetch_extract_html.blocks import tokens_of
from webfetch_extract_html.classifier import classify
from webfetch_extract_html.classifier.assembly import Leaf, Split, assemble
from webfetch_extract_html.classifier.context import context_features
from webfetch_extract_html.classifier.model import Model, pack
from webfetch_extract_html.content import MODEL_FILE
from webfetch_extract_html.html import open_page
from webfetch_extract_html.settings import ExtractHtmlSettings
from webfetch_extract_html.steps import members

from webfetch_core.api import Page

FOLD_MODELS = Path(__file__).parent / "extract_folds"
INNER = 3
BAGS = 3
QUARTER = 0.25
_LEAST_DOMAINS = 6
_TREES: dict[str, Any] = {
    "objective": "cross_entropy",
    "feature_fraction": 0.3,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "max_bin": 63,
    "num_threads": 1,
    "deterministic": True,
    "verbose": -1,
}
FIRST = {**_TREES, "num_leaves": 31, "learning_rate": 0.09, "min_child_samples": 60}
SECOND = {**_TREES, "num_leaves": 15, "learning_rate": 0.06, "min_child_samples": 80}
PAGE = {
    **_TREES,
    "objective": "multiclass",
    "num_class": len(TYPES),
    "num_leaves": 6,
    "learning_rate": 0.08,
    "min_child_samples": 16,
    "feature_fraction": 0.25,
    "lambda_l2": 3.0,
}
ROUNDS = {"first": 150, "second": 120, "page": 80}
_C = 0.03


@frozen(kw_only=True)
class Learned:
    """A page as it is learned from. ``pages`` are its page features with and without its address; ``label``
    and ``weight`` have a value per block; ``quarter`` says that another tool made the labels."""

    id: str
    domain: str
    page_type: str
    inputs: classify.Inputs
    pages: tuple[np.ndarray, np.ndarray]
    label: np.ndarray
    weight: np.ndarray
    quarter: bool = False


@frozen(kw_only=True)
class Level0:
    terms: dict[str, float]
    scaler: StandardScaler = field(repr=False)
    linear: LogisticRegression = field(repr=False)
    trees: lgb.Booster = field(repr=False)


# ---- labels --------------------------------------------------------------------------------------


def labels(blocks: Sequence[Sequence[str]], truth: str) -> np.ndarray:
    """How much of each block is content, 0 to 1."""
    found = np.zeros(len(blocks))
    wanted = tokens_of(truth)
    flat = [word for block in blocks for word in block]
    if not flat or not wanted:
        return found
    lines = {tuple(tokens_of(line)) for line in truth.split("\n")}
    number: dict[str, int] = {}
    ours = [number.setdefault(word, len(number)) for word in flat]
    theirs = [number.setdefault(word, len(number)) for word in wanted]
    common = np.zeros(len(ours))
    for step in LCSseq.opcodes(ours, theirs):
        if step.tag == "equal":
            common[step.src_start : step.src_end] = 1
    runs = {tuple(theirs[i : i + 4]) for i in range(len(theirs) - 3)}
    aligned = np.zeros(len(blocks))
    start = 0
    for place, block in enumerate(blocks):
        size = len(block)
        if not size:
            continue
        mine = ours[start : start + size]
        share = aligned[place] = common[start : start + size].mean()
        start += size
        if size >= 4:
            inside = sum(tuple(mine[i : i + 4]) in runs for i in range(size - 3))
            share = max(share, inside / (size - 3))
        else:
            share = share if share == 1 else share / 2
            share = max(share, 0.6) if tuple(block) in lines else share
        found[place] = share
    left = Counter(wanted)
    for place in np.argsort(-aligned, kind="stable"):
        if found[place] < 0.5:
            continue
        need = Counter(blocks[place])
        have = (need & left).total() / len(blocks[place])
        found[place] = min(found[place], have)
        if have >= 0.5:
            left -= need
    return found


def learned(sample: Sample) -> Learned | None:
    """Read and label a page; None where nothing can be learned from it."""
    opened = open_page(
        Page(url=sample.url, body=sample.body, content_type="text/html"), ExtractHtmlSettings()
    )
    if opened is None or not opened.prepared.blocks:
        return None
    view = opened.view
    about = {"kinds": view.kinds, "title": view.title, "description": view.description}
    inputs = classify.read_page(view.root, view.blocks, url=sample.url, **about)
    blind = classify.read_page(view.root, view.blocks, url="", **about).page
    if sample.truth is not None:
        label = labels([block.tokens for block in view.blocks], sample.truth)
        size = len(words(sample.truth))
    else:
        text = _teacher(sample)
        if not text:
            return None
        label = np.array(members(view.blocks, text), dtype=float)
        size = len(words(text))
    weight = (inputs.words + 0.5) / (size + 0.25 * inputs.words.sum() + 30)
    quarter = sample.truth is None
    return Learned(
        id=sample.id,
        domain=domain(sample),
        page_type=sample.page_type,
        inputs=inputs,
        pages=(inputs.page, blind),
        label=label,
        weight=weight * (QUARTER if quarter else 1),
        quarter=quarter,
    )


def _teacher(sample: Sample) -> str:
    """What trafilatura keeps of a page, where that agrees with every snippet; else nothing."""
    import trafilatura

    text = trafilatura.extract(sample.body.decode("utf-8", "replace")) or ""
    found = words(text)
    right = all(holds(found, each) for each in sample.wanted)
    wrong = any(holds(found, each) for each in sample.unwanted)
    return text if right and not wrong and len(text) > 600 else ""


# ---- fitting -------------------------------------------------------------------------------------


def fit_level0(pages: Sequence[Learned]) -> Level0:
    """The linear model of words, and the two models of the page's type."""
    seen: dict[str, set[str]] = defaultdict(set)
    for page in pages:
        for kinds in page.inputs.evidence:
            for group in kinds:
                for word in group:
                    seen[word].add(page.domain)
    terms = sorted(word for word, domains in seen.items() if len(domains) >= _LEAST_DOMAINS)
    place = {word: number for number, word in enumerate(terms)}
    starts, columns = [0], []
    for page in pages:
        for kinds in page.inputs.evidence:
            columns += [place[word] for group in kinds for word in group if word in place]
            starts.append(len(columns))
    matrix = sp.csr_matrix(
        (np.ones(len(columns), np.float32), columns, starts), shape=(len(starts) - 1, len(terms))
    )
    weight = np.sqrt(np.concatenate([page.weight for page in pages]))
    model = SGDClassifier(
        loss="log_loss", alpha=3e-5, average=True, max_iter=6, tol=None, random_state=0
    ).fit(
        matrix,
        np.concatenate([page.label for page in pages]) >= 0.5,
        sample_weight=weight / weight.mean(),
    )
    typed = [page for page in pages if not page.quarter]
    rows = np.vstack([row for page in typed for row in page.pages])
    kinds_of = np.array([TYPES.index(page.page_type) for page in typed for _ in page.pages])
    scaler = StandardScaler().fit(rows)
    return Level0(
        terms={word: float(np.float32(w)) for word, w in zip(terms, model.coef_[0], strict=True)},
        scaler=scaler,
        linear=LogisticRegression(C=_C, max_iter=500).fit(scaler.transform(rows), kinds_of),
        trees=lgb.train({**PAGE, "seed": 1}, lgb.Dataset(rows, kinds_of), num_boost_round=ROUNDS["page"]),
    )


def rows_of(page: Learned, level0: Level0, row: np.ndarray) -> np.ndarray:
    """The inputs of the first stage."""
    kinds = level0.linear.predict_proba(level0.scaler.transform(row[None]))[0]
    kinds = (kinds + level0.trees.predict(row[None], num_threads=1)[0]) / 2
    scores = classify.term_scores(level0.terms, page.inputs.evidence)
    return np.hstack([page.inputs.matrix, scores, np.tile(kinds, (len(scores), 1))]).astype(np.float32)


def with_context(page: Learned, rows: np.ndarray, opinion: np.ndarray) -> np.ndarray:
    context = context_features(opinion, page.inputs.words, page.inputs.layout)
    return np.hstack([rows, np.column_stack(list(context.values())).astype(np.float32)])


def fit_trees(
    pages: Sequence[Learned], rows: dict[str, np.ndarray], settings: dict[str, Any], rounds: int, seed: int
) -> lgb.Booster:
    weight = np.concatenate([page.weight for page in pages])
    data = lgb.Dataset(
        np.vstack([rows[page.id] for page in pages]),
        np.concatenate([page.label for page in pages]),
        weight=weight / weight.mean(),
    )
    return lgb.train({**settings, "seed": seed}, data, num_boost_round=rounds)


def fit(pages: Sequence[Learned], about: dict[str, Any]) -> Model:
    """Fit all parts; the later ones learn from what the earlier ones say of pages they have not seen."""

    def inner(page: Learned) -> int:
        return part(page.domain, INNER, "inner")

    rows: dict[str, np.ndarray] = {}
    opinion: dict[str, np.ndarray] = {}
    for number in range(INNER):
        level0 = fit_level0([page for page in pages if inner(page) != number])
        for page in pages:
            if inner(page) == number:
                rows[page.id] = rows_of(page, level0, page.pages[part(page.id, 2, "u")])
    for number in range(INNER):
        others = [page for page in pages if inner(page) != number]
        model = fit_trees(others, rows, FIRST, ROUNDS["first"], 1)
        for page in pages:
            if inner(page) == number:
                opinion[page.id] = model.predict(rows[page.id], num_threads=1)
    first = fit_trees(pages, rows, FIRST, ROUNDS["first"], 1)
    wide = {page.id: with_context(page, rows[page.id], opinion[page.id]) for page in pages}
    second = [fit_trees(pages, wide, SECOND, ROUNDS["second"], 1 + bag) for bag in range(BAGS)]
    return exported(fit_level0(pages), first, second, pages[0], about)


def exported(
    level0: Level0, first: lgb.Booster, second: Sequence[lgb.Booster], page: Learned, about: dict[str, Any]
) -> Model:
    columns = page.inputs.columns
    size = len(page.inputs.words)
    context = tuple(context_features(np.full(size, 0.5), page.inputs.words, page.inputs.layout))
    width = len(columns) + 3 + len(TYPES)
    return Model(
        columns=columns,
        page_columns=page.inputs.page_columns,
        context=context,
        types=TYPES,
        terms=level0.terms,
        page_mean=level0.scaler.mean_.astype(np.float32),
        page_scale=level0.scaler.scale_.astype(np.float32),
        page_weights=np.column_stack([level0.linear.coef_, level0.linear.intercept_]).astype(np.float32),
        page=assemble(trees_of([level0.trees], len(TYPES)), len(page.inputs.page_columns)),
        first=assemble(trees_of([first]), width),
        second=assemble(trees_of(second), width + len(context)),
        about=about,
    )


def trees_of(models: Sequence[lgb.Booster], outputs: int = 1) -> list[tuple[int, Split | Leaf]]:
    """The trees of the models, whose sums are averaged; tree n of a model adds to output n mod outputs."""
    share = 1 / len(models)
    return [
        (number % outputs, _node(tree["tree_structure"], share))
        for model in models
        for number, tree in enumerate(model.dump_model()["tree_info"])
    ]


def _node(node: dict[str, Any], share: float) -> Split | Leaf:
    if "leaf_value" in node:
        return Leaf(node["leaf_value"] * share)
    if node["decision_type"] != "<=":
        raise ValueError(f"a split of kind {node['decision_type']} cannot be exported")
    left, right = _node(node["left_child"], share), _node(node["right_child"], share)
    return Split(node["split_feature"], node["threshold"], left, right)


# ---- runs ----------------------------------------------------------------------------------------


def gather(cache: Path | None) -> list[Learned]:
    """All pages, measured; kept in ``cache`` between runs while trying things out."""
    if cache and cache.exists():
        return list(pickle.loads(cache.read_bytes()))
    with ProcessPoolExecutor(2) as pool:
        found = [
            page for page in pool.map(learned, samples("wcxb", "aeb", "rdb", "traf"), chunksize=8) if page
        ]
    if cache:
        cache.write_bytes(pickle.dumps(found))
    return found


def report(name: str, pages: Sequence[Learned], model: Model) -> None:
    """How well the model does on pages, by label: without rendering, so near the F1 of the text only."""
    expected, right = [], []
    for page in pages:
        verdict = classify.judge(model, page.inputs)
        size = page.inputs.words
        wanted, kept = (page.label * size).sum(), size[verdict.kept].sum()
        both = (page.label * size)[verdict.kept].sum()
        expected.append(2 * both / (wanted + kept) if wanted + kept else 1.0)
        right.append(verdict.page_type == page.page_type)
    print(
        f"{name}: {len(pages)} pages, label F1 {np.mean(expected):.4f}, type right {np.mean(right):.3f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folds-only", action="store_true", help="do not train the plugin's own model")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    parser.add_argument("--pages", type=Path, help="file to keep the measured pages in between runs")
    options = parser.parse_args()
    pages = gather(options.pages)
    counts = Counter(page.id.partition(":")[0] for page in pages)
    print(f"{len(pages)} pages {dict(counts)}, {sum(len(p.label) for p in pages)} blocks", flush=True)
    if not options.folds_only:
        model = fit(pages, {"pages": len(pages), "blocks": sum(len(p.label) for p in pages)})
        report("all pages, IN SAMPLE", [page for page in pages if not page.quarter], model)
        data = pack(model)
        print(f"{MODEL_FILE.name}: {len(data)} bytes", flush=True)
        if not options.dry_run:
            MODEL_FILE.write_bytes(data)
    FOLD_MODELS.mkdir(exist_ok=True)
    for number in range(FOLDS):
        began = time.monotonic()
        trained = [page for page in pages if part(page.domain, FOLDS, "outer") != number]
        tested = [page for page in pages if part(page.domain, FOLDS, "outer") == number and not page.quarter]
        model = fit(trained, {"pages": len(trained), "fold": number})
        report(f"fold {number} ({time.monotonic() - began:.0f} s)", tested, model)
        if not options.dry_run:
            (FOLD_MODELS / f"fold{number}.bin").write_bytes(pack(model))


if __name__ == "__main__":
    main()
