"""Scores of two rows by the model fitted without both, for every pair of rows of one global ranking.

If all pairs are kept, RankRLS on one ranking is weighted ridge regression with an unpenalized intercept:
``L = c S (diag(s) − ssᵀ/S)`` for row weights s with sum S. Removing rows i and j changes the mean that the
others are compared with, but the result is still the same kind of regression, on the other rows. With
``f = H y``, its fit to all rows, the residuals of the two rows under the model of the others are
``(I − H)_{ij,ij}⁻¹ (y − f)_{ij}``, a 2 × 2 system.

"Fitted without both" means the same alpha and weighting on the m − 2 other rows. Under "example" (c = 1/S),
the alpha of the regression is unchanged. Under "pair" (c = 1), it is alpha/(m − 2), and under "query"
(c = 2/(S(S − 1))), it is alpha (m − 3)/2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from rankwise.errors import DataError
from rankwise.losses.squared import SquaredLoss
from rankwise.operators.blocks import pieces
from rankwise.operators.design import Design
from rankwise.operators.kernel import check_kernel_fits
from rankwise.preferences.differences import QueryDifferences
from rankwise.solvers.spectrum import EPS
from rankwise.solvers.tridiagonal import Decomposition
from rankwise.types import Floats, Ties, Weighting

# A regression that leaves less than this of a label to its residual has lost too many digits of it.
LEAST_FREE = 1e-6
# An alpha this small compared with all eigenvalues but 0 stands for the limit 0.
NEAR_LIMIT = 1e-7
# Held-out differences are computed for about this many pairs at a time.
BLOCK_PAIRS = 1 << 21


@dataclass(frozen=True)
class CentredRidge:
    """Ridge regression, weighted, with an intercept: fits are ``H y = (11ᵀ/S + N) diag(s) y``.

    Attributes
    ----------
    rows : Floats, shape (r, m)
        R, where ``N = RᵀR`` or, if `complement`, ``diag(1/s) − RᵀR``.
    weight : Floats, shape (m,)
        s.
    complement : bool
    """

    rows: Floats
    weight: Floats
    complement: bool = False

    @property
    def loses_digits(self) -> bool:
        """Whether little is left of ``1 − H_ii`` for some row, or of ``I − H`` but for one direction."""
        free = self._free()[self.weight > 0.0]
        return bool((free < LEAST_FREE).any()) or float(free.sum()) < 1.0 + LEAST_FREE * len(free)

    def held_out_differences(self, y: Floats, place: slice) -> Floats:
        """``f_i − f_j`` by the model without rows i and j, for i in `place` and all j; O(m r) per row."""
        s = self.weight
        residual, free, N = self._residual(y - (s @ y) / s.sum()), self._free(), self._between(place)
        free_i, free_j = free[place, None], free[None, :]
        s_i, s_j, r_i, r_j = s[place, None], s[None, :], residual[place, None], residual[None, :]
        determinant = free_i * free_j - N * N * s_i * s_j
        held_i = free_j * r_i + N * s_j * r_j
        held_j = free_i * r_j + N * s_i * r_i
        with np.errstate(invalid="ignore", divide="ignore"):  # i = j, which is not a pair
            held = (held_i - held_j) / determinant
        return np.asarray((y[place, None] - y[None, :]) - held)

    def _residual(self, centred: Floats) -> Floats:
        """``(I − H) y``."""
        fit = self.rows.T @ (self.rows @ (self.weight * centred))
        return np.asarray(fit if self.complement else centred - fit)

    def _free(self) -> Floats:
        """``1 − H_ii``."""
        s, squares = self.weight, np.einsum("ri,ri->i", self.rows, self.rows)
        return np.asarray(1.0 - s * (1.0 / s.sum() + (_inverse(s) - squares if self.complement else squares)))

    def _between(self, place: slice) -> Floats:
        """``H_ij / s_j`` for i in `place`."""
        s, N = self.weight, self.rows[:, place].T @ self.rows
        if self.complement:
            N = -N
            N[np.arange(len(N)), np.arange(len(s))[place]] += _inverse(s)[place]
        return np.asarray(1.0 / s.sum() + N)


@dataclass(frozen=True)
class CloseFit(CentredRidge):
    """A regression that fits some labels almost exactly: ``I − H = RᵀR diag(s)``, up to a factor.

    Held-out residuals are ``(I − H)_{ij,ij}⁻¹ (I − H) y``, so a common factor does not matter, and ``I − H``
    is added up from its own eigenvalues ``alpha / (v + alpha)`` instead of being left over from H.
    """

    def _residual(self, centred: Floats) -> Floats:
        return np.asarray(self.rows.T @ (self.rows @ (self.weight * centred)))

    def _free(self) -> Floats:
        return np.asarray(self.weight * np.einsum("ri,ri->i", self.rows, self.rows))

    def _between(self, place: slice) -> Floats:
        return np.asarray(-self.rows[:, place].T @ self.rows)


@dataclass(frozen=True)
class WholeSpectrum:
    """All eigenvalues of ``F K Fᵀ`` and their vectors, but for the one that is constant on the rows."""

    values: Floats
    vectors: Floats

    @classmethod
    def of_matrix(cls, matrix: Floats, constant: Floats) -> WholeSpectrum:
        """O(m³). The constant vector, of eigenvalue 0, is moved to the end of the spectrum, and cut off."""
        top = 2.0 * float(np.abs(matrix).sum(axis=0).max()) or 1.0
        values, vectors = linalg.eigh(matrix + top * np.outer(constant, constant), check_finite=False)
        return cls._cut(values[:-1], vectors[:, :-1], len(values) * EPS)

    @classmethod
    def of_rows(cls, differences: Floats, constant: Floats) -> WholeSpectrum:
        """The same for ``K = XXᵀ``, from the singular values of ``FX``, which keep twice as many digits."""
        top = 2.0 * float(np.linalg.norm(differences)) or 1.0
        vectors, roots, _ = linalg.svd(np.column_stack([differences, top * constant]), check_finite=False)
        values = np.append(np.square(roots), np.zeros(max(0, len(vectors) - len(roots))))
        return cls._cut(values[1:], vectors[:, 1:], (max(differences.shape) * EPS) ** 2)

    @classmethod
    def _cut(cls, values: Floats, vectors: Floats, rcond: float) -> WholeSpectrum:
        return cls(np.where(values <= rcond * values.max(initial=0.0), 0.0, values), vectors)

    def close_fit(self, alpha: float, weight: Floats) -> CloseFit:
        """The regression with this alpha, or with one so small that the solution is that of the limit 0.

        The limit itself is singular for a pair if ``I − H`` has but one eigenvalue that does not go to 0.
        """
        positive = self.values[self.values > 0.0]
        if len(positive) < len(self.values) and len(positive):
            alpha = max(alpha, NEAR_LIMIT * float(positive.min()))
        total = self.values + alpha
        share = total.min() / total
        return CloseFit((self.vectors * np.sqrt(share)).T * np.sqrt(_inverse(weight)), weight)


def leave_pair_out_error(ridges: Iterable[CentredRidge], y: Floats) -> Floats:
    """The fraction of pairs with different labels misordered by the model fitted without both rows.

    A tied prediction counts as one half; the weight of a pair is ``s_i s_j``. For binary labels, this is 1
    minus the leave-pair-out estimate of the area under the ROC curve. O(m² r) time per ridge, O(m r) memory.
    """
    return np.array([_misordered(ridge, y) for ridge in ridges])


def _misordered(ridge: CentredRidge, y: Floats) -> float:
    m, s = len(y), ridge.weight
    error = total = 0.0
    for place in pieces(0, m, max(1, BLOCK_PAIRS // m)):
        above = np.where(y[place, None] > y[None, :], s[place, None] * s[None, :], 0.0)
        predicted = ridge.held_out_differences(y, place)
        wrong = np.where(predicted < 0, 1.0, np.where(predicted > 0, 0.0, 0.5))
        error += float(np.vdot(wrong, above))
        total += float(above.sum())
    return error / total


def resolved(
    ridges: Iterable[CentredRidge],
    loss: SquaredLoss,
    alphas: Floats,
    whole: Callable[[Floats], WholeSpectrum],
) -> Iterator[CentredRidge]:
    """The same regressions, those that lost digits from the whole spectrum; O(m³) once, if there are any.

    `whole` returns the spectrum, given the vector that is constant on the rows.
    """
    F = _one_ranking(loss)
    spectrum = None
    for ridge, alpha in zip(ridges, _as_regression(F, alphas)[1], strict=True):
        if not ridge.loses_digits:
            yield ridge
            continue
        if spectrum is None:
            check_kernel_fits(F.n_rows)
            root = np.sqrt(F.row_weight)
            spectrum = whole(root / np.linalg.norm(root))
        yield spectrum.close_fit(float(alpha), F.row_weight)


def differences_of(design: Design, loss: SquaredLoss) -> Floats:
    """``FX`` of one ranking."""
    F = _one_ranking(loss)
    rows, whole = np.arange(F.n_rows), np.array([0, F.n_rows])
    return F.apply(design.centred_rows(rows, whole, F.row_weight))


def primal_ridges(
    design: Design, loss: SquaredLoss, decomposition: Callable[[float], Decomposition], alphas: Floats
) -> Iterator[CentredRidge]:
    """The regressions equivalent to RankRLS on one ranking without two rows, from ``XᵀLX``; one per alpha.

    `decomposition` returns one that is accurate for every alpha at or above its argument.
    """
    F = _one_ranking(loss)
    scale, system_alphas = _as_regression(F, alphas)
    accurate = decomposition(float(system_alphas.min()))
    whole = np.array([0, F.n_rows])
    columns = (design.centred_rows(np.arange(F.n_rows), whole, F.row_weight) @ accurate.basis).T
    for alpha in system_alphas:
        yield CentredRidge(np.sqrt(scale) * accurate.half_inverse(columns, alpha), F.row_weight)


def dual_ridges(
    loss: SquaredLoss, decomposition: Callable[[float], Decomposition], alphas: Floats
) -> Iterator[CentredRidge]:
    """Like `primal_ridges`, from ``F K Fᵀ``."""
    F = _one_ranking(loss)
    _, system_alphas = _as_regression(F, alphas)
    accurate = decomposition(float(system_alphas.min()))
    inverse_root = np.sqrt(_inverse(F.row_weight))
    for alpha in system_alphas:
        rows, complement = accurate.smoother(alpha)
        yield CentredRidge(rows * inverse_root, F.row_weight, complement)


def _as_regression(F: QueryDifferences, alphas: Floats) -> tuple[float, Floats]:
    """``c S``, the scale of the system of all rows, and its alphas for the regressions on m − 2 rows."""
    S, m = float(F.row_weight.sum()), F.n_rows
    if F.weighting is Weighting.EXAMPLE:
        return 1.0, alphas
    if not (F.row_weight == 1.0).all():
        raise DataError("Leave-pair-out with sample_weight needs weighting='example'.")
    scale = float(F.query_weight[0]) * S
    return scale, scale * (alphas / (m - 2) if F.weighting is Weighting.PAIR else alphas * (m - 3) / 2)


def _inverse(weight: Floats) -> Floats:
    return np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0)


def _one_ranking(loss: SquaredLoss) -> QueryDifferences:
    F = loss.differences
    if not isinstance(F, QueryDifferences) or F.queries.n_queries != 1 or loss.target.ndim != 1:
        raise TypeError("Leave-pair-out needs one target of one global ranking.")
    if F.ties is not Ties.KEEP:
        raise DataError("Leave-pair-out needs ties='keep'; otherwise, pass an eval_set.")
    if F.n_rows < 4:
        raise DataError(f"Leave-pair-out needs at least 4 rows; got {F.n_rows}.")
    return F
