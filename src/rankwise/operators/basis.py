"""Features spanned by basis vectors (paper B)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from rankwise.errors import DataError
from rankwise.operators.kernel import Kernel, KernelName, row_blocks
from rankwise.operators.kernel_products import checked_kernel_matrix
from rankwise.types import Floats, Ints, Matrix


@dataclass(frozen=True)
class BasisFeatures:
    """Features whose inner products equal the kernel on the span of the basis vectors (paper B).

    Attributes
    ----------
    features : Floats, shape (m, rank)
        ``Z = K_MR C⁻ᵀ`` with ``K_RR = C Cᵀ``: ridge on Z is Sparse RankRLS.
    transform : Floats, shape (rank, rank)
        ``C⁻ᵀ``: maps feature weights to coefficients of the basis vectors.
    kept : Ints, shape (rank,)
        Positions in the basis of the vectors kept. A vector already spanned by the others (a duplicate, or
        one more than the kernel has dimensions) adds nothing and is dropped.
    """

    features: Floats
    transform: Floats
    kept: Ints

    @property
    def rank(self) -> int:
        return len(self.kept)


def basis_features(K_RR: Floats, kernel_rows: Callable[[slice, Ints], Floats], n_rows: int) -> BasisFeatures:
    """Factor ``K_RR`` by pivoted Cholesky, then compute the features of all rows, block by block.

    O(m r²) time, O(m r) memory.

    Parameters
    ----------
    K_RR : Floats, shape (r, r)
    kernel_rows : callable
        ``kernel_rows(rows, kept)``: kernel values between a slice of rows and the basis vectors `kept`.
    """
    factor, pivots, rank, _ = linalg.lapack.dpstrf(K_RR, lower=1)
    if rank == 0:
        raise DataError("The kernel is 0 between all basis vectors; there is nothing to learn.")
    kept = np.asarray(pivots[:rank] - 1, dtype=np.int64)
    C = np.tril(factor[:rank, :rank])
    transform = linalg.solve_triangular(C, np.eye(rank), lower=True).T
    Z = np.empty((n_rows, rank))
    for rows in row_blocks(n_rows, rank):
        np.matmul(kernel_rows(rows, kept), transform, out=Z[rows])
    return BasisFeatures(features=Z, transform=transform, kept=kept)


def features_of_basis(X: Matrix, kernel: Kernel, chosen: Ints) -> BasisFeatures:
    """Return features whose inner products equal the kernel on the span of the chosen rows."""
    precomputed = kernel.function is KernelName.PRECOMPUTED
    basis = X[chosen]
    K_RR = np.asarray(basis[:, chosen], dtype=np.float64) if precomputed else kernel(basis, basis)

    def against(place: slice, kept: Ints) -> Floats:
        return np.asarray(X[place][:, chosen[kept]]) if precomputed else kernel(X[place], basis[kept])

    return basis_features(checked_kernel_matrix(K_RR, kernel), against, X.shape[0])
