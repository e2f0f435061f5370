"""``XᵀLX`` for the pairs inside queries, in one pass over a dense X.

With rows moved to the mean of their query (x̃), ``XᵀLX = Σ_i d_i x̃_i x̃_iᵀ`` plus, when ties are dropped,
``Σ_levels c σσᵀ`` with ``σ = Σ_i s_i x̃_i`` over the rows of a level: sums of squares, so nothing cancels.
A query larger than a block is moved to the mean of its first rows instead, which is put right at the end by
``− c σσᵀ`` with σ over all its rows: next to nothing, since the two means are close.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from rankwise._native import centred_rows
from rankwise.operators.blocks import block_rows, dense, large_query_blocks, pieces, runs
from rankwise.preferences.differences import QueryDifferences
from rankwise.threads import resolve_threads
from rankwise.types import Floats, Ints, Matrix


def query_system(differences: QueryDifferences, X: Matrix, target: Floats) -> tuple[Floats, Floats]:
    """``XᵀLX`` and ``XᵀFᵀt``; O(m n²) time, O(n²) memory and one block of rows."""
    sums = _Sums(differences, X, target)
    offsets, size = differences.queries.offsets, block_rows(X)
    for first, last in runs(offsets, size):
        place = slice(int(offsets[first]), int(offsets[last]))
        if place.stop - place.start <= size:
            sums.add_queries(place, offsets[first : last + 1] - place.start)
        elif differences.level_offsets is None:
            sums.add_large_query(place, size)
        else:
            for Z, part in large_query_blocks(differences, X, place, size):
                sums.A += Z.T @ Z
                sums.b += Z.T @ target[part]
    return sums.A, sums.b


class _Sums:
    """The sums, and what every block needs."""

    def __init__(self, differences: QueryDifferences, X: Matrix, target: Floats) -> None:
        self.X, self.order = X, differences.order
        degree, terms = differences.laplacian_terms()
        self.scale = np.sqrt(degree)
        self.weight = differences.row_weight
        inverse = np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=self.scale > 0)
        # Fᵀt, and the rows' shares in sums over queries and levels, divided by the scale that blocks carry.
        self.right = _scaled(inverse, differences.grouped(differences.adjoint(target)))
        self.share = terms[-1][2] * inverse
        self.levels = differences.level_offsets
        n = X.shape[1]
        self.A, self.b = np.zeros((n, n)), np.zeros((n, *target.shape[1:]))
        self.buffer = np.empty((0, n))
        self.n_threads = resolve_threads()

    def add_queries(self, place: slice, offsets: Ints) -> None:
        """Whole queries."""
        Z = self._centred(place, offsets, None)
        self._add(Z, place)
        if self.levels is not None:
            first, last = np.searchsorted(self.levels, [place.start, place.stop])
            sums = np.add.reduceat(Z * self.share[place, None], self.levels[first:last] - place.start)
            self.A += sums.T @ sums

    def add_large_query(self, whole: slice, size: int) -> None:
        """One query, ties kept, in pieces."""
        start = slice(whole.start, whole.start + size)
        weight = self.weight[start]
        mean = weight @ self._rows(start) / weight.sum() if weight.any() else np.zeros(self.X.shape[1])
        sums = np.zeros_like(mean)
        for place in pieces(whole.start, whole.stop, size):
            Z = self._centred(place, np.array([0, place.stop - place.start]), mean)
            self._add(Z, place)
            sums += Z.T @ self.share[place]
        self.A -= np.outer(sums, sums)

    def _add(self, Z: Floats, place: slice) -> None:
        self.A += Z.T @ Z
        self.b += Z.T @ self.right[place]

    def _centred(self, place: slice, offsets: Ints, mean: Floats | None) -> Floats:
        n_rows = place.stop - place.start
        if len(self.buffer) < n_rows:
            self.buffer = np.empty((n_rows, self.X.shape[1]))
        out = self.buffer[:n_rows]
        values: Any = self.X
        row = np.arange(place.start, place.stop) if self.order is None else self.order[place]
        if sparse.issparse(values):
            values, row = self._rows(place), np.arange(n_rows)
        centred_rows(values, row, offsets, self.weight[place], self.scale[place], mean, out, self.n_threads)
        return out

    def _rows(self, place: slice) -> Floats:
        return dense(self.X[place] if self.order is None else self.X[self.order[place]])


def _scaled(scale: Floats, rows: Floats) -> Floats:
    return (scale * rows.T).T
