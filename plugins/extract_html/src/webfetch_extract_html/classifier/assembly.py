"""From learned trees to the arrays that are evaluated: what the training script hands over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from attrs import frozen

from .trees import Trees

_MOST_EDGES = 255


@frozen
class Leaf:
    """The end of a tree."""

    value: float


@frozen
class Split:
    """Rows whose ``column`` is at most ``threshold`` go left."""

    column: int
    threshold: float
    left: Split | Leaf
    right: Split | Leaf


def assemble(trees: Sequence[tuple[int, Split | Leaf]], columns: int) -> Trees:
    """Put trees together; each comes with the number of the output it adds to.

    Thresholds become the largest float32 not above them: that decides the same for rows of float32.

    Raises:
        ValueError: no trees, or a column with more than 255 different thresholds.
    """
    if not trees:
        raise ValueError("an ensemble needs at least one tree")
    thresholds: list[set[np.float32]] = [set() for _ in range(columns)]
    for _, root in trees:
        for split in _splits(root):
            thresholds[split.column].add(_float32(split.threshold))
    if any(len(each) > _MOST_EDGES for each in thresholds):
        raise ValueError(f"a column has more than {_MOST_EDGES} thresholds: train with fewer bins")
    edges = [sorted(each) for each in thresholds]
    bins = [{edge: place for place, edge in enumerate(each)} for each in edges]
    nodes: list[tuple[int, int, float]] = []
    child: list[int] = []
    roots: list[int] = []
    deepest = 1
    for _, root in trees:
        roots.append(len(nodes))
        waiting: list[tuple[Split | Leaf, int, int | None]] = [(root, 0, None)]
        while waiting:
            node, depth, slot = waiting.pop()
            here = len(nodes)
            if slot is not None:
                child[slot] = here
            child += [here, here]
            if isinstance(node, Leaf):
                nodes.append((0, 0, node.value))
                deepest = max(deepest, depth)
                continue
            nodes.append((node.column, bins[node.column][_float32(node.threshold)], 0.0))
            waiting += [(node.right, depth + 1, 2 * here + 1), (node.left, depth + 1, 2 * here)]
    return Trees(
        edges=np.array([edge for each in edges for edge in each], dtype=np.float32),
        edge_start=np.concatenate([[0], np.cumsum([len(each) for each in edges])]).astype(np.int32),
        column=np.array([column for column, _, _ in nodes], dtype=np.uint16),
        cut=np.array([cut for _, cut, _ in nodes], dtype=np.uint8),
        child=np.array(child, dtype=np.int32),
        value=np.array([value for _, _, value in nodes], dtype=np.float32),
        roots=np.array(roots, dtype=np.int32),
        output=np.array([output for output, _ in trees], dtype=np.uint8),
        depth=deepest,
    )


def _splits(root: Split | Leaf) -> Iterator[Split]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Split):
            yield node
            waiting += [node.left, node.right]


def _float32(threshold: float) -> np.float32:
    near = np.float32(threshold)
    return near if float(near) <= threshold else np.nextafter(near, np.float32(-np.inf))
