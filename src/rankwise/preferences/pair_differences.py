"""Difference operators for explicit pairs of rows and for combined preferences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.preferences.differences import Differences
from rankwise.preferences.queries import group_rows
from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Floats, Ints


class MatrixDifferences:
    """A difference operator stored as a matrix: small and dense, or sparse."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    @property
    def n_rows(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def n_differences(self) -> int:
        return int(self.matrix.shape[0])

    def apply(self, rows: Floats) -> Floats:
        return np.asarray(self.matrix @ rows)

    def adjoint(self, differences: Floats) -> Floats:
        return np.asarray(self.matrix.T @ differences)

    def laplacian(self, rows: Floats) -> Floats:
        return self.adjoint(self.apply(rows))

    def reference(self) -> Ints:
        from scipy import sparse

        difference, row = (index.astype(np.int64) for index in sparse.coo_array(self.matrix).coords)
        return _first_connected(row, difference + self.n_rows, self.n_rows)


class PairDifferences(MatrixDifferences):
    """``(F v)_e = √s_e (v_i − v_j)`` for explicit pairs e = (i, j) with weight s_e; O(l) per column.

    Parameters
    ----------
    n_rows : int
    better, worse : Ints, shape (l,)
    weight : Floats or None, shape (l,)
    """

    def __init__(self, n_rows: int, better: Ints, worse: Ints, weight: Floats | None = None) -> None:
        from scipy import sparse

        n_pairs = len(better)
        scale = np.ones(n_pairs) if weight is None else np.sqrt(weight)
        self.better, self.worse, self.scale = better, worse, scale
        columns = np.column_stack([better, worse]).ravel()
        values = np.column_stack([scale, -scale]).ravel()
        row_starts = 2 * np.arange(n_pairs + 1)
        super().__init__(sparse.csr_array((values, columns, row_starts), shape=(n_pairs, n_rows)))


class StackedDifferences:
    """Several kinds of preferences over the same rows, with their differences concatenated.

    Stacking the operators adds their Laplacians, and hence their losses.
    """

    def __init__(self, stacked: Sequence[Differences]) -> None:
        self.stacked = tuple(stacked)
        self._splits = np.cumsum([one.n_differences for one in self.stacked])[:-1]

    @property
    def n_rows(self) -> int:
        return self.stacked[0].n_rows

    @property
    def n_differences(self) -> int:
        return sum(one.n_differences for one in self.stacked)

    def apply(self, rows: Floats) -> Floats:
        return np.concatenate([one.apply(rows) for one in self.stacked])

    def adjoint(self, differences: Floats) -> Floats:
        pieces = np.split(differences, self._splits)
        total = self.stacked[0].adjoint(pieces[0])
        for one, piece in zip(self.stacked[1:], pieces[1:], strict=True):
            total = total + one.adjoint(piece)
        return total

    def laplacian(self, rows: Floats) -> Floats:
        return self.adjoint(self.apply(rows))

    def reference(self) -> Ints:
        # A row is connected with its reference row in each of them.
        others = np.concatenate([one.reference() for one in self.stacked])
        return _first_connected(np.tile(np.arange(self.n_rows), len(self.stacked)), others, self.n_rows)


def _first_connected(row: Ints, other: Ints, n_rows: int) -> Ints:
    """For each row, the first of the rows that edges connect it with; numbers from `n_rows` are not rows."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    size = max(n_rows, int(other.max(initial=-1)) + 1)
    graph = sparse.coo_array((np.ones(len(row)), (row, other)), shape=(size, size))
    return group_rows(connected_components(graph, directed=False)[1][:n_rows], n_rows).first_rows()


def compacted(differences: Differences, target: Floats) -> tuple[Differences, Floats]:
    """Return the same squared loss up to a constant, with at most as many differences as rows.

    With ``L = QΘQᵀ``, the operator ``Θ^½ Qᵀ`` has the same Laplacian, and ``Θ^-½ Qᵀ Fᵀ t`` the same ``Fᵀ t``.
    O(m³) time and O(m²) memory; for the example space, which uses m × m matrices anyway.
    """
    from scipy import linalg

    if differences.n_differences <= differences.n_rows:
        return differences, target
    with one_blas_thread(differences.n_rows <= SMALL):
        values, vectors = linalg.eigh(differences.laplacian(np.eye(differences.n_rows)))
    kept = values > values[-1] * len(values) * np.finfo(np.float64).eps
    root = np.sqrt(values[kept])
    projected = vectors[:, kept].T @ differences.adjoint(target)
    return MatrixDifferences((vectors[:, kept] * root).T), (projected.T / root).T
