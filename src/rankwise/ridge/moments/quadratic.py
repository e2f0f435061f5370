"""The squared loss of a linear function, as a quadratic in its weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Floats, Ints

# A rounded result is off by at most this fraction of itself.
UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2.0
# What is multiplied was rounded a few times before.
_FEW = 8


@dataclass(frozen=True, eq=False)
class Quadratic:
    """``‖F X w − t‖² = wᵀAw − 2bᵀw + c``, and a bound on the rounding errors of A and b.

    Attributes
    ----------
    matrix : Floats, shape (n, n)
        ``A = XᵀLX``.
    right : Floats, shape (n,) or (n, k)
        ``b = XᵀFᵀt``, which is ``XᵀLy`` for labels y; k targets share one A.
    constant : Floats, shape () or (k,)
        ``c = ‖t‖²``, which is ``yᵀLy``.
    rounding : Floats, shape (n + 1,), or None
        ``A_ij`` is off by at most ``√(ρ_i ρ_j)``, and ``b_j``, summed in squares over targets, by at most
        ``√(ρ_j ρ_n)``: sums of products are as exact as the squares are large, for each feature. None if
        not tracked.

    Notes
    -----
    If two matrices are bounded like this, their sum is bounded by the sum of the ρ (Cauchy-Schwarz).
    """

    matrix: Floats
    right: Floats
    constant: Floats
    rounding: Floats | None = None

    @classmethod
    def of_rows(cls, table: Floats, shape: tuple[int, ...], depth: int) -> Self:
        """``Σ zzᵀ`` of differences z, rows of a table that hold features and labels; b has this shape.

        The differences are the results of sums of at most `depth` terms.
        """
        X, t = table[:, : shape[0]], table[:, shape[0] :]
        with one_blas_thread(shape[0] <= SMALL):
            made = cls(X.T @ X, (X.T @ t).reshape(shape), (t**2).sum(axis=0).reshape(shape[1:]))
        return made.with_rounding(len(table) + 2 * depth, (X**2).sum(axis=0), float((t**2).sum()))

    def with_rounding(self, depth: int, squares: Floats, target: float) -> Self:
        """The same numbers, with the bound for sums of `depth` products.

        Parameters
        ----------
        depth : int
        squares : Floats, shape (n,)
            For each feature, the sum of the squares of what was multiplied.
        target : float
            The same for what b was multiplied with.
        """
        rounding = (depth + _FEW) * UNIT_ROUNDOFF * np.append(squares, target)
        return replace(self, rounding=rounding)

    def without(self, Z: Floats, t: Floats) -> Self:
        """The quadratic without some of the differences that it sums; nobody asks how exact it is."""
        return type(self)(self.matrix - Z.T @ Z, self.right - Z.T @ t, self.constant - (t**2).sum(axis=0))

    def with_features(self, at: Ints, n_features: int) -> Self:
        """The quadratic in more weights, of features that are 0; the old ones are at these places."""
        matrix, right = np.zeros((n_features, n_features)), np.zeros((n_features, *self.shape[1:]))
        matrix[np.ix_(at, at)], right[at] = self.matrix, self.right
        rounding = None
        if self.rounding is not None:
            rounding = np.zeros(n_features + 1)
            rounding[at], rounding[-1] = self.rounding[:-1], self.rounding[-1]
        return type(self)(matrix, right, self.constant, rounding)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of b."""
        return self.right.shape

    @property
    def matrix_error(self) -> float:
        """A bound on the spectral norm of the error of A."""
        assert self.rounding is not None
        return float(self.rounding[:-1].sum())

    @property
    def right_error(self) -> float:
        """A bound on the norm of the error of b."""
        assert self.rounding is not None
        return float(np.sqrt(self.matrix_error * self.rounding[-1]))

    def __add__(self, other: Quadratic) -> Self:
        return self._rounded(
            self.matrix + other.matrix, self.right + other.right, self.constant + other.constant, other
        )

    def __sub__(self, other: Quadratic) -> Self:
        return self._rounded(
            self.matrix - other.matrix, self.right - other.right, self.constant - other.constant, other
        )

    def __mul__(self, factor: float) -> Self:
        scaled = type(self)(factor * self.matrix, factor * self.right, factor * self.constant)
        assert self.rounding is not None
        return replace(scaled, rounding=factor * self.rounding + scaled._last_bits())

    def _rounded(self, A: Floats, b: Floats, c: Floats, other: Quadratic) -> Self:
        if self.rounding is None or other.rounding is None:
            return type(self)(A, b, c)
        rounding = self.rounding + other.rounding + self._last_bits() + other._last_bits()
        return type(self)(A, b, c, rounding)

    def _last_bits(self) -> Floats:
        """The bound if every number is rounded once."""
        squares = np.append(np.diag(self.matrix), self.constant.sum())
        return np.asarray(UNIT_ROUNDOFF * np.maximum(squares, 0.0))

    def __call__(self, coef: Floats) -> Floats:
        """The loss of weights, shape (n,) or (k, n)."""
        w = coef.T
        return np.asarray((w * (self.matrix @ w - 2.0 * self.right)).sum(axis=0) + self.constant)
