"""Variances and covariances of the columns of a matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rankwise.operators.blocks import block_rows, dense, pieces
from rankwise.operators.rows import NativeRows
from rankwise.types import Floats, Ints, Matrix

_SAMPLE = 16_384
# Covariances are computed for at most this many columns.
_NARROW = 512


@dataclass(frozen=True)
class Spread:
    """Approximate covariances of columns for a preconditioner: ``axes · diag(variances) · axesᵀ``.

    Without axes, the variances are those of the columns, and covariances are unknown.
    """

    variances: Floats
    axes: Floats | None = None

    def solve(self, v: Floats, ridge: float, scale: float) -> Floats:
        """``(ridge + scale · covariances)⁻¹ v``."""
        total = ridge + scale * self.variances
        return v / total if self.axes is None else self.axes @ ((v @ self.axes) / total)


def column_spread(
    X: Matrix,
    weight: Floats,
    n_sampled: int = _SAMPLE,
    narrow: int = _NARROW,
    reference: Ints | None = None,
) -> Spread:
    """Estimate the spread of columns from evenly spaced, weighted rows; with covariances if X is narrow.

    O(m s) for m sampled rows, O(m n² + n³) for n columns with covariances.
    """
    step = max(1, X.shape[0] // n_sampled)
    every = slice(None, None, step)
    if X.shape[1] > min(narrow, X.shape[0]) and sparse.issparse(X):
        return Spread(_variances(*NativeRows(X).column_moments(weight, step), weight[every]))
    sample, weight = X[every], weight[every]
    if reference is not None:
        sample = dense(sample) - dense(X[reference[every]])
    if X.shape[1] <= min(narrow, X.shape[0]):
        variances, axes = np.linalg.eigh(_covariances(sample, weight))
        return Spread(np.maximum(variances, 0.0), axes)
    return Spread(_variances(*_moments(sample, weight), weight))


def _covariances(X: Matrix, weight: Floats) -> Floats:
    n_columns = X.shape[1]
    total, square = np.zeros(n_columns), np.zeros((n_columns, n_columns))
    for place in pieces(0, X.shape[0], block_rows(X)):
        rows = dense(X[place])
        weighted = weight[place, None] * rows
        total += weighted.sum(axis=0)
        square += weighted.T @ rows
    weight_sum = float(weight.sum()) or 1.0
    return np.asarray(square / weight_sum - np.outer(total, total) / weight_sum**2)


def _variances(total: Floats, square: Floats, count: Floats, weight: Floats) -> Floats:
    """Return variances from moments, inflated for rare columns.

    Each column is treated as if it had extra entries, half the mean number per column, with its own mean
    square: the sample may have missed some, and a column that affects few rows is worth few steps.
    Rescaling a column rescales its variance accordingly, exactly.
    """
    weight_sum = float(weight.sum()) or 1.0
    variance = np.maximum(square / weight_sum - (total / weight_sum) ** 2, 0.0)
    more = 0.5 * float(count.mean())
    unseen = float(variance.sum()) / max(float(count.sum()), 1.0)
    per_entry = np.where(count > 0.0, variance / np.maximum(count, 1.0), unseen)
    return np.asarray(per_entry * (count + more))


def _moments(X: Matrix, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Return ``Σ wᵢ xᵢⱼ``, ``Σ wᵢ xᵢⱼ²`` and the number of entries of each column of a dense matrix."""
    total, square, entries = np.zeros((3, X.shape[1]))
    for place in pieces(0, X.shape[0], block_rows(X)):
        rows = dense(X[place])
        total += weight[place] @ rows
        square += weight[place] @ rows**2
        entries += np.count_nonzero(rows, axis=0)
    return total, square, entries
