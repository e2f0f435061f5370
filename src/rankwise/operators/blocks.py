"""Blocks of dense rows of ``FX``, for any kind of difference operator, without copying X."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, TypeAlias

import numpy as np

from rankwise._native import centred_rows
from rankwise.config import resolve_threads
from rankwise.factored_rows import ComputedRows
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.pair_differences import MatrixDifferences, PairDifferences, StackedDifferences
from rankwise.threads import map_on_threads, one_blas_thread
from rankwise.types import Floats, Ints, Matrix

# Which rows: a slice, or their numbers.
Index: TypeAlias = "slice | Ints"


# Whatever yields blocks of rows when it is indexed.
Rows: TypeAlias = "Matrix | ComputedRows"


@dataclass(frozen=True)
class MeasuredRows:
    """Rows minus their reference rows, which keep more digits when they are centred.

    A mean of values near c is off by about ``eps c``, and so is every row that is centred at it. The
    difference of two rows is rounded once, relative to itself, and is 0 in columns where they are equal.
    """

    X: Rows
    reference: Ints

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    def __getitem__(self, rows: Index) -> Floats:
        origins, place = np.unique(self.reference[rows], return_inverse=True)
        return np.asarray(dense(self.X[rows]) - dense(self.X[origins])[place])


# Bytes per block of rows: large enough for BLAS, small enough for the L2 cache.
BLOCK_BYTES = 1 << 20
# With this many rows, however many columns there are, BLAS computes a Gram matrix at full speed.
MOST_GRAM_ROWS = 512
# A Gram matrix of many rows is the sum of those of at most so many parts.
_MOST_PARTS = 16


@singledispatch
def difference_blocks(differences: Any, X: Rows) -> Iterator[tuple[Floats, slice]]:
    """Yield blocks of dense rows of ``FX``, each with the slice of differences it holds."""
    raise TypeError(f"difference_blocks does not support {type(differences).__name__}.")


@difference_blocks.register(PairDifferences)
def _blocks_of_pairs(differences: PairDifferences, X: Rows) -> Iterator[tuple[Floats, slice]]:
    for place in pieces(0, differences.n_differences, gram_rows(X)):
        Z = dense(X[differences.better[place]]) - dense(X[differences.worse[place]])
        Z *= differences.scale[place, None]
        yield Z, place


@difference_blocks.register(MatrixDifferences)
def _block_of_matrix(differences: MatrixDifferences, X: Rows) -> Iterator[tuple[Floats, slice]]:
    yield np.asarray(differences.matrix @ X), slice(0, differences.n_differences)


@difference_blocks.register(StackedDifferences)
def _blocks_of_each(differences: StackedDifferences, X: Rows) -> Iterator[tuple[Floats, slice]]:
    start = 0
    for one in differences.stacked:
        for Z, place in difference_blocks(one, X):
            yield Z, slice(start + place.start, start + place.stop)
        start += one.n_differences


@difference_blocks.register(QueryDifferences)
def _blocks_of_queries(differences: QueryDifferences, X: Rows) -> Iterator[tuple[Floats, slice]]:
    offsets, size = differences.queries.offsets, gram_rows(X)
    measured = MeasuredRows(X, differences.heaviest_rows())
    for first, last in runs(offsets, size):
        whole = slice(int(offsets[first]), int(offsets[last]))
        if whole.stop - whole.start <= size:
            yield differences.apply_rows(_rows(measured, differences, whole), whole), whole
        else:
            yield from large_query_blocks(differences, measured, whole, size)


def large_query_blocks(
    differences: QueryDifferences, X: Rows, whole: slice, size: int
) -> Iterator[tuple[Floats, slice]]:
    """Yield the blocks of a query larger than one; its mean (and a large level's) takes a separate pass."""
    query_mean = _mean_of_rows(differences, X, whole, size)
    levels = differences.level_offsets
    if levels is None:
        for place in pieces(whole.start, whole.stop, size):
            yield differences.apply_rows(dense(_rows(X, differences, place)), place, query_mean), place
        return
    inside = levels[np.searchsorted(levels, whole.start) : np.searchsorted(levels, whole.stop) + 1]
    for first, last in runs(inside, size):
        run = slice(int(inside[first]), int(inside[last]))
        large = run.stop - run.start > size
        level_mean = _mean_of_rows(differences, X, run, size) if large else None
        for place in pieces(run.start, run.stop, size):
            rows = dense(_rows(X, differences, place))
            yield differences.apply_rows(rows, place, query_mean, level_mean), place


def _mean_of_rows(differences: QueryDifferences, X: Rows, whole: slice, size: int) -> Floats:
    total, weight = np.zeros(X.shape[1]), differences.row_weight
    for place in pieces(whole.start, whole.stop, size):
        total += weight[place] @ dense(_rows(X, differences, place))
    weight_sum = float(weight[whole].sum())
    return total / weight_sum if weight_sum > 0 else total


def block_rows(X: Rows) -> int:
    return max(64, BLOCK_BYTES // (8 * max(1, int(X.shape[1]))))


def gram_rows(X: Rows) -> int:
    """Rows per block whose Gram matrix is added to a sum: with fewer, adding would take the longest."""
    return max(block_rows(X), min(int(X.shape[1]), MOST_GRAM_ROWS))


def pieces(start: int, stop: int, size: int) -> Iterator[slice]:
    for first in range(start, stop, size):
        yield slice(first, min(first + size, stop))


def runs(offsets: Ints, size: int) -> Iterator[tuple[int, int]]:
    """Yield runs of whole segments with at most `size` rows; a larger segment forms its own run."""
    first, n = 0, len(offsets) - 1
    while first < n:
        last = int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def _rows(X: Any, differences: QueryDifferences, place: slice) -> Any:
    return X[place] if differences.order is None else X[differences.order[place]]


def dense(rows: Any) -> Floats:
    """Return rows as a float64 array, without a copy if they already are one."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


def centred(X: Any, index: Ints, offsets: Ints, weight: Floats, scale: Floats | None = None) -> Floats:
    """Return selected rows of X minus the weighted mean of their group, each times its scale.

    `offsets` says where groups start.
    """
    rows = np.empty((len(index), X.shape[1]))
    if not isinstance(X, np.ndarray):
        for place in pieces(0, len(index), block_rows(X)):
            rows[place] = dense(X[index[place]])
        # These are centred in place: the mean of a group is known before its first row is written.
        X, index = rows, np.arange(len(index))
    scale = np.ones(len(index)) if scale is None else scale
    centred_rows(X, index, offsets, weight, scale, None, rows, resolve_threads())
    return rows


def product_on_threads(rows: Floats, matrix: Floats) -> Floats:
    """``rows @ matrix``, block by block, on our threads.

    BLAS threads share a product in equal parts and wait for each other without giving way to the processes
    that keep one of them waiting. Blocks depend on the shape only: the bits are the same for any number of
    threads.
    """
    product = np.empty((len(rows), matrix.shape[1]))
    blocks = list(pieces(0, len(rows), block_rows(rows)))

    def multiply(place: slice) -> None:
        np.matmul(rows[place], matrix, out=product[place])

    with one_blas_thread():
        for _ in map_on_threads(multiply, blocks) if len(blocks) > 1 else map(multiply, blocks):
            pass
    return product


def gram_on_threads(rows: Floats, target: Floats) -> tuple[Floats, Floats]:
    """``rowsᵀ rows`` and ``rowsᵀ target``, in the same way; parts are added in order."""

    def multiply(place: slice) -> tuple[Floats, Floats]:
        return rows[place].T @ rows[place], rows[place].T @ target[place]

    parts = list(pieces(0, len(rows), max(gram_rows(rows), len(rows) // _MOST_PARTS)))
    with one_blas_thread():
        sums = list(map_on_threads(multiply, parts) if len(parts) > 1 else map(multiply, parts))
    A, b = sums[0]
    for of_rows, of_target in sums[1:]:
        A += of_rows
        b += of_target
    return A, b
