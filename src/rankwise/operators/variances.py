"""How much the columns of a matrix vary."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from rankwise.operators.blocks import block_rows, dense, pieces
from rankwise.types import Floats, Matrix

_SAMPLE = 16_384


def column_variances(X: Matrix, weight: Floats, n_sampled: int = _SAMPLE) -> Floats:
    """The variance of each column over weighted rows at even distances, larger for columns that are rare.

    A column counts as if it had half the mean number of entries more, of its own mean square: a sample may
    have missed some, and what moves few rows is worth few steps. Columns in other units have variances
    in other units, exactly. Good enough to compare features by, as a diagonal preconditioner does.
    """
    every = slice(None, None, max(1, X.shape[0] // n_sampled))
    total, square, count = _moments(X[every], weight[every])
    weight_sum = float(weight[every].sum()) or 1.0
    variance = np.maximum(square / weight_sum - (total / weight_sum) ** 2, 0.0)
    more = 0.5 * float(count.mean())
    unseen = float(variance.sum()) / max(float(count.sum()), 1.0)
    per_entry = np.where(count > 0.0, variance / np.maximum(count, 1.0), unseen)
    return np.asarray(per_entry * (count + more))


def _moments(X: Matrix, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """``Σ wᵢ xᵢⱼ`` and ``Σ wᵢ xᵢⱼ²`` of each column, and the number of its entries."""
    if sparse.issparse(X):
        entries = np.bincount(X.indices, minlength=X.shape[1]).astype(np.float64)
        return X.T @ weight, X.power(2).T @ weight, entries
    total, square, entries = np.zeros((3, X.shape[1]))
    for place in pieces(0, X.shape[0], block_rows(X)):
        rows = dense(X[place])
        total += weight[place] @ rows
        square += weight[place] @ rows**2
        entries += np.count_nonzero(rows, axis=0)
    return total, square, entries
