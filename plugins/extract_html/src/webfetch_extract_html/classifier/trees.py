"""Ensembles of decision trees, evaluated in numpy: all trees at once, one level of depth at a time."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

_ROWS = 128
"""Rows evaluated together: what they touch stays in the processor's cache."""
_SHALLOW = 4
"""Levels that all ways are walked down before the ended ones are sorted out."""


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
        found = np.empty((len(rows), outputs))
        bins = self._bins(rows)
        for start in range(0, len(rows), _ROWS):
            part = np.ascontiguousarray(bins[:, start : start + _ROWS])
            found[start : start + _ROWS] = self._walk(part, outputs)
        return found

    def _bins(self, rows: NDArray[np.float32]) -> NDArray[np.uint8]:
        """The bins, one row per column: ``[columns, rows]``."""
        values = np.ascontiguousarray(rows.T)
        bins = np.zeros(values.shape, dtype=np.uint8)
        bounds = self.edge_start.tolist()
        for column in range(self.columns):
            begin, end = bounds[column], bounds[column + 1]
            if begin < end:
                bins[column] = self.edges[begin:end].searchsorted(values[column], side="left")
        return bins

    def _walk(self, bins: NDArray[np.uint8], outputs: int) -> NDArray[np.float64]:
        count = bins.shape[1]
        trees = len(self.roots)
        flat = bins.ravel()
        node = np.tile(self.roots, count)
        row = np.repeat(np.arange(count, dtype=np.int32), trees)
        place = self.column.astype(np.int32) * np.int32(count)
        inner = self.child[0::2] != np.arange(len(self.column))
        ends = node
        walking = np.arange(len(node), dtype=np.int32)
        for level in range(1, self.depth + 1):
            at = place.take(node)
            at += row
            right = flat.take(at) > self.cut.take(node)
            at = node + node
            at += right
            node = self.child.take(at)
            if level == self.depth or (level >= _SHALLOW and level % 2 == 0):
                # Most ways are short: those that have ended are not walked on.
                ends[walking] = node
                going = np.flatnonzero(inner.take(node))
                walking, node, row = walking.take(going), node.take(going), row.take(going)
        values = self.value.take(ends).astype(np.float64).reshape(count, trees)
        found = np.zeros((count, outputs))
        for each in range(outputs):
            found[:, each] = values[:, self.output == each].sum(axis=1)
        return found
