"""``XᵀLX`` and the triangular factor of ``FX``, without copying X.

Both stream over blocks of dense rows. For a sparse X, sparse products are used where they are cheaper.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from scipy import linalg, sparse

from rankwise.operators.blocks import Rows, dense, difference_blocks, gram_rows, pieces
from rankwise.operators.query_gram import query_system
from rankwise.preferences.differences import Differences, QueryDifferences
from rankwise.preferences.pair_differences import MatrixDifferences, PairDifferences, StackedDifferences
from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Floats

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


dense_system.register(QueryDifferences, query_system)


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
    return np.asarray(sum(sparse_gram(part, X) for part in differences.parts))


def _scale_rows(X: Any, scale: Floats) -> Any:
    return sparse.diags_array(scale) @ X
