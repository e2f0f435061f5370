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
from dataclasses import replace

import numpy as np

from rankwise._native import misordered_pairs
from rankwise.config import resolve_threads
from rankwise.errors import DataError
from rankwise.operators.blocks import product_on_threads
from rankwise.operators.design import Design
from rankwise.operators.kernel import check_kernel_fits
from rankwise.preferences.differences import QueryDifferences
from rankwise.ridge.leave_out.centred_ridge import CentredRidge, CloseFit, WholeSpectrum, inverse
from rankwise.ridge.leave_out.left_out_ties import LARGEST_TIE
from rankwise.ridge.spectrum import EPS
from rankwise.ridge.squared import SquaredLoss
from rankwise.ridge.tridiagonal import Decomposition, lapack
from rankwise.threads import one_blas_thread
from rankwise.types import Floats, Ties, Weighting

# Differences up to so many times the estimated effect of rounding count as ties. Compared with 60-digit
# arithmetic, the effect was up to twice the estimate.
TIED = 8.0


def leave_pair_out_error(ridges: Iterable[CentredRidge], y: Floats) -> Floats:
    """The fraction of pairs with different labels misordered by the model fitted without both rows.

    A tied prediction counts as one half; the weight of a pair is ``s_i s_j``. For binary labels, this is 1
    minus the leave-pair-out estimate of the area under the ROC curve. O(m² r) time per ridge, O(m r) memory.
    """
    return np.array([_misordered(ridge, y) for ridge in ridges])


def _misordered(ridge: CentredRidge, y: Floats) -> float:
    """Compare ``f_i − f_j``, by the model without rows i and j, with 0, for every row i and those below it.

    It counts as 0 where it may be: rounding would decide the order of rows that are equal, or that no other
    row tells apart. Let G be ``I − H``, e the residuals ``G_pp⁻¹ (Gy)_p`` of the two rows p, and ŷ the labels
    with theirs replaced by the predictions ``y_p − e``. An error Δ of G moves e by
    ``G_pp⁻¹ ((Δy)_p − Δ_pp e) = G_pp⁻¹ (Δŷ)_p``, and so the difference by at most
    ``‖Δ‖ ‖ŷ‖ (|u_i| + |u_j|)`` with ``u = G_pp⁻¹ (1, −1)``; weights scale rows and columns of G by √s.
    """
    # In ascending order of labels, the rows that any row should be above come first.
    order = np.argsort(y, kind="stable")
    y, s = y[order], ridge.weight[order]
    ridge = replace(ridge, rows=np.take(ridge.rows, order, axis=1), weight=s)
    centred, root = y - (s @ y) / s.sum(), np.sqrt(s)
    below, wrong = np.searchsorted(y, y), np.empty(len(y))
    with one_blas_thread():
        misordered_pairs(
            lapack(),
            ridge.rows,
            *ridge.products,
            s,
            root,
            inverse(root),
            ridge.free,
            ridge.residual(centred),
            y,
            below,
            min(TIED * ridge.rounding, LARGEST_TIE),
            float(np.linalg.norm(root * centred)),
            wrong,
            resolve_threads(),
        )
    total = np.append(0.0, np.cumsum(s))[below]
    return float(s @ wrong) / float(s @ total)


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
            spectrum = whole(_constant(F))
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
    rows = design.centred_rows(np.arange(F.n_rows), np.array([0, F.n_rows]), F.row_weight)
    rows -= (F.row_weight @ rows) / F.row_weight.sum()  # the rounding error of a mean far from zero
    columns = product_on_threads(rows, accurate.basis).T
    for alpha in system_alphas:
        R = np.sqrt(scale) * accurate.half_inverse(columns, alpha)
        yield CentredRidge(R, F.row_weight, EPS * accurate.condition(alpha))


def dual_ridges(
    kernel_matrix: Floats, loss: SquaredLoss, decomposition: Callable[[float], Decomposition], alphas: Floats
) -> Iterator[CentredRidge]:
    """Like `primal_ridges`, from ``F K Fᵀ``."""
    F = _one_ranking(loss)
    scale, system_alphas = _as_regression(F, alphas)
    accurate = decomposition(float(system_alphas.min()))
    # Kernel values that are far from zero compared with their differences have errors of their own size.
    largest = scale * float((F.row_weight * np.diag(kernel_matrix)).max())
    rounding = EPS * max(1.0, largest / (accurate.extremes[1] or largest or 1.0))
    inverse_root, constant = inverse(np.sqrt(F.row_weight)), _constant(F)
    for alpha in system_alphas:
        rows, complement = accurate.smoother(alpha)
        error = rounding * accurate.condition(alpha)
        if not complement:
            yield CentredRidge(rows * inverse_root, F.row_weight, error)
            continue
        # The intercept fits what is constant, which would outweigh all else that is left of a close fit.
        rows -= np.outer(rows @ constant, constant)
        yield CloseFit(rows * inverse_root, F.row_weight, error * min(1.0, float(np.vdot(rows, rows))))


def _as_regression(F: QueryDifferences, alphas: Floats) -> tuple[float, Floats]:
    """``c S``, the scale of the system of all rows, and its alphas for the regressions on m − 2 rows."""
    S, m = float(F.row_weight.sum()), F.n_rows
    if F.weighting is Weighting.EXAMPLE:
        return 1.0, alphas
    if not (F.row_weight == 1.0).all():
        raise DataError("Leave-pair-out with sample_weight needs weighting='example'.")
    scale = float(F.query_weight[0]) * S
    return scale, scale * (alphas / (m - 2) if F.weighting is Weighting.PAIR else alphas * (m - 3) / 2)


def _constant(F: QueryDifferences) -> Floats:
    """The vector of length 1 that is constant on the rows, as F weights them."""
    root = np.sqrt(F.row_weight)
    return np.asarray(root / np.linalg.norm(root))


def _one_ranking(loss: SquaredLoss) -> QueryDifferences:
    F = loss.differences
    if not isinstance(F, QueryDifferences) or F.queries.n_queries != 1 or loss.target.ndim != 1:
        raise TypeError("Leave-pair-out needs one target of one global ranking.")
    if F.ties is not Ties.KEEP:
        raise DataError("Leave-pair-out needs ties='keep'; otherwise, pass an eval_set.")
    if F.n_rows < 4:
        raise DataError(f"Leave-pair-out needs at least 4 rows; got {F.n_rows}.")
    return F
