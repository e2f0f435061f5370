"""``XᵀLX`` and the triangular factor of ``FX``, without a copy of X.

Both stream over blocks of dense rows of ``FX``; `difference_blocks` knows how to form them for each kind of
difference operator. A sparse X goes through sparse products instead, as long as these are cheaper.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any

import numpy as np
from scipy import linalg, sparse

from rankwise.preferences.differences import Differences, QueryDifferences
from rankwise.preferences.pairs import MatrixDifferences, PairDifferences, StackedDifferences
from rankwise.types import Floats, Ints, Matrix

# Bytes of a block of rows: large enough for BLAS, small enough for the cache.
BLOCK_BYTES = 1 << 21
# What one multiply-add of a sparse product costs, measured in those of a dense one.
SPARSE_COST = 40.0


def difference_gram(X: Matrix, differences: Differences) -> Floats:
    """``XᵀLX`` as a dense n × n matrix.

    Dense X: O(m n²) in BLAS, on blocks of centred rows, so that large feature means cost no digits.
    CSR X: O(Σ s_i²) for rows of s_i non-zeros.
    """
    n = X.shape[1]
    if (
        sparse.issparse(X)
        and SPARSE_COST * float((np.diff(X.indptr).astype(float) ** 2).sum()) < X.shape[0] * n**2
    ):
        return sparse_gram(differences, X)
    total = np.zeros((n, n))
    for Z, _ in difference_blocks(differences, X):
        total += Z.T @ Z
    return total


def difference_factor(X: Matrix, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
    """``R`` and ``Qᵀt`` of a QR factorization of ``FX``, folded block by block into one triangle.

    Half as many digits are lost on ill-conditioned features as with ``XᵀLX``; about four times its time.
    """
    n = X.shape[1]
    t = target.reshape(len(target), -1)
    triangle = np.zeros((0, n + t.shape[1]))
    for Z, place in difference_blocks(differences, X):
        stack = np.vstack([triangle, np.hstack([Z, t[place]])])
        triangle = linalg.qr(stack, mode="r", overwrite_a=True, check_finite=False)[0][: stack.shape[1]]
    return triangle[:n, :n], triangle[:n, n:].reshape(-1, *target.shape[1:])


@singledispatch
def difference_blocks(differences: Any, X: Matrix) -> Iterator[tuple[Floats, slice]]:
    """Blocks of dense rows of ``FX``, each with the slice of differences it holds."""
    raise TypeError(f"No blocks are known for {type(differences).__name__}.")


@singledispatch
def sparse_gram(differences: Any, X: Any) -> Floats:
    """``XᵀLX`` by sparse products."""
    raise TypeError(f"No sparse product is known for {type(differences).__name__}.")


@difference_blocks.register(PairDifferences)
def _(differences: PairDifferences, X: Matrix) -> Iterator[tuple[Floats, slice]]:
    for place in _pieces(0, differences.n_differences, _block_rows(X)):
        Z = dense(X[differences.better[place]]) - dense(X[differences.worse[place]])
        Z *= differences.scale[place, None]
        yield Z, place


@difference_blocks.register(MatrixDifferences)
def _(differences: MatrixDifferences, X: Matrix) -> Iterator[tuple[Floats, slice]]:
    yield np.asarray(differences.matrix @ X), slice(0, differences.n_differences)


@difference_blocks.register(StackedDifferences)
def _(differences: StackedDifferences, X: Matrix) -> Iterator[tuple[Floats, slice]]:
    start = 0
    for part in differences.parts:
        for Z, place in difference_blocks(part, X):
            yield Z, slice(start + place.start, start + place.stop)
        start += part.n_differences


@difference_blocks.register(QueryDifferences)
def _(differences: QueryDifferences, X: Matrix) -> Iterator[tuple[Floats, slice]]:
    offsets, size = differences.queries.offsets, _block_rows(X)
    for first, last in _runs(offsets, size):
        whole = slice(int(offsets[first]), int(offsets[last]))
        if whole.stop - whole.start <= size:
            yield differences.apply_rows(dense(_rows(X, differences, whole)), whole), whole
        else:
            yield from _large_query(differences, X, whole, size)


def _large_query(
    differences: QueryDifferences, X: Matrix, whole: slice, size: int
) -> Iterator[tuple[Floats, slice]]:
    """A query of more rows than a block: its mean (and a large level's) comes from a pass of its own."""
    query_mean = _mean_of_rows(differences, X, whole, size)
    levels = differences.level_offsets
    if levels is None:
        for place in _pieces(whole.start, whole.stop, size):
            yield differences.apply_rows(dense(_rows(X, differences, place)), place, query_mean), place
        return
    inside = levels[np.searchsorted(levels, whole.start) : np.searchsorted(levels, whole.stop) + 1]
    for first, last in _runs(inside, size):
        run = slice(int(inside[first]), int(inside[last]))
        large = run.stop - run.start > size
        level_mean = _mean_of_rows(differences, X, run, size) if large else None
        for place in _pieces(run.start, run.stop, size):
            rows = dense(_rows(X, differences, place))
            yield differences.apply_rows(rows, place, query_mean, level_mean), place


def _mean_of_rows(differences: QueryDifferences, X: Matrix, whole: slice, size: int) -> Floats:
    total, weight = np.zeros(X.shape[1]), differences.row_weight
    for place in _pieces(whole.start, whole.stop, size):
        total += weight[place] @ dense(_rows(X, differences, place))
    weight_sum = float(weight[whole].sum())
    return total / weight_sum if weight_sum > 0 else total


@sparse_gram.register(QueryDifferences)
def _(differences: QueryDifferences, X: Any) -> Floats:
    rows = differences.queries.offsets[-1]
    degree, parts = differences.laplacian_terms()
    G = X if differences.order is None else X[differences.order]
    total = (G.T @ _scale_rows(G, degree)).toarray()
    for sign, offsets, weight in parts:
        member = sparse.csr_array((weight, np.arange(rows), offsets), shape=(len(offsets) - 1, int(rows)))
        sums = member @ G
        total += sign * (sums.T @ sums).toarray()
    return np.asarray(total, dtype=np.float64)


@sparse_gram.register(PairDifferences)
def _(differences: PairDifferences, X: Any) -> Floats:
    Z = differences.matrix @ X
    return np.asarray((Z.T @ Z).toarray(), dtype=np.float64)


@sparse_gram.register(MatrixDifferences)
def _(differences: MatrixDifferences, X: Any) -> Floats:
    Z = differences.matrix @ X
    return np.asarray(Z.T @ Z)


@sparse_gram.register(StackedDifferences)
def _(differences: StackedDifferences, X: Any) -> Floats:
    return np.asarray(sum(sparse_gram(part, X) for part in differences.parts))


def _scale_rows(X: Any, scale: Floats) -> Any:
    return sparse.diags_array(scale) @ X


def _block_rows(X: Matrix) -> int:
    return max(64, BLOCK_BYTES // (8 * max(1, int(X.shape[1]))))


def _pieces(start: int, stop: int, size: int) -> Iterator[slice]:
    for first in range(start, stop, size):
        yield slice(first, min(first + size, stop))


def _runs(offsets: Ints, size: int) -> Iterator[tuple[int, int]]:
    """Runs of whole segments with at most `size` rows; a larger segment is a run of its own."""
    first, n = 0, len(offsets) - 1
    while first < n:
        last = int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def _rows(X: Matrix, differences: QueryDifferences, place: slice) -> Any:
    return X[place] if differences.order is None else X[differences.order[place]]


def dense(rows: Any) -> Floats:
    """A float64 array of rows: the same memory when it is one already."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
