"""Features spanned by basis vectors (paper B), computed when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from rankwise.errors import DataError
from rankwise.operators.blocks import Index, centred, pieces
from rankwise.operators.gram import difference_factor, difference_norm, difference_system
from rankwise.operators.kernel import Kernel, KernelName
from rankwise.operators.kernel_products import checked_kernel_matrix
from rankwise.preferences.differences import Differences
from rankwise.threads import SMALL_TO_FACTOR, one_blas_thread
from rankwise.types import Floats, Ints, Matrix

# A product with a triangular matrix skips its zeros in panels of this many columns.
PANEL = 128


@dataclass(frozen=True)
class BasisFeatures:
    """Features whose inner products equal the kernel on the span of the basis vectors (paper B).

    ``Z = K_MR C⁻ᵀ`` with ``K_RR = C Cᵀ``: ridge on Z is Sparse RankRLS. Rows of Z are computed when they are
    indexed, O(h r (s + r)) for h of them; all of Z is never in memory.

    Attributes
    ----------
    kernel_rows : callable
        Kernel values between some rows and the basis vectors `kept`.
    n_rows : int
    transform : Floats, shape (rank, rank)
        ``C⁻ᵀ``, upper triangular: maps feature weights to coefficients of the basis vectors.
    kept : Ints, shape (rank,)
        Positions in the basis of the vectors kept. A vector already spanned by the others (a duplicate, or
        one more than the kernel has dimensions) adds nothing and is dropped.
    """

    kernel_rows: Callable[[Index], Floats]
    n_rows: int
    transform: Floats
    kept: Ints

    @property
    def rank(self) -> int:
        return len(self.kept)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.rank

    def __getitem__(self, rows: Index) -> Floats:
        values = self.kernel_rows(rows)
        features = np.empty(values.shape)
        for columns in pieces(0, self.rank, PANEL):
            stop = columns.stop
            np.matmul(values[:, :stop], self.transform[:stop, columns], out=features[:, columns])
        return features


def features_of_basis(X: Matrix, kernel: Kernel, chosen: Ints) -> BasisFeatures:
    """Factor the kernel matrix of the chosen rows by pivoted Cholesky; O(r² s + r³)."""
    precomputed = kernel.function is KernelName.PRECOMPUTED
    basis = X[chosen]
    K_RR = np.asarray(basis[:, chosen], dtype=np.float64) if precomputed else kernel(basis, basis)
    with one_blas_thread(len(chosen) <= SMALL_TO_FACTOR):
        factor, pivots, rank, _ = linalg.lapack.dpstrf(checked_kernel_matrix(K_RR, kernel), lower=1)
    if rank == 0:
        raise DataError("The kernel is 0 between all basis vectors; there is nothing to learn.")
    kept = np.asarray(pivots[:rank] - 1, dtype=np.int64)
    C = np.tril(factor[:rank, :rank])
    with one_blas_thread(rank <= SMALL_TO_FACTOR):
        transform = np.ascontiguousarray(linalg.solve_triangular(C, np.eye(rank), lower=True).T)
    places, vectors = chosen[kept], basis[kept]

    def kernel_rows(rows: Index) -> Floats:
        return np.asarray(X[rows][:, places], dtype=np.float64) if precomputed else kernel(X[rows], vectors)

    return BasisFeatures(kernel_rows, X.shape[0], transform, kept)


class BasisDesign:
    """`Design` of features that are computed block by block, in O(r² + block) memory."""

    def __init__(self, features: BasisFeatures) -> None:
        self.features = features

    @property
    def shape(self) -> tuple[int, int]:
        return self.features.shape

    def centred_rows(self, index: Ints, offsets: Ints, weight: Floats) -> Floats:
        return centred(self.features, index, offsets, weight)

    def difference_system(self, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
        return difference_system(self.features, differences, target)

    def difference_factor(self, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
        return difference_factor(self.features, differences, target)

    def difference_norm(self, differences: Differences, directions: Floats) -> float:
        return difference_norm(self.features, differences, directions)
