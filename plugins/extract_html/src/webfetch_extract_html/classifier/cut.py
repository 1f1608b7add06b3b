"""From the probability of each block to the blocks that are kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .layout import Floats

LOWEST, HIGHEST = 0.3, 0.5
"""Bounds of the threshold: chosen by cross-validated word F1."""


def best_prefix(p: Floats, words: Floats) -> tuple[float, float]:
    """The threshold whose blocks have the highest expected F1 of words, and that F1.

    With p the probability that a block's words are wanted, keeping a set S is expected to give
    2 Σ_S p·w / (Σ_S w + Σ_all p·w); the best S is a prefix of the blocks in order of p. Without
    blocks (1.0, 0.0).
    """
    if not len(p):
        return 1.0, 0.0
    weight = words + 0.01  # a block without words must not divide by zero
    order = np.argsort(-p, kind="stable")
    wanted = p[order] * weight[order]
    expected = 2 * np.cumsum(wanted) / (np.cumsum(weight[order]) + max(float(wanted.sum()), 1e-9))
    best = int(np.argmax(expected))
    return float(p[order[best]]), float(expected[best])


def keep(p: Floats, words: Floats) -> NDArray[np.bool_]:
    """Which blocks are content: those at or above the best threshold, which is kept within its bounds."""
    threshold, _ = best_prefix(p, words)
    return p >= min(max(threshold, LOWEST), HIGHEST)
