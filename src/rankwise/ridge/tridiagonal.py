"""Orthogonal transformations that make ``(M + αI) z = r`` cheap for every α.

``M = Q T Qᵀ`` with T tridiagonal takes a third of the time of an eigendecomposition, in which T is diagonal;
either way, ``(T + αI) x = Qᵀr`` takes O(p) per alpha, and ``z = Qx`` O(p²).
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy import linalg

from rankwise._native import Lapack, solve_half, solve_shifted
from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Floats

# Below this reciprocal condition number, M has lost so many digits that something else must be decomposed.
WELL_CONDITIONED = 1e-9
# Columns that LAPACK transforms at once, and what it needs besides.
_LAPACK_BLOCK, _LAPACK_EXTRA = 64, 65 * 64


@dataclass(frozen=True)
class Decomposition(ABC):
    """``M = Q T Qᵀ`` with a symmetric tridiagonal T and orthonormal columns Q.

    Attributes
    ----------
    diagonal : Floats, shape (r,)
        Of T.
    off_diagonal : Floats, shape (r - 1,)
    target : Floats, shape (r,) or (r, k)
        ``Qᵀ r``.
    """

    diagonal: Floats
    off_diagonal: Floats
    target: Floats

    @property
    @abstractmethod
    def basis(self) -> Floats:
        """Q, shape (p, r)."""

    @abstractmethod
    def from_basis(self, columns: Floats) -> Floats:
        """``Q columns``; O(p²) per column."""

    @property
    @abstractmethod
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest eigenvalue."""

    def resolves(self, alpha: float) -> bool:
        """Whether ``M + alpha I`` is so well conditioned that forming M lost no accuracy that matters."""
        smallest, largest = self.extremes
        return smallest + alpha > WELL_CONDITIONED * largest

    @abstractmethod
    def condition(self, alpha: float) -> float:
        """How much ``(M + alpha I)⁻¹`` magnifies the relative rounding errors of M, or of its root."""

    def solve(self, alpha: float) -> Floats:
        """``(M + alpha I)⁻¹ r``, shape (p,) or (p, k); O(p²) per target."""
        return np.asarray(self.solve_all([alpha])[0])

    def solve_all(self, alphas: Sequence[float] | Floats) -> Floats:
        """The solutions for all alphas, shape (n_alphas, p) or (n_alphas, p, k), in one product."""
        solved = self.from_basis(self.solve_in_basis(alphas))
        split = solved.reshape(len(solved), len(alphas), -1).transpose(1, 0, 2)
        return split.reshape(len(alphas), len(solved), *self.target.shape[1:])

    def solve_in_basis(self, alphas: Sequence[float] | Floats) -> Floats:
        """The solutions x of ``(T + alpha I) x = Qᵀr``, a column for each alpha and target; O(p) each."""
        target = self.target.reshape(len(self.target), -1)
        columns = np.tile(target, len(alphas))
        solve_shifted(self.diagonal, self.off_diagonal, np.repeat(alphas, target.shape[1]), columns)
        return columns

    def half_inverse(self, columns: Floats, alpha: float) -> Floats:
        """``C⁻¹ columns`` with ``CCᵀ = T + alpha I``: their scalar products are those of the inverse."""
        solved = np.empty(columns.shape)
        solve_half(self.diagonal, self.off_diagonal, alpha, np.ascontiguousarray(columns), solved)
        return solved

    @abstractmethod
    def smoother(self, alpha: float) -> tuple[Floats, bool]:
        """R, shape (r, p), where ``M (M + alpha I)⁻¹`` is ``RᵀR`` or, if the second is true, ``I − RᵀR``."""

    def times_middle(self, rows: Floats) -> Floats:
        """``rows T``."""
        product = rows * self.diagonal
        if self.off_diagonal.any():
            product[:, 1:] += rows[:, :-1] * self.off_diagonal
            product[:, :-1] += rows[:, 1:] * self.off_diagonal
        return product


@dataclass(frozen=True)
class Tridiagonal(Decomposition):
    """A tridiagonal T; ``Q = diag(1, H)`` with H a product of Householder reflections."""

    reflectors: Floats
    scales: Floats

    @cached_property
    def basis(self) -> Floats:
        """One more p³, only where rows of Q are needed one by one."""
        size = len(self.diagonal)
        basis = np.zeros((size, size))
        basis[0, 0] = 1.0
        if size > 1:
            with one_blas_thread(size <= SMALL):
                basis[1:, 1:] = linalg.lapack.dorgqr(
                    self.reflectors, self.scales, lwork=_LAPACK_BLOCK * size + _LAPACK_EXTRA
                )[0]
        return basis

    def condition(self, alpha: float) -> float:
        smallest, largest = self.extremes
        # In a singular M, the smallest eigenvalue is a rounding error.
        return (largest + alpha) / max(smallest + alpha, alpha, sys.float_info.min)

    def from_basis(self, columns: Floats) -> Floats:
        return _reflected(self.reflectors, self.scales, columns, "T")

    def smoother(self, alpha: float) -> tuple[Floats, bool]:
        return np.sqrt(alpha) * self.half_inverse(self.basis.T, alpha), True

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """By bisection, O(p); by all eigenvalues, O(p²), where it fails."""
        # LAPACK squares the entries, which may overflow.
        scale = max(float(np.abs(self.diagonal).max()), float(np.abs(self.off_diagonal).max(initial=0.0)))
        if scale == 0.0:
            return 0.0, 0.0
        d, e = self.diagonal / scale, self.off_diagonal / scale
        ends = [0, len(d) - 1]
        try:
            found = [linalg.eigvalsh_tridiagonal(d, e, select="i", select_range=(at, at))[0] for at in ends]
        except linalg.LinAlgError:
            # Bisection may lose count of eigenvalues that only rounding tells apart (INFO = 2 of LAPACK's
            # stebz, whose documentation says to compute all of them instead).
            found = list(linalg.eigvalsh_tridiagonal(d, e)[ends])
        return float(found[0]) * scale, float(found[1]) * scale


def tridiagonal_form(matrix: Floats, right: Floats) -> Tridiagonal:
    """LAPACK's ``sytrd`` of a symmetric matrix, 4/3 p³ operations."""
    size = len(matrix)
    with one_blas_thread(size <= SMALL):
        # The matrix is its own transpose, which is in Fortran's order.
        packed, diagonal, off_diagonal, scales, _ = linalg.lapack.dsytrd(
            matrix.T, lower=1, lwork=_LAPACK_BLOCK * size
        )
    reflectors = np.asfortranarray(packed[1:, :-1])
    target = _reflected(reflectors, scales, right.reshape(size, -1), "N").reshape(right.shape)
    return Tridiagonal(diagonal, off_diagonal[: size - 1], target, reflectors, scales)


def _reflected(reflectors: Floats, scales: Floats, columns: Floats, trans: str) -> Floats:
    """``Q columns`` for "T" or ``Qᵀ columns`` for "N": the transposed columns are in Fortran's order."""
    turned = np.array(columns, order="C")
    if len(turned) > 1:
        with one_blas_thread(len(turned) <= SMALL):
            work = _LAPACK_BLOCK * turned.shape[1] + _LAPACK_EXTRA
            turned[1:] = linalg.lapack.dormqr("R", trans, reflectors, scales, turned[1:].T, work)[0].T
    return turned


@cache
def lapack() -> Lapack:
    """The routines that our kernels call: SciPy exports those of its own LAPACK to C."""
    from scipy.linalg import cython_blas, cython_lapack

    return Lapack(cython_lapack.__pyx_capi__, cython_blas.__pyx_capi__)
