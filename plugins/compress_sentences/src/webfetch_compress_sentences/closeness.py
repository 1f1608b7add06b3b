"""What the cosines of query and units add to what is known of each unit. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from .features import FEATURES
from .layout import Placed
from .meaning import standard

WITH_MEANING = (*FEATURES, "cosine", "cosine_gap", "cosine_standard", "cosine_near")
"""Names, in the order of the columns. The training script writes one coefficient for each.

``cosine_gap`` is the distance to the best of the result, ``cosine_near`` that of the best of a unit and its
two neighbours.
"""


def with_cosines(
    rows: Sequence[Sequence[float]], placed: Sequence[Placed], order: Sequence[int], cosines: Sequence[float]
) -> list[list[float]]:
    """Return one row of :data:`WITH_MEANING` for each unit whose cosine is known.

    Args:
        rows: one of ``FEATURES`` for every unit.
        order: which units the cosines are of; those beyond them are unknown.
        cosines: at least one.
    """
    known = dict(zip(order, cosines, strict=False))
    best = max(cosines)
    result = []
    for (i, value), scaled in zip(known.items(), standard(cosines), strict=True):
        beside = (known[k] for k in (i - 1, i + 1) if k in known and placed[k].chain == placed[i].chain)
        near = max((value, *beside))
        result.append([*rows[i], value, value - best, scaled, near - best])
    return result
