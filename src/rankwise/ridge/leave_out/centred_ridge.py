"""Weighted ridge regression with an intercept, by the matrix that turns labels into fits.

A regression may lose digits because it fits labels almost exactly; then its residuals are added up from the
whole spectrum instead (`WholeSpectrum`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from rankwise.ridge.spectrum import EPS, condition
from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Floats

# A regression that leaves less than this of a label to its residual has lost too many digits of it.
LEAST_FREE = 1e-6
# An alpha this small compared with all eigenvalues but 0 stands for the limit 0.
NEAR_LIMIT = 1e-7


@dataclass(frozen=True)
class CentredRidge:
    """Ridge regression, weighted, with an intercept: fits are ``H y = (11ᵀ/S + N) diag(s) y``.

    Attributes
    ----------
    rows : Floats, shape (r, m)
        R, where ``N = RᵀR``.
    weight : Floats, shape (m,)
        s.
    rounding : float
        About the norm of the error of ``I − H``.
    """

    rows: Floats
    weight: Floats
    rounding: float

    @property
    def loses_digits(self) -> bool:
        """Whether little is left of ``1 − H_ii`` for some row, or of ``I − H`` but for one direction."""
        free = self.free[self.weight > 0.0]
        return bool((free < LEAST_FREE).any()) or float(free.sum()) < 1.0 + LEAST_FREE * len(free)

    def residual(self, centred: Floats) -> Floats:
        """``(I − H) y``."""
        return np.asarray(centred - self.rows.T @ (self.rows @ (self.weight * centred)))

    @cached_property
    def free(self) -> Floats:
        """``1 − H_ii``."""
        s, squares = self.weight, np.einsum("ri,ri->i", self.rows, self.rows)
        return np.asarray(1.0 - s * (1.0 / s.sum() + squares))

    @property
    def products(self) -> tuple[float, float]:
        """What to add to products of rows times what, to have ``H_ij / s_j`` for i ≠ j."""
        return 1.0 / float(self.weight.sum()), 1.0


@dataclass(frozen=True)
class CloseFit(CentredRidge):
    """A regression that may fit labels almost exactly: ``I − H = RᵀR diag(s)``, up to a factor.

    Held-out residuals are ``(I − H)_{ij,ij}⁻¹ (I − H) y``, so a common factor does not matter, and ``I − H``
    is added up from its own eigenvalues ``alpha / (v + alpha)`` instead of being left over from H.
    """

    def residual(self, centred: Floats) -> Floats:
        return np.asarray(self.rows.T @ (self.rows @ (self.weight * centred)))

    @cached_property
    def free(self) -> Floats:
        return np.asarray(self.weight * np.einsum("ri,ri->i", self.rows, self.rows))

    @property
    def products(self) -> tuple[float, float]:
        return 0.0, -1.0


@dataclass(frozen=True)
class WholeSpectrum:
    """All eigenvalues of ``F K Fᵀ`` and their vectors, but for the one that is constant on the rows."""

    values: Floats
    vectors: Floats
    of_root: bool

    @classmethod
    def of_matrix(cls, matrix: Floats, constant: Floats) -> WholeSpectrum:
        """O(m³). The constant vector, of eigenvalue 0, is moved to the end of the spectrum, and cut off."""
        top = 2.0 * float(np.abs(matrix).sum(axis=0).max()) or 1.0
        with one_blas_thread(len(matrix) <= SMALL):
            values, vectors = linalg.eigh(matrix + top * np.outer(constant, constant), check_finite=False)
        return cls(_cut(values[:-1], len(values) * EPS), vectors[:, :-1], of_root=False)

    @classmethod
    def of_rows(cls, differences: Floats, constant: Floats) -> WholeSpectrum:
        """The same for ``K = XXᵀ``, from the singular values of ``FX``, which keep twice as many digits."""
        top = 2.0 * float(np.linalg.norm(differences)) or 1.0
        with one_blas_thread(len(differences) <= SMALL):
            vectors, roots, _ = linalg.svd(np.column_stack([differences, top * constant]), check_finite=False)
        values = np.append(np.square(roots), np.zeros(max(0, len(vectors) - len(roots))))
        return cls(_cut(values[1:], (max(differences.shape) * EPS) ** 2), vectors[:, 1:], of_root=True)

    def close_fit(self, alpha: float, weight: Floats) -> CloseFit:
        """The regression with this alpha, or with one so small that the solution is that of the limit 0.

        The limit itself is singular for a pair if ``I − H`` has but one eigenvalue that does not go to 0.
        """
        positive = self.values[self.values > 0.0]
        if len(positive) < len(self.values) and len(positive):
            alpha = max(alpha, NEAR_LIMIT * float(positive.min()))
        total = self.values + alpha
        share = total.min() / total
        rounding = EPS * condition(self.values, alpha, of_root=self.of_root)
        return CloseFit((self.vectors * np.sqrt(share)).T * inverse(np.sqrt(weight)), weight, rounding)


def _cut(values: Floats, rcond: float) -> Floats:
    return np.where(values <= rcond * values.max(initial=0.0), 0.0, values)


def inverse(weight: Floats) -> Floats:
    """One over each weight, and 0 for a weight of 0."""
    return np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0)
