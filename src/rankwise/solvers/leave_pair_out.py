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

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankwise.errors import DataError
from rankwise.losses.squared import SquaredLoss
from rankwise.operators.design import Design
from rankwise.preferences.differences import QueryDifferences
from rankwise.solvers.spectrum import Spectrum
from rankwise.types import Floats, Ties, Weighting

# Held-out differences are computed for about this many pairs at a time.
BLOCK_PAIRS = 1 << 21


@dataclass(frozen=True)
class CentredRidge:
    """Ridge regression, weighted, with an intercept: fits are ``H y = (11ᵀ/S + R diag(d) Rᵀ) diag(s) y``.

    Attributes
    ----------
    rows : Floats, shape (m, r)
        R.
    inner : Floats, shape (n_alphas, r)
        d for every alpha.
    weight : Floats, shape (m,)
        s.
    """

    rows: Floats
    inner: Floats
    weight: Floats

    def held_out_differences(self, y: Floats, alpha_index: int, place: slice) -> Floats:
        """``f_i − f_j`` by the model without rows i and j, for i in `place` and all j; O(m r) per row."""
        s, S = self.weight, self.weight.sum()
        centred = y - (s @ y) / S
        R, d = self.rows, self.inner[alpha_index]
        residual = centred - R @ (d * (R.T @ (s * centred)))
        leverage = s * (1.0 / S + np.einsum("ir,r,ir->i", R, d, R))
        N = 1.0 / S + (R[place] * d) @ R.T
        free_i, free_j = 1.0 - leverage[place, None], 1.0 - leverage[None, :]
        s_i, s_j, r_i, r_j = s[place, None], s[None, :], residual[place, None], residual[None, :]
        determinant = free_i * free_j - N * N * s_i * s_j
        held_i = free_j * r_i + N * s_j * r_j
        held_j = free_i * r_j + N * s_i * r_i
        with np.errstate(invalid="ignore", divide="ignore"):  # i = j, which is not a pair
            held = (held_i - held_j) / determinant
        return np.asarray((y[place, None] - y[None, :]) - held)


def leave_pair_out_error(ridge: CentredRidge, y: Floats) -> Floats:
    """The fraction of pairs with different labels misordered by the model fitted without both rows.

    A tied prediction counts as one half; the weight of a pair is ``s_i s_j``. For binary labels, this is 1
    minus the leave-pair-out estimate of the area under the ROC curve. O(m² r) time per alpha, O(m r) memory.
    """
    m, s = len(y), ridge.weight
    size = max(1, BLOCK_PAIRS // m)
    errors = np.zeros(len(ridge.inner))
    total = 0.0
    for start in range(0, m, size):
        place = slice(start, min(start + size, m))
        above = np.where(y[place, None] > y[None, :], s[place, None] * s[None, :], 0.0)
        total += float(above.sum())
        for a in range(len(errors)):
            predicted = ridge.held_out_differences(y, a, place)
            wrong = np.where(predicted < 0, 1.0, np.where(predicted > 0, 0.0, 0.5))
            errors[a] += float(np.vdot(wrong, above))
    return errors / total


def primal_ridge(
    design: Design, loss: SquaredLoss, spectrum: Callable[[float], Spectrum], alphas: Floats
) -> CentredRidge:
    """The regression equivalent to RankRLS on one ranking without two rows, from the spectrum of ``XᵀLX``.

    `spectrum` returns a spectrum that is accurate for every alpha at or above its argument.
    """
    F = _one_ranking(loss)
    scale, regression_alphas = _as_regression(F, alphas)
    accurate = spectrum(float(regression_alphas.min()) * scale)
    X = design.rows(np.arange(F.n_rows))
    s = F.row_weight
    rows = (X - (s @ X) / s.sum()) @ accurate.vectors
    inner = np.stack([scale * accurate.inverse(scale * alpha) for alpha in regression_alphas])
    return CentredRidge(rows, inner, s)


def dual_ridge(loss: SquaredLoss, spectrum: Spectrum, alphas: Floats) -> CentredRidge:
    """Like `primal_ridge`, from the spectrum of ``F K Fᵀ``."""
    F = _one_ranking(loss)
    scale, regression_alphas = _as_regression(F, alphas)
    s = F.row_weight
    inverse_root = np.divide(1.0, np.sqrt(s), out=np.zeros_like(s), where=s > 0)
    inner = [spectrum.values * spectrum.inverse(scale * alpha) for alpha in regression_alphas]
    return CentredRidge(spectrum.vectors * inverse_root[:, None], np.stack(inner), s)


def _as_regression(F: QueryDifferences, alphas: Floats) -> tuple[float, Floats]:
    """``c S``, the scale of the system of all rows, and the alphas of the regression on m − 2 rows."""
    S, m = float(F.row_weight.sum()), F.n_rows
    if F.weighting is Weighting.EXAMPLE:
        return 1.0, alphas
    if not (F.row_weight == 1.0).all():
        raise DataError("Leave-pair-out with sample_weight needs weighting='example'.")
    scale = float(F.query_weight[0]) * S
    return scale, alphas / (m - 2) if F.weighting is Weighting.PAIR else alphas * (m - 3) / 2


def _one_ranking(loss: SquaredLoss) -> QueryDifferences:
    F = loss.differences
    if not isinstance(F, QueryDifferences) or F.queries.n_queries != 1 or loss.target.ndim != 1:
        raise TypeError("Leave-pair-out needs one target of one global ranking.")
    if F.ties is not Ties.KEEP:
        raise DataError("Leave-pair-out needs ties='keep'; otherwise, pass an eval_set.")
    if F.n_rows < 4:
        raise DataError(f"Leave-pair-out needs at least 4 rows; got {F.n_rows}.")
    return F
