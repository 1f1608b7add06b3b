"""What the second stage sees beside the block: the first stage's opinion of everything around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .cut import best_prefix
from .features import alike, running, shifted
from .layout import Floats, Layout

_WINDOWS = (3, 10, 30)
_LEVELS = (0, 1, 2, 3, 4, 6)


def context_features(p: Floats, words: Floats, layout: Layout) -> dict[str, NDArray[np.generic]]:
    """Columns by name, each of length B; ``p`` is the first stage's probability of each block."""
    count = len(p)
    place = np.arange(count)
    weight, wanted = running(words), running(p * words)
    columns: dict[str, NDArray[np.generic]] = {"p": p}
    for by in (1, 2, -1, -2):
        columns[f"p{by:+d}"] = shifted(p, by, 0.0)
    for reach in _WINDOWS:
        low, high = np.maximum(0, place - reach), np.minimum(count, place + reach + 1)
        columns[f"p_window{reach}"] = (wanted[high] - wanted[low]) / np.maximum(1, weight[high] - weight[low])
    first, last = layout.first, layout.last
    inside = (wanted[last] - wanted[first]) / np.maximum(1, weight[last] - weight[first])
    up = layout.element_of.copy()
    for level in range(max(_LEVELS) + 1):
        if level in _LEVELS:
            columns[f"p_up{level}"] = inside[up]
        above = layout.parent[up]
        up = np.where(above >= 0, above, up)
    total, all_wanted = max(1.0, weight[-1]), wanted[-1]
    columns["p_before"] = wanted[:-1] / np.maximum(1, weight[:-1])
    columns["p_after"] = (all_wanted - wanted[1:]) / np.maximum(1, weight[-1] - weight[1:])
    columns["p_page"] = np.full(count, all_wanted / total)
    columns["wanted_words"] = np.full(count, np.log1p(all_wanted))
    columns["wanted_before"] = wanted[:-1] / max(1e-9, all_wanted)
    threshold, expected = best_prefix(p, words)
    columns["expected_f1"] = np.full(count, expected)
    columns["over_threshold"] = p - threshold
    group = alike(layout)
    columns["p_alike"] = (
        np.bincount(group, weights=p * words) / np.maximum(1e-9, np.bincount(group, weights=words))
    )[group]
    return columns
