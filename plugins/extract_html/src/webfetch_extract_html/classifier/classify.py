"""The classifier at work on one page."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..blocks import Block
from .context import context_features
from .cut import best_prefix, keep
from .features import block_features, sizes_of
from .layout import Floats, Layout, lay_out
from .model import Model, ModelError, compare, unpack
from .page_features import about, page_features
from .words import Evidence, evidence

MODEL_FILE = Path(__file__).with_name("model.bin")
MAX_BLOCKS = 8_000
"""Pages with more are left to the other steps: they would take seconds."""

_lock = threading.Lock()
_loaded: dict[Path, Model | ModelError] = {}


@frozen(kw_only=True, eq=False)
class Inputs:
    """What is known of a page before any model is asked.

    ``matrix`` is float32 [blocks, columns]; ``words`` the words of each block; ``evidence`` the words around
    it; ``page`` the page features.
    """

    columns: tuple[str, ...]
    matrix: NDArray[np.float32]
    words: Floats
    layout: Layout
    evidence: Sequence[Evidence]
    page_columns: tuple[str, ...]
    page: NDArray[np.float32]


@frozen(kw_only=True, eq=False)
class Verdict:
    """``probability`` and ``kept`` are per block; ``types`` the probability of each page type;
    ``expected_f1`` what word F1 the classifier itself expects of its choice."""

    probability: Floats
    kept: NDArray[np.bool_]
    types: Mapping[str, float]
    expected_f1: float

    @property
    def page_type(self) -> str:
        return max(self.types, key=lambda name: self.types[name])


def load_model(path: Path = MODEL_FILE) -> Model:
    """The model in ``path``, read once and kept.

    Raises:
        ModelError: the file is missing, damaged or of another version; it is not tried again.
    """
    with _lock:
        found = _loaded.get(path)
        if found is None:
            try:
                found = unpack(path.read_bytes())
            except OSError as error:
                found = ModelError(f"cannot be read: {error.strerror or type(error).__name__}")
            except ModelError as error:
                found = error
            _loaded[path] = found
    if isinstance(found, ModelError):
        raise found
    return found


def read_page(
    root: Any,
    blocks: Sequence[Block],
    *,
    url: str = "",
    kinds: frozenset[str] = frozenset(),
    title: str = "",
    description: str = "",
) -> Inputs:
    """Measure a page. ``blocks`` are not empty and their elements are in ``root``; ``kinds`` are its JSON-LD
    types, lower case."""
    layout = lay_out(root, blocks)
    sizes = sizes_of(blocks)
    features = block_features(blocks, layout, sizes, title=title, description=description)
    page = page_features(about(root, url, kinds), blocks, layout, sizes, features)
    return Inputs(
        columns=features.names,
        matrix=features.matrix,
        words=sizes.words,
        layout=layout,
        evidence=evidence(blocks, layout),
        page_columns=tuple(page),
        page=np.array(list(page.values()), dtype=np.float32),
    )


def judge(model: Model, inputs: Inputs) -> Verdict:
    """Ask the model.

    Raises:
        ModelError: it was trained on other inputs.
    """
    compare(inputs.columns, model.columns, "block features")
    compare(inputs.page_columns, model.page_columns, "page features")
    types = page_types(model, inputs.page)
    scores = term_scores(model.terms, inputs.evidence)
    tiled = np.broadcast_to(types.astype(np.float32), (len(scores), len(types)))
    rows = np.hstack([inputs.matrix, scores, tiled])
    first = _sigmoid(model.first.sums(rows)[:, 0])
    context = context_features(first, inputs.words, inputs.layout)
    compare(tuple(context), model.context, "context features")
    rows = np.hstack([rows, np.column_stack(list(context.values())).astype(np.float32)])
    second = _sigmoid(model.second.sums(rows)[:, 0])
    _, expected = best_prefix(second, inputs.words)
    return Verdict(
        probability=second,
        kept=keep(second, inputs.words),
        types=dict(zip(model.types, types.tolist(), strict=True)),
        expected_f1=expected,
    )


def page_types(model: Model, page: NDArray[np.float32]) -> Floats:
    """The probability of each type: the mean of a linear model's and the trees'."""
    standard = (page - model.page_mean) / model.page_scale
    linear = model.page_weights[:, :-1] @ standard + model.page_weights[:, -1]
    trees = model.page.sums(page[None], outputs=len(model.types))[0]
    mean: Floats = (_softmax(linear.astype(np.float64)) + _softmax(trees)) / 2
    return mean


def term_scores(terms: Mapping[str, float], found: Sequence[Evidence]) -> NDArray[np.float32]:
    """The summed weights of each kind of words around each block: ``[blocks, 3]``."""
    known: dict[int, float] = {}  # the lists of names and headings are shared by many blocks

    def score(words: Sequence[str]) -> float:
        total = known.get(id(words))
        if total is None:
            total = known[id(words)] = sum(filter(None, map(terms.get, words)))
        return total

    return np.array([[score(words) for words in each] for each in found], dtype=np.float32)


def _sigmoid(values: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(values, -60, 60)))


def _softmax(values: Floats) -> Floats:
    raised = np.exp(values - values.max())
    mean: Floats = raised / raised.sum()
    return mean
