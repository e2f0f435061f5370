"""Features that basis vectors span (paper B)."""

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
    """Features whose inner products are the kernel's, as far as the basis vectors reach (paper B).

    Attributes
    ----------
    features : Floats, shape (m, rank)
        ``Z = K_MR C⁻ᵀ`` with ``K_RR = C Cᵀ``: ridge on Z is Sparse RankRLS.
    transform : Floats, shape (rank, rank)
        ``C⁻ᵀ``: weights of the features -> coefficients of the basis vectors.
    kept : Ints, shape (rank,)
        The positions in the basis of the vectors that were kept: one that the others already span (a
        duplicate, or more vectors than the kernel has dimensions) adds nothing and is left out.
    """

    features: Floats
    transform: Floats
    kept: Ints

    @property
    def rank(self) -> int:
        return len(self.kept)


def basis_features(K_RR: Floats, kernel_rows: Callable[[slice, Ints], Floats], n_rows: int) -> BasisFeatures:
    """Pivoted Cholesky of ``K_RR``, then the features of all rows, block by block.

    O(m r²) time, O(m r) memory.

    Parameters
    ----------
    K_RR : Floats, shape (r, r)
    kernel_rows : callable
        ``kernel_rows(rows, kept)``: kernel values of a slice of rows against the basis vectors `kept`.
    """
    factor, pivots, rank, _ = linalg.lapack.dpstrf(K_RR, lower=1)
    if rank == 0:
        raise DataError("The kernel is 0 between all basis vectors; nothing can be learned with it.")
    kept = np.asarray(pivots[:rank] - 1, dtype=np.int64)
    C = np.tril(factor[:rank, :rank])
    transform = linalg.solve_triangular(C, np.eye(rank), lower=True).T
    Z = np.empty((n_rows, rank))
    for rows in row_blocks(n_rows, rank):
        np.matmul(kernel_rows(rows, kept), transform, out=Z[rows])
    return BasisFeatures(features=Z, transform=transform, kept=kept)


def features_of_basis(X: Matrix, kernel: Kernel, chosen: Ints) -> BasisFeatures:
    """The features whose inner products are the kernel's on the span of the chosen rows."""
    precomputed = kernel.function is KernelName.PRECOMPUTED
    basis = X[chosen]
    K_RR = np.asarray(basis[:, chosen], dtype=np.float64) if precomputed else kernel(basis, basis)

    def against(place: slice, kept: Ints) -> Floats:
        return np.asarray(X[place][:, chosen[kept]]) if precomputed else kernel(X[place], basis[kept])

    return basis_features(checked_kernel_matrix(K_RR, kernel), against, X.shape[0])
