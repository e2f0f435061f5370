"""``XᵀLX`` and the triangular factor of ``FX``, without copying X.

Both stream over blocks of dense rows. For a sparse X, sparse products are used where they are cheaper.

For the pairs within queries, rows are centred at the mean of their query (x̃). Then
``XᵀLX = Σ_i d_i x̃_i x̃_iᵀ`` plus, when ties are dropped, ``Σ_levels c σσᵀ`` with ``σ = Σ_i s_i x̃_i`` over the
rows of a level: sums of squares, so nothing cancels. A query larger than a block is centred at the mean of
its first rows instead and corrected at the end by ``− c σσᵀ`` with σ over all its rows: a tiny correction,
since the two means are close.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import linalg, sparse

from rankwise._native import centred_rows
from rankwise.operators.blocks import (
    Rows,
    dense,
    difference_blocks,
    gram_rows,
    large_query_blocks,
    pieces,
    runs,
)
from rankwise.preferences.across import AcrossQueries
from rankwise.preferences.differences import Differences, QueryDifferences
from rankwise.preferences.pair_differences import MatrixDifferences, PairDifferences, StackedDifferences
from rankwise.threads import SMALL, map_on_threads, one_blas_thread
from rankwise.types import Floats, Ints

# Cost of a multiply-add in a sparse Gram matrix, relative to a dense one.
SPARSE_GRAM_COST = 400.0


def difference_system(X: Rows, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
    """``XᵀLX`` as a dense n × n matrix, and ``XᵀFᵀt``, in one pass over X.

    Dense X: O(m n²) in BLAS, on blocks of centred rows, so large feature means cost no precision.
    CSR X: O(Σ s_i²) for rows with s_i non-zeros.
    """
    if sparse.issparse(X) and _is_cheaper_sparse(X):
        return sparse_gram(differences, X), np.asarray(X.T @ differences.adjoint(target), dtype=np.float64)
    return dense_system(differences, X, target)


def _is_cheaper_sparse(X: Any) -> bool:
    products = float((np.diff(X.indptr).astype(np.float64) ** 2).sum())
    return SPARSE_GRAM_COST * products < float(X.shape[0]) * float(X.shape[1]) ** 2


def difference_factor(X: Rows, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
    """``R`` and ``Qᵀt`` of a QR factorization of ``FX``, folded into one triangle, n rows or more at a time.

    Loses half as many digits as ``XᵀLX`` on ill-conditioned features, and takes about four times as long.
    """
    n = X.shape[1]
    t = target.reshape(len(target), -1)
    triangle, waiting, n_waiting = np.zeros((0, n + t.shape[1])), [], 0
    for Z, place in difference_blocks(differences, X):
        waiting.append(np.hstack([Z, t[place]]))
        n_waiting += len(Z)
        if n_waiting >= n:  # a factorization of fewer rows would mostly repeat that of the triangle
            triangle, waiting, n_waiting = _folded(triangle, waiting), [], 0
    triangle = _folded(triangle, waiting)
    return triangle[:n, :n], triangle[:n, n:].reshape(-1, *target.shape[1:])


def difference_norm(X: Rows, differences: Differences, directions: Floats) -> float:
    """The Frobenius norm of ``F X V``, for directions V as columns, in one pass over X."""
    blocks = difference_blocks(differences, X)
    with one_blas_thread(X.shape[1] <= SMALL):
        return float(np.linalg.norm([np.linalg.norm(Z @ directions) for Z, _ in blocks]))


def _folded(triangle: Floats, rows: list[Floats]) -> Floats:
    """The triangle of a QR factorization of all of these rows."""
    stack = np.vstack([triangle, *rows])
    with one_blas_thread(stack.shape[1] <= SMALL):
        folded = linalg.qr(stack, mode="r", overwrite_a=True, check_finite=False)[0][: stack.shape[1]]
    return np.asarray(folded, dtype=np.float64)


@singledispatch
def sparse_gram(differences: Any, X: Any) -> Floats:
    """``XᵀLX`` by sparse products."""
    raise TypeError(f"sparse_gram does not support {type(differences).__name__}.")


@singledispatch
def dense_system(differences: Any, X: Rows, target: Floats) -> tuple[Floats, Floats]:
    """``XᵀLX`` and ``XᵀFᵀt`` from blocks of dense rows."""
    n = X.shape[1]
    A, b = np.zeros((n, n)), np.zeros((n, *target.shape[1:]))
    with one_blas_thread(n <= SMALL):
        for Z, place in difference_blocks(differences, X):
            A += Z.T @ Z
            b += Z.T @ target[place]
    return A, b


@dense_system.register(AcrossQueries)
def _sum_of_systems(differences: AcrossQueries, X: Rows, target: Floats) -> tuple[Floats, Floats]:
    n_rows = differences.n_rows
    A, b = query_system(differences.within, X, target[:n_rows])
    A_whole, b_whole = query_system(differences.whole, X, target[n_rows:])
    return A + A_whole, b + b_whole


@sparse_gram.register(QueryDifferences)
def _gram_of_queries(differences: QueryDifferences, X: Any) -> Floats:
    rows = differences.queries.offsets[-1]
    degree, parts = differences.laplacian_terms()
    G = X if differences.order is None else X[differences.order]
    total = (G.T @ _scale_rows(G, degree)).toarray()
    for sign, offsets, weight in parts:
        member = sparse.csr_array((weight, np.arange(rows), offsets), shape=(len(offsets) - 1, int(rows)))
        total += sign * _gram((member @ G).tocsr())
    return np.asarray(total, dtype=np.float64)


def _gram(Z: Any) -> Floats:
    """``ZᵀZ`` of a sparse Z, by whichever products are cheaper: sums over large queries are barely sparse."""
    if _is_cheaper_sparse(Z):
        return np.asarray((Z.T @ Z).toarray(), dtype=np.float64)
    total = np.zeros((Z.shape[1], Z.shape[1]))
    with one_blas_thread(Z.shape[1] <= SMALL):
        for place in pieces(0, Z.shape[0], gram_rows(Z)):
            block = dense(Z[place])
            total += block.T @ block
    return total


@sparse_gram.register(PairDifferences)
def _gram_of_pairs(differences: PairDifferences, X: Any) -> Floats:
    return _gram((differences.matrix @ X).tocsr())


@sparse_gram.register(MatrixDifferences)
def _gram_of_matrix(differences: MatrixDifferences, X: Any) -> Floats:
    Z = differences.matrix @ X
    return np.asarray(Z.T @ Z)


@sparse_gram.register(StackedDifferences)
def _sum_of_grams(differences: StackedDifferences, X: Any) -> Floats:
    return np.asarray(sum(sparse_gram(one, X) for one in differences.stacked))


def _scale_rows(X: Any, scale: Floats) -> Any:
    return sparse.diags_array(scale) @ X


# Partial sums are n × n matrices; together they may use this share of the memory of a dense X. Rows that are
# computed cost more than BLAS threads can speed up.
_SHARE_OF_X, _SHARE_OF_COMPUTED = 0.05, 0.2
_MOST_PARTS = 16
# Small matrices are summed in as many parts as this, if each is worth so many multiply-adds.
_PARTS_IF_SMALL, _WORTH_A_PART = 4, 1e8
# Starting threads takes as long as about so many multiply-adds.
_WORTH_THREADS = 1e7


@dense_system.register(QueryDifferences)
def query_system(differences: QueryDifferences, X: Rows, target: Floats) -> tuple[Floats, Floats]:
    """``XᵀLX`` and ``XᵀFᵀt``; O(m n²) time, O(n²) memory plus one block of rows per thread.

    Blocks are combined into parts, which threads sum with one BLAS thread each: BLAS threads would have to
    synchronize after every block. Parts depend only on the shape and are added in order, so results are
    bit-identical for any number of threads.
    """
    blocks = _BlockSums(differences, X, target)
    n_rows, n_features = X.shape
    share = _SHARE_OF_X if isinstance(X, np.ndarray) or sparse.issparse(X) else _SHARE_OF_COMPUTED
    n_parts = int(np.clip(share * n_rows / max(1, n_features), 1, _MOST_PARTS))
    if n_features <= SMALL:
        n_parts = max(n_parts, min(_PARTS_IF_SMALL, int(n_rows * n_features**2 // _WORTH_A_PART)))
    units, with_levels = _units(blocks, differences)
    with one_blas_thread(n_parts > 1 or n_features <= SMALL):
        on_threads = n_parts > 1 and n_rows * n_features**2 > _WORTH_THREADS
        each = map_on_threads if on_threads else map
        sums = list(each(blocks.sum_of, _parts(units, n_parts)))
    A, b = sums[0].A, sums[0].b
    for part in sums[1:]:
        A += part.A
        b += part.b
    for start in sorted({start for part in sums for start in part.moved}):
        rest = sum(part.moved[start] for part in sums if start in part.moved)
        A -= np.outer(rest, rest)
    for place in with_levels:
        with one_blas_thread(n_features <= SMALL):
            for Z, rows in large_query_blocks(differences, X, place, gram_rows(X)):
                A += Z.T @ Z
                b += Z.T @ target[rows]
    return A, b


def _parts(units: list[_Unit], n_parts: int) -> list[list[_Unit]]:
    bounds = np.linspace(0, len(units), n_parts + 1).astype(int)
    return [units[first:last] for first, last in pairwise(bounds)]


@dataclass(frozen=True)
class _Unit:
    """A block of rows: whole queries, or a piece of the large query starting at `query`."""

    place: slice
    offsets: Ints
    query: int | None = None
    mean: Floats | None = None


@dataclass
class _Sum:
    """The sums over a part; `moved` holds ``Σ s_i x̃_i`` over its rows of each large query."""

    A: Floats
    b: Floats
    moved: dict[int, Floats]


def _units(blocks: _BlockSums, differences: QueryDifferences) -> tuple[list[_Unit], list[slice]]:
    """Return blocks that can be summed independently, and the large queries whose tied pairs are dropped."""
    units, with_levels = [], []
    offsets, size = differences.queries.offsets, gram_rows(blocks.X)
    for first, last in runs(offsets, size):
        whole = slice(int(offsets[first]), int(offsets[last]))
        if whole.stop - whole.start <= size:
            units.append(_Unit(whole, offsets[first : last + 1] - whole.start))
        elif differences.level_offsets is not None:
            with_levels.append(whole)
        else:
            mean = blocks.mean(slice(whole.start, whole.start + size))
            for place in pieces(whole.start, whole.stop, size):
                units.append(_Unit(place, np.array([0, place.stop - place.start]), whole.start, mean))
    return units, with_levels


class _BlockSums:
    """Data shared by all blocks of rows."""

    def __init__(self, differences: QueryDifferences, X: Rows, target: Floats) -> None:
        self.X, self.order = X, differences.order
        degree, terms = differences.laplacian_terms()
        self.scale = np.sqrt(degree)
        self.weight = differences.row_weight
        inverse = np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=self.scale > 0)
        # Fᵀt, and the rows' shares in sums over queries and levels, divided by the blocks' scale.
        self.right = _scaled(inverse, differences.grouped(differences.adjoint(target)))
        self.share = terms[-1][2] * inverse
        self.levels = differences.level_offsets

    def sum_of(self, units: Sequence[_Unit]) -> _Sum:
        n = self.X.shape[1]
        total = _Sum(np.zeros((n, n)), np.zeros((n, *self.right.shape[1:])), {})
        buffer = np.empty((max((unit.place.stop - unit.place.start for unit in units), default=0), n))
        for unit in units:
            Z = self._centred(unit, buffer)
            total.A += Z.T @ Z
            total.b += Z.T @ self.right[unit.place]
            if unit.query is not None:
                total.moved[unit.query] = total.moved.get(unit.query, 0.0) + Z.T @ self.share[unit.place]
            elif self.levels is not None:
                first, last = np.searchsorted(self.levels, [unit.place.start, unit.place.stop])
                starts = self.levels[first:last] - unit.place.start
                sums = np.add.reduceat(Z * self.share[unit.place, None], starts)
                total.A += sums.T @ sums
        return total

    def mean(self, place: slice) -> Floats:
        weight = self.weight[place]
        return weight @ self._rows(place) / weight.sum() if weight.any() else np.zeros(self.X.shape[1])

    def _centred(self, unit: _Unit, buffer: Floats) -> Floats:
        place = unit.place
        out = buffer[: place.stop - place.start]
        values: Any = self.X
        row = np.arange(place.start, place.stop) if self.order is None else self.order[place]
        if not isinstance(values, np.ndarray):
            values, row = self._rows(place), np.arange(len(out))
        centred_rows(values, row, unit.offsets, self.weight[place], self.scale[place], unit.mean, out, 1)
        return out

    def _rows(self, place: slice) -> Floats:
        return dense(self.X[place] if self.order is None else self.X[self.order[place]])


def _scaled(scale: Floats, rows: Floats) -> Floats:
    return (scale * rows.T).T
