"""Variances and covariances of the columns of a matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rankwise.operators.blocks import MeasuredRows, Rows, block_rows, centred, dense, gram_rows, pieces, runs
from rankwise.operators.native_rows import NativeRows
from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Floats, Ints, Matrix

_SAMPLE = 16_384
# Covariances are computed for at most this many columns. They are worth more rows than variances: this many
# per column, of up to so many entries in all, since precise ones save iterations, which are passes over X.
_NARROW = 512
_PER_COLUMN = 512
# A dense matrix may have up to so many columns if it has this many rows for each: covariances, which are
# estimated from a sample, then take less than the passes over X that they save.
_WIDEST, _ROWS_PER_COLUMN = 1536, 128
_ENTRIES = 1 << 23
# Groups with more rows than this are sampled as well.
_LARGE = 64


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


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """Sums over weighted rows from which the spread of columns follows; sums of several sets of rows add up.

    Attributes
    ----------
    total : Floats, shape (n,)
        ``Σ wᵢ xᵢⱼ``.
    square : Floats, shape (n,) or (n, n)
        ``Σ wᵢ xᵢⱼ²`` or, for few columns, ``Σ wᵢ xᵢⱼ xᵢₖ``.
    count : Floats, shape (n,), or None
        The number of entries; None with covariances.
    weight : float
    """

    total: Floats
    square: Floats
    count: Floats | None
    weight: float

    @classmethod
    def none(cls, shape: tuple[int, int]) -> ColumnSums:
        """The sums over no rows of a matrix of this shape."""
        n = shape[1]
        if _is_narrow(shape):
            return cls(np.zeros(n), np.zeros((n, n)), None, 0.0)
        return cls(np.zeros(n), np.zeros(n), np.zeros(n), 0.0)

    def __add__(self, other: ColumnSums) -> ColumnSums:
        count = None if self.count is None or other.count is None else self.count + other.count
        return ColumnSums(
            self.total + other.total, self.square + other.square, count, self.weight + other.weight
        )

    def spread(self) -> Spread:
        """O(n³) with covariances."""
        weight_sum = self.weight or 1.0
        if self.count is not None:
            return Spread(_variances(self.total, self.square, self.count, weight_sum))
        covariances = self.square / weight_sum - np.outer(self.total, self.total) / weight_sum**2
        with one_blas_thread(len(covariances) <= SMALL):
            variances, axes = np.linalg.eigh(covariances)
        return Spread(np.maximum(variances, 0.0), axes)


def column_sums(
    X: Matrix,
    weight: Floats,
    shape: tuple[int, ...],
    n_sampled: int | None = None,
    narrow: int = _NARROW,
    reference: Ints | None = None,
    group: Ints | None = None,
) -> ColumnSums:
    """The sums for the spread of a matrix of this shape, over those of its rows that X holds.

    They are estimated from evenly spaced, weighted rows; with covariances if X is narrow. Covariances
    are those within groups of rows, if there are any: differences between groups are none between rows that
    are compared. O(m s) for m sampled rows, O(m n²) for n columns with covariances.
    """
    is_narrow = _is_narrow(shape, narrow)
    if n_sampled is None:
        more = min(_PER_COLUMN * shape[1], _ENTRIES // max(1, shape[1])) if is_narrow else 0
        n_sampled = max(_SAMPLE, more)
    step = max(1, shape[0] // n_sampled)
    every = slice(None, None, step)
    if not is_narrow and sparse.issparse(X):
        return ColumnSums(*NativeRows(X).column_moments(weight, step), float(weight[every].sum()))
    rows: Rows = X if reference is None else MeasuredRows(X, reference)
    if is_narrow and group is not None:
        return _within_groups(rows, weight, *_sample_of_groups(group, step))
    sample, weight = rows[every], weight[every]
    if is_narrow:
        return ColumnSums(*_products(sample, weight), None, float(weight.sum()))
    return ColumnSums(*_moments(sample, weight), float(weight.sum()))


def widest_with_covariances(X: Matrix) -> int:
    """The largest number of columns for which covariances of this matrix are worth their price."""
    long = not sparse.issparse(X) and X.shape[0] >= _ROWS_PER_COLUMN * X.shape[1]
    return _WIDEST if long else _NARROW


def _is_narrow(shape: tuple[int, ...], narrow: int = _NARROW) -> bool:
    return shape[1] <= min(narrow, shape[0])


def _sample_of_groups(group: Ints, step: int) -> tuple[Ints, Ints]:
    """About every `step`-th row, as whole groups or, if these are large, a part of each; and their sizes."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    thinned = np.clip(sizes // _LARGE, 1, step)
    taken = np.diff(np.cumsum(thinned) // step, prepend=0) > 0
    place = np.arange(len(order)) - np.repeat(starts, sizes)
    kept = np.repeat(taken, sizes) & (place % np.repeat(thinned, sizes) == 0)
    return order[kept], -(-sizes[taken] // thinned[taken])


def _within_groups(X: Rows, weight: Floats, index: Ints, sizes: Ints) -> ColumnSums:
    """The sums over rows minus the weighted means of their groups, which follow each other in `index`."""
    n_columns, weight, offsets = X.shape[1], weight[index], np.concatenate([[0], np.cumsum(sizes)])
    square = np.zeros((n_columns, n_columns))
    with one_blas_thread(n_columns <= SMALL):
        for first, last in runs(offsets, gram_rows(X)):
            place = slice(int(offsets[first]), int(offsets[last]))
            groups, own = offsets[first : last + 1] - place.start, weight[place]
            rows = centred(X, index[place], groups, own, np.sqrt(own))
            square += rows.T @ rows
    return ColumnSums(np.zeros(n_columns), square, None, float(weight.sum()))


def _products(X: Matrix, weight: Floats) -> tuple[Floats, Floats]:
    """Return ``Σ wᵢ xᵢⱼ`` and ``Σ wᵢ xᵢⱼ xᵢₖ``."""
    n_columns = X.shape[1]
    total, square = np.zeros(n_columns), np.zeros((n_columns, n_columns))
    for place in pieces(0, X.shape[0], block_rows(X)):
        rows = dense(X[place])
        weighted = weight[place, None] * rows
        total += weighted.sum(axis=0)
        square += weighted.T @ rows
    return total, square


def _variances(total: Floats, square: Floats, count: Floats, weight_sum: float) -> Floats:
    """Return variances from moments, inflated for rare columns.

    Each column is treated as if it had extra entries, half the mean number per column, with its own mean
    square: the sample may have missed some, and a column that affects few rows is worth few steps.
    Rescaling a column rescales its variance accordingly, exactly.
    """
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
