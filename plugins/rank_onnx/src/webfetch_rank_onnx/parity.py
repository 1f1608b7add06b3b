"""How near an exported or quantised model is to its original. Pure: numbers in, figures and problems out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from attrs import frozen

from .streams import Array

TOP = 10
"""Of the passages: as many as the first page of a result would show."""

LEAST_COSINE = 0.99
"""Mean; below it rankings change visibly: int8 per tensor has .95 and loses one in seven of the first ten."""
LEAST_OVERLAP = 0.9
MOST_DIFFERENCE = 1e-3
"""Of fp32 scores: what different kernels may differ by."""


@frozen
class Texts:
    """The texts that are measured: facts, code, tables, other scripts, emoji, empty ones and a long one."""

    queries: tuple[str, ...]
    passages: tuple[str, ...]


def texts() -> Texts:
    """The bundled texts: 8 queries, 48 passages."""
    data = json.loads((files(__package__) / "data" / "parity.json").read_text(encoding="utf-8"))
    return Texts(tuple(data["queries"]), tuple(data["passages"]))


def vector_figures(original: Array, exported: Array, queries: int) -> dict[str, float]:
    """Compare unit vectors, a row a text, the queries first."""
    cosines = (original * exported).sum(axis=1)
    return {
        "cosine, mean": float(cosines.mean()),
        "cosine, least": float(cosines.min()),
        **score_figures(original[:queries] @ original[queries:].T, exported[:queries] @ exported[queries:].T),
    }


def score_figures(original: Array, exported: Array) -> dict[str, float]:
    """Compare scores, a row a query and a column a passage."""
    overlaps = [overlap(a, b, TOP) for a, b in zip(original, exported, strict=True)]
    agreement = [correlation(a, b) for a, b in zip(original, exported, strict=True)]
    return {
        "correlation of scores, mean": float(np.mean(agreement)),
        "correlation of scores, least": float(np.min(agreement)),
        f"overlap of the first {TOP}, mean": float(np.mean(overlaps)),
        "difference of scores, largest": float(np.abs(original - exported).max()),
    }


def overlap(original: Sequence[float] | Array, exported: Sequence[float] | Array, top: int) -> float:
    """Share of the ``top`` best of one list that are among the ``top`` best of the other."""
    best = [
        set(np.argsort(-np.asarray(scores), kind="stable")[:top].tolist()) for scores in (original, exported)
    ]
    return len(best[0] & best[1]) / max(min(top, len(best[0])), 1)


def correlation(a: Array, b: Array) -> float:
    """Pearson's; 1 for two constant rows, and 0 where one alone is constant."""
    x, y = np.asarray(a, np.float64) - np.mean(a), np.asarray(b, np.float64) - np.mean(b)
    scale = float(np.sqrt((x * x).sum() * (y * y).sum()))
    if scale == 0:
        return float(not x.any() and not y.any())
    return float((x * y).sum() / scale)


def problems(figures: Mapping[str, Any], precision: str) -> tuple[str, ...]:
    """Name the gates that the figures miss."""
    mean = next(name for name in ("cosine, mean", "correlation of scores, mean") if name in figures)
    least = {mean: LEAST_COSINE, f"overlap of the first {TOP}, mean": LEAST_OVERLAP}
    found = [
        f"{name} {figures[name]:.4f}, at least {gate}"
        for name, gate in least.items()
        if not figures[name] >= gate
    ]
    difference = figures["difference of scores, largest"]
    if precision == "fp32" and not difference <= MOST_DIFFERENCE:
        found.append(f"difference of scores, largest {difference:.2g}, at most {MOST_DIFFERENCE}")
    return tuple(found)
