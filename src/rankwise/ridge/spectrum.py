"""Ridge regression on differences in closed form, for one alpha or for all of them.

The minimizer of ``‖F f − t‖² + α‖f‖²`` solves one symmetric system ``(M + αI) z = r``:

- in the feature space (primal), ``M = XᵀLX``, ``r = XᵀFᵀt`` and z is the weights (paper A, equation 11);
- in the example space (dual), ``M = F K Fᵀ``, ``r = t`` and the coefficients of the rows are ``Fᵀz``
  (equation 8 of paper A: ``(LK + αI)⁻¹ L y``, made symmetric).

`solvers.closed_form` forms the systems; this module solves them. A single alpha takes a Cholesky
factorization. For several, the tridiagonal form of M gives each at O(p²) (`solvers.tridiagonal`). Alphas that
do not rise above the rounding errors of M need a rank, which only a spectrum has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg

from rankwise.operators.design import Design
from rankwise.ridge.squared import SquaredLoss
from rankwise.ridge.tridiagonal import WELL_CONDITIONED, Decomposition, Tridiagonal, tridiagonal_form
from rankwise.threads import SMALL, SMALL_TO_FACTOR, one_blas_thread
from rankwise.types import Floats
from rankwise.validation import check_products

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Spectrum(Decomposition):
    """``M = V diag(values) Vᵀ``; eigenvalues below the rounding error of the largest are 0.

    They are ascending and nonnegative. The target is 0 where the eigenvalue is 0, so ``alpha = 0`` gives the
    minimum-norm solution.

    Attributes
    ----------
    vectors : Floats, shape (p, r)
        For r < p, M is 0 on all that is orthogonal to them, and so is the target.
    of_root : bool
        Whether these are the singular values of a root of M, squared, which have twice as many digits.
    """

    vectors: Floats
    of_root: bool = False

    @property
    def values(self) -> Floats:
        return self.diagonal

    @property
    def rank(self) -> int:
        return int(np.count_nonzero(self.values))

    @property
    def basis(self) -> Floats:
        return self.vectors

    @property
    def extremes(self) -> tuple[float, float]:
        return float(self.values[0]), float(self.values[-1])

    def condition(self, alpha: float) -> float:
        return condition(self.values, alpha, of_root=self.of_root)

    def from_basis(self, columns: Floats) -> Floats:
        with one_blas_thread(len(self.vectors) <= SMALL):
            return np.asarray(self.vectors @ columns)

    def smoother(self, alpha: float) -> tuple[Floats, bool]:
        total = self.values + alpha
        share = np.divide(self.values, total, out=np.zeros_like(total), where=total > 0)
        return np.sqrt(share)[:, None] * self.vectors.T, False


@dataclass(frozen=True)
class RidgeSystem:
    """``(M + αI) z = r`` for any α; M symmetric and positive semi-definite."""

    matrix: Floats
    right: Floats

    def __post_init__(self) -> None:
        check_products(self.matrix)
        check_products(self.right)
        with np.errstate(over="ignore"):
            # No row of M has a larger sum, because |m_ij| ≤ max m_ii.
            check_products(len(self.matrix) * np.diag(self.matrix))

    @cached_property
    def tridiagonal(self) -> Tridiagonal:
        """One reduction, O(p³), computed on first use."""
        return tridiagonal_form(self.matrix, self.right)

    @cached_property
    def spectrum(self) -> Spectrum:
        """The eigendecomposition: the tridiagonal form, and twice as much again."""
        form = self.tridiagonal
        with one_blas_thread(self.is_small):
            values, turned = linalg.eigh_tridiagonal(form.diagonal, form.off_diagonal, check_finite=False)
        vectors = form.from_basis(np.asarray(turned, dtype=np.float64))
        return truncated(
            np.asarray(values, dtype=np.float64), vectors, vectors.T @ self.right, len(values) * EPS
        )

    def decomposition(self, smallest_alpha: float) -> Decomposition:
        """The cheapest one that is accurate for every alpha ≥ `smallest_alpha`."""
        return self.tridiagonal if self.tridiagonal.resolves(smallest_alpha) else self.spectrum

    @property
    def is_decomposed(self) -> bool:
        return "tridiagonal" in vars(self)  # where `cached_property` stores it

    def cholesky(self, alpha: float) -> tuple[Floats, float]:
        """The solution for one alpha, and the reciprocal condition of ``M + alpha I`` (0 if singular)."""
        factor, reciprocal = self.factor(alpha)
        if reciprocal == 0.0:
            return np.zeros_like(self.right), 0.0
        with one_blas_thread(len(factor) <= SMALL_TO_FACTOR):
            solution, _ = linalg.lapack.dpotrs(factor, self.right, lower=1)
        return np.asarray(solution).reshape(self.right.shape), reciprocal

    def factor(self, alpha: float) -> tuple[Floats, float]:
        """The Cholesky factor of ``M + alpha I``, in the lower triangle, and its reciprocal condition."""
        shifted = self.matrix.copy()
        shifted[np.diag_indices_from(shifted)] += alpha
        norm = float(np.abs(shifted).sum(axis=0).max())
        with one_blas_thread(len(shifted) <= SMALL_TO_FACTOR):
            factor, failed = linalg.lapack.dpotrf(shifted, lower=1, overwrite_a=1)
            if failed:
                return factor, 0.0
            reciprocal, _ = linalg.lapack.dpocon(factor, norm, uplo="L")
        return factor, float(reciprocal)

    @property
    def is_small(self) -> bool:
        """Whether BLAS threads would cost more than they gain."""
        return len(self.matrix) <= SMALL


def precise_spectrum(design: Design, loss: SquaredLoss) -> Spectrum:
    """The spectrum of ``XᵀLX`` from the singular values of ``FX``, whose condition number is not squared.

    ``FX = QR`` block by block and ``R = U diag(s) Vᵀ``, so ``Λ = s²`` and ``Vᵀr = s Uᵀ Qᵀt``. Singular values
    below ``max(m, n) eps`` times the largest are 0: rounding can leave that much of those that are 0. It does
    not matter how far from zero the features are, because `operators.blocks.MeasuredRows` are centred.
    """
    R, projected = loss.factor(design)
    with one_blas_thread(len(R) <= SMALL):
        U, s, Vt = linalg.svd(R, full_matrices=False, check_finite=False)
    target = (s * (U.T @ projected).T).T
    values = truncated(s[::-1] ** 2, Vt[::-1].T, target[::-1], (max(design.shape) * EPS) ** 2)
    return replace(values, of_root=True)


def spectrum_without_null_space(design: Design, loss: SquaredLoss, system: RidgeSystem) -> Spectrum | None:
    """The spectrum of ``XᵀLX`` on the complement of its null space; None if that leaves it ill-conditioned.

    Columns that are constant within queries, or that sum to one that is, make ``XᵀLX`` singular. It has lost
    no digits where it is not 0, if that is well conditioned. Its eigenvalues do not tell what is 0 from what
    rounding hides, so the rows do: where they have no differences, in the sense of `precise_spectrum`, there
    are as many singular values of ``FX`` that this takes for 0. Leaving out rows makes nothing else of them.
    """
    spectrum = system.spectrum
    largest = spectrum.extremes[1]
    kept = spectrum.values > WELL_CONDITIONED * largest
    norm = loss.norm(design, spectrum.vectors[:, ~kept])
    if not kept.any() or norm > max(design.shape) * EPS * np.sqrt(largest):
        return None
    values, vectors = spectrum.values[kept], np.ascontiguousarray(spectrum.vectors[:, kept])
    return Spectrum(values, np.zeros(len(values) - 1), spectrum.target[kept], vectors)


def condition(values: Floats, alpha: float, *, of_root: bool) -> float:
    """`Decomposition.condition` for eigenvalues of which those that are 0 are known to be."""
    positive = values[values > 0.0] + alpha
    ratio = float(positive.max() / positive.min()) if len(positive) else 1.0
    return float(np.sqrt(ratio)) if of_root else ratio


def truncated(values: Floats, vectors: Floats, target: Floats, rcond: float) -> Spectrum:
    """A spectrum in which eigenvalues up to ``rcond`` times the largest are set to 0."""
    noise = values <= rcond * max(float(values[-1]), 0.0)
    keep = np.where(noise, 0.0, 1.0)
    return Spectrum(values * keep, np.zeros(len(values) - 1), (target.T * keep).T, vectors)
