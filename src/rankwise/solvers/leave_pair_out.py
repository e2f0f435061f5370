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

from rankwise.errors import DataError
from rankwise.losses.squared import SquaredLoss
from rankwise.operators.blocks import pieces
from rankwise.operators.design import Design
from rankwise.preferences.differences import QueryDifferences
from rankwise.solvers.tridiagonal import Decomposition
from rankwise.types import Floats, Ties, Weighting

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

    def held_out_differences(self, y: Floats, place: slice) -> Floats:
        """``f_i − f_j`` by the model without rows i and j, for i in `place` and all j; O(m r) per row."""
        s, S, R = self.weight, self.weight.sum(), self.rows
        centred = y - (s @ y) / S
        fit, squares, N = R.T @ (R @ (s * centred)), np.einsum("ri,ri->i", R, R), R[:, place].T @ R
        if self.complement:
            inverse = _inverse(s)
            fit, squares, N = centred - fit, inverse - squares, -N
            N[np.arange(len(N)), np.arange(len(s))[place]] += inverse[place]
        residual, leverage, N = centred - fit, s * (1.0 / S + squares), 1.0 / S + N
        free_i, free_j = 1.0 - leverage[place, None], 1.0 - leverage[None, :]
        s_i, s_j, r_i, r_j = s[place, None], s[None, :], residual[place, None], residual[None, :]
        determinant = free_i * free_j - N * N * s_i * s_j
        held_i = free_j * r_i + N * s_j * r_j
        held_j = free_i * r_j + N * s_i * r_i
        with np.errstate(invalid="ignore", divide="ignore"):  # i = j, which is not a pair
            held = (held_i - held_j) / determinant
        return np.asarray((y[place, None] - y[None, :]) - held)


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
