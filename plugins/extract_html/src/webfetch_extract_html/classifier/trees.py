"""Ensembles of decision trees, evaluated in numpy: all trees at once, one level of depth at a time."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

_ROWS = 256
"""Rows evaluated together: what they touch stays in the processor's cache."""


@frozen(kw_only=True, eq=False)
class Trees:
    """Trees over binned columns.

    A column's bin is the number of its ``edges`` below the value, so that ``value <= edges[k]`` is
    ``bin <= k``; column c has ``edges[edge_start[c]:edge_start[c + 1]]``, at most 255 of them. Node n goes
    left (to ``child[2 n]``) where column ``column[n]`` has a bin up to ``cut[n]``, else right
    (``child[2 n + 1]``); a leaf is its own child and has its ``value``. ``roots`` are the first nodes,
    ``output`` the output that each tree adds to, ``depth`` the longest way to a leaf.
    """

    edges: NDArray[np.float32]
    edge_start: NDArray[np.int32]
    column: NDArray[np.uint16]
    cut: NDArray[np.uint8]
    child: NDArray[np.int32]
    value: NDArray[np.float32]
    roots: NDArray[np.int32]
    output: NDArray[np.uint8]
    depth: int

    @property
    def columns(self) -> int:
        """Width of the rows that the trees take."""
        return len(self.edge_start) - 1

    def fault(self) -> str:
        """What keeps the trees from being evaluated safely; empty when nothing does."""
        nodes = len(self.column)
        if len(self.cut) != nodes or len(self.value) != nodes or len(self.child) != 2 * nodes:
            return "node arrays of different lengths"
        if len(self.roots) != len(self.output) or not len(self.roots):
            return "no roots, or not one output each"
        if nodes and int(self.column.max()) >= self.columns:
            return "a node looks at a column that is not there"
        indices = (self.child, self.roots)
        if any(int(each.min(initial=0)) < 0 or int(each.max(initial=0)) >= nodes for each in indices):
            return "a child or root that is not there"
        steps = np.diff(self.edge_start)
        if self.edge_start[0] != 0 or self.edge_start[-1] != len(self.edges) or (steps < 0).any():
            return "edges that do not add up"
        if not 0 < self.depth < 256 or not np.isfinite(self.value).all():
            return "a depth or value out of bounds"
        return ""

    def sums(self, rows: NDArray[np.float32], outputs: int = 1) -> NDArray[np.float64]:
        """The sum of the trees' values per row and output: ``[rows, outputs]``."""
        bins = self._bins(rows)
        found = np.empty((len(rows), outputs))
        for start in range(0, len(rows), _ROWS):
            found[start : start + _ROWS] = self._walk(bins[start : start + _ROWS], outputs)
        return found

    def _bins(self, rows: NDArray[np.float32]) -> NDArray[np.uint8]:
        bins = np.zeros(rows.shape, dtype=np.uint8)
        for column in range(self.columns):
            begin, end = self.edge_start[column], self.edge_start[column + 1]
            if begin < end:
                bins[:, column] = np.searchsorted(self.edges[begin:end], rows[:, column], side="left")
        return bins

    def _walk(self, bins: NDArray[np.uint8], outputs: int) -> NDArray[np.float64]:
        count, width = bins.shape
        flat = bins.ravel()
        offset = (np.arange(count, dtype=np.int32) * width)[:, None]
        node = np.broadcast_to(self.roots, (count, len(self.roots)))
        for _ in range(self.depth):
            seen = flat.take(self.column.take(node) + offset)
            node = self.child.take(2 * node + (seen > self.cut.take(node)))
        values = self.value.take(node).astype(np.float64)
        found = np.zeros((count, outputs))
        for each in range(outputs):
            found[:, each] = values[:, self.output == each].sum(axis=1)
        return found
