"""Ridge regression on differences in closed form, for one alpha or for all of them.

The minimizer of ``‖F f − t‖² + α‖f‖²`` solves one symmetric system ``(M + αI) z = r``:

- in the feature space (primal), ``M = XᵀLX``, ``r = XᵀFᵀt`` and z is the weights (paper A, equation 11);
- in the example space (dual), ``M = F K Fᵀ``, ``r = t`` and the coefficients of the rows are ``Fᵀz``
  (equation 8 of paper A: ``(LK + αI)⁻¹ L y``, made symmetric).

`solvers.closed_form` forms the systems; this module solves them. A single alpha takes a Cholesky
factorization. An eigendecomposition ``M = VΛVᵀ`` gives all alphas, at O(p²) each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from rankwise.losses.squared import SquaredLoss
from rankwise.operators.design import Design
from rankwise.threads import one_blas_thread
from rankwise.types import Floats
from rankwise.validation import check_products

EPS = float(np.finfo(np.float64).eps)
# Below this reciprocal condition number, XᵀLX has lost so many digits that FX itself is factorized instead.
WELL_CONDITIONED = 1e-9
# Matrices up to this size are factorized on one thread: with two threads, a matrix of 300 rows took as long
# at best, and ten times as long on a busy machine.
SMALL = 500


@dataclass(frozen=True)
class Spectrum:
    """``M = V diag(values) Vᵀ`` with the right-hand side in the basis V.

    Attributes
    ----------
    values : Floats, shape (r,)
        Eigenvalues, ascending and nonnegative; those below the rounding error of the largest are 0.
    vectors : Floats, shape (p, r)
    target : Floats, shape (r,) or (r, k)
        ``Vᵀ r``; 0 where the eigenvalue is 0, so ``alpha = 0`` gives the minimum-norm solution.
    """

    values: Floats
    vectors: Floats
    target: Floats

    @property
    def rank(self) -> int:
        return int(np.count_nonzero(self.values))

    def inverse(self, alpha: float | Sequence[float] | Floats) -> Floats:
        """``1 / (values + alpha)``, one column per alpha if there are several; 0 in place of 1/0."""
        total: Floats = np.add.outer(self.values, np.asarray(alpha))
        return np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)

    def solve(self, alpha: float) -> Floats:
        """``(M + alpha I)⁻¹ r``, shape (p,) or (p, k); O(p²) per target."""
        return np.asarray(self.vectors @ (self.inverse(alpha) * self.target.T).T)

    def solve_all(self, alphas: Sequence[float] | Floats) -> Floats:
        """The solutions for all alphas, shape (n_alphas, p) or (n_alphas, p, k), in one product."""
        columns = self.inverse(alphas)[:, :, None] * self.target.reshape(len(self.values), 1, -1)
        solved = self.vectors @ columns.reshape(len(self.values), -1)
        split = solved.reshape(len(self.vectors), len(alphas), -1).transpose(1, 0, 2)
        return split.reshape(len(alphas), len(self.vectors), *self.target.shape[1:])

    def resolves(self, alpha: float) -> bool:
        """Whether ``M + alpha I`` is so well conditioned that forming M lost no accuracy that matters."""
        return bool(self.values[0] + alpha > WELL_CONDITIONED * self.values[-1])


@dataclass(frozen=True)
class RidgeSystem:
    """``(M + αI) z = r`` for any α; M symmetric and positive semi-definite."""

    matrix: Floats
    right: Floats

    def __post_init__(self) -> None:
        check_products(self.matrix)
        check_products(self.right)

    @cached_property
    def spectrum(self) -> Spectrum:
        """One symmetric eigendecomposition, O(p³), computed on first use."""
        with one_blas_thread(self.is_small):
            values, vectors = linalg.eigh(self.matrix, check_finite=False)
        return truncated(values, vectors, vectors.T @ self.right, len(values) * EPS)

    @property
    def is_decomposed(self) -> bool:
        return "spectrum" in vars(self)  # where `cached_property` stores it

    def cholesky(self, alpha: float) -> tuple[Floats, float]:
        """The solution for one alpha, and the reciprocal condition of ``M + alpha I`` (0 if singular)."""
        shifted = self.matrix.copy()
        shifted[np.diag_indices_from(shifted)] += alpha
        norm = float(np.abs(shifted).sum(axis=0).max())
        with one_blas_thread(self.is_small):
            factor, failed = linalg.lapack.dpotrf(shifted, lower=1, overwrite_a=1)
            if failed:
                return np.zeros_like(self.right), 0.0
            solution, _ = linalg.lapack.dpotrs(factor, self.right, lower=1)
            reciprocal, _ = linalg.lapack.dpocon(factor, norm, uplo="L")
        return np.asarray(solution).reshape(self.right.shape), float(reciprocal)

    @property
    def is_small(self) -> bool:
        """Whether BLAS threads would cost more than they gain."""
        return len(self.matrix) <= SMALL


def precise_spectrum(design: Design, loss: SquaredLoss) -> Spectrum:
    """The spectrum of ``XᵀLX`` from the singular values of ``FX``, whose condition number is not squared.

    ``FX = QR`` block by block and ``R = U diag(s) Vᵀ``, so ``Λ = s²`` and ``Vᵀr = s Uᵀ Qᵀt``. Singular values
    below ``max(m, n) eps`` times the largest are 0.
    """
    R, projected = design.difference_factor(loss.differences, loss.target)
    U, s, Vt = linalg.svd(R, full_matrices=False, check_finite=False)
    target = (s * (U.T @ projected).T).T
    return truncated(s[::-1] ** 2, Vt[::-1].T, target[::-1], (max(design.shape) * EPS) ** 2)


def truncated(values: Floats, vectors: Floats, target: Floats, rcond: float) -> Spectrum:
    """A spectrum in which eigenvalues up to ``rcond`` times the largest are set to 0."""
    noise = values <= rcond * max(float(values[-1]), 0.0)
    keep = np.where(noise, 0.0, 1.0)
    return Spectrum(values=values * keep, vectors=vectors, target=(target.T * keep).T)
