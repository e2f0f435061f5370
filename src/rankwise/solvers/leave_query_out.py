"""Scores of queries by models not trained on them, for every alpha, without fitting those models.

RankRLS is ridge regression on differences, and the differences of a query form a block of it: the weight c of
the other queries does not change when one is left out. The model without a set of queries q (rows
``Z = F_q X`` and targets ``t_q``) is therefore a downdate of the full model, whose normal matrix is
``A = VΛVᵀ``:

- ``(A − ZᵀZ + αI) w = r − Zᵀt_q``, decomposed again for each fold, O(n³) per fold and O(n²) per alpha; or,
  with ``D = (Λ + αI)⁻¹``, ``g = Vᵀr`` and ``P = Z V D^½``,
- ``w = V D^½ (I − PᵀP)⁻¹ D^½ (g − VᵀZᵀt_q)``, O(n³) per alpha, or
- ``w = V D (g − VᵀZᵀe)`` with ``e = (I − PPᵀ)⁻¹ (t_q − Z V D g)``, O(h² n + h³) per alpha for h rows;
- in the dual, ``F K Fᵀ = UΛUᵀ``: ``e = (U_q D U_qᵀ)⁻¹ U_q D Uᵀt`` and the scores are
  ``K Fᵀ U D (Uᵀt − U_qᵀe)``, O(h² m + h³) per alpha.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from rankwise.errors import ParameterError
from rankwise.losses.squared import SquaredLoss
from rankwise.operators.design import Design
from rankwise.preferences.differences import QueryDifferences
from rankwise.solvers.spectrum import EPS, RidgeSystem, Spectrum
from rankwise.threads import map_on_threads, one_blas_thread
from rankwise.types import Floats, Ints

Result = TypeVar("Result")

# Systems are solved in batches of about this many entries: for a small one, the call takes longer than the
# solution.
BATCH_ENTRIES = 1 << 18
# A fold is refitted if more of what it leaves would be lost to rounding: of each feature's sum of squares.
LARGEST_LOSS = 1e-7
# With fewer unknowns, the interpreter takes most of the time, and threads would only wait for each other.
THREADED_UNKNOWNS = 150


def leave_out_primal(
    design: Design,
    loss: SquaredLoss,
    system: RidgeSystem,
    spectrum: Spectrum,
    folds: Sequence[Ints],
    alphas: Floats,
) -> Iterator[Floats | None]:
    """The scores of the rows of each fold by the model of the other queries.

    Parameters
    ----------
    design : Design
    loss : SquaredLoss
        The loss on the labels of queries, for one target.
    system : RidgeSystem
        The system of all queries.
    spectrum : Spectrum
        A spectrum that is accurate for every alpha.
    folds : sequence of Ints
        Queries to leave out together, by position.
    alphas : Floats

    Yields
    ------
    Floats, shape (h, n_alphas)
        One row per row of the fold, in ascending order of row numbers.
    """
    F = _query_differences(loss)
    smallest = float(alphas.min())
    downdate = system.spectrum.resolves(smallest) or smallest == 0.0

    def score(fold: Ints) -> Floats | None:
        places = _places_of(F, fold)
        rows = _rows_of(F, places)
        X = design.rows(rows)
        Z = _differences_of_rows(F, X, places)
        t = np.concatenate([loss.target[place] for place in places])
        if _dominates(Z, system.matrix, smallest):
            return None
        if downdate and (smallest == 0.0 or _prefers_downdate(len(t), X.shape[1], len(alphas))):
            rest = RidgeSystem(system.matrix - Z.T @ Z, system.right - Z.T @ t)
            coef = rest.spectrum.solve_all(alphas)
        else:
            coef = _without_block(spectrum, Z, t, alphas)
        return np.asarray((X @ coef.T)[np.argsort(rows)])

    return _for_each(folds, score, design.shape[1])


def leave_out_dual(
    kernel_matrix: Floats, loss: SquaredLoss, system: RidgeSystem, folds: Sequence[Ints], alphas: Floats
) -> Iterator[Floats]:
    """Like `leave_out_primal`, from the coefficients of the rows of the other queries."""
    F = _query_differences(loss)
    spectrum, t = system.spectrum, system.right
    U = spectrum.vectors
    g = U.T @ t  # including the null space of the kernel, which the other queries may reach
    to_scores = (kernel_matrix @ F.adjoint(U)) * (spectrum.values > 0)  # KFᵀu = 0 where FKFᵀu = 0

    def score(fold: Ints) -> Floats:
        places = _places_of(F, fold)
        block, rows = np.concatenate([U[place] for place in places]), np.sort(_rows_of(F, places))
        scores = np.empty((len(rows), len(alphas)))
        for a, alpha in enumerate(alphas):
            if alpha == 0.0:
                scores[:, a] = kernel_matrix[rows] @ _minimum_norm_rest(system, F, places)
                continue
            D = spectrum.inverse(alpha)
            e = _solve((block * D) @ block.T, block @ (D * g), alpha)
            scores[:, a] = to_scores[rows] @ (D * (g - block.T @ e))
        return scores

    return _for_each(folds, score, len(t))


def _dominates(Z: Floats, matrix: Floats, smallest_alpha: float) -> bool:
    """Whether taking the fold with differences Z out of ``XᵀLX`` would leave mostly rounding errors."""
    total = matrix.diagonal()
    rest = np.maximum(total - np.einsum("ij,ij->j", Z, Z), 0.0) + smallest_alpha
    return bool((4.0 * EPS * total > LARGEST_LOSS * rest).any()) and smallest_alpha > 0.0


def _for_each(folds: Sequence[Ints], score: Callable[[Ints], Result], n_unknowns: int) -> Iterator[Result]:
    """Score every fold, in parallel if that pays off; the matrices are too small for BLAS threads."""
    with one_blas_thread():
        if n_unknowns < THREADED_UNKNOWNS:
            yield from map(score, folds)
        else:
            yield from map_on_threads(score, folds)


def _without_block(spectrum: Spectrum, Z: Floats, t: Floats, alphas: Floats) -> Floats:
    """Weights without the block of differences Z with targets t, for each alpha: shape (n_alphas, n)."""
    ZV, target = Z @ spectrum.vectors, spectrum.target
    h, n = ZV.shape
    block, rest = (None, None) if h < n else (ZV.T @ ZV, target - ZV.T @ t)
    inner = np.empty((len(alphas), n))
    step = max(1, BATCH_ENTRIES // (n * min(h, n)))
    for some in (slice(first, first + step) for first in range(0, len(alphas), step)):
        D = spectrum.inverse(alphas[some]).T
        if block is None:
            left = np.eye(h) - (ZV * D[:, None, :]) @ ZV.T
            e = _solve_stack(left, t - (D * target) @ ZV.T, alphas[some])
            inner[some] = D * (target - e @ ZV)
        else:
            root = np.sqrt(D)
            left = np.eye(n) - block * (root[:, :, None] * root[:, None, :])
            inner[some] = root * _solve_stack(left, root * rest, alphas[some])
    return inner @ spectrum.vectors.T


def _solve_stack(left: Floats, right: Floats, alphas: Floats) -> Floats:
    """Solve several systems; one row per alpha."""
    return _solve(left, right[:, :, None], alphas.min())[:, :, 0]


def _solve(left: Floats, right: Floats, alpha: float) -> Floats:
    try:
        return np.asarray(np.linalg.solve(left, right))
    except np.linalg.LinAlgError:
        raise ParameterError(
            f"The 'alphas' parameter contains {alpha:g}, which is too small to compute the model without a "
            "fold in double precision; use larger values, or 0."
        ) from None


def _prefers_downdate(h: int, n: int, n_alphas: int) -> bool:
    """Whether one n × n eigendecomposition takes fewer multiplications than a solve for every alpha."""
    return 10 * n**3 < n_alphas * (h**2 * n + h**3 / 3) + h * n**2


def _minimum_norm_rest(system: RidgeSystem, F: QueryDifferences, places: list[slice]) -> Floats:
    """The minimum-norm model of the other queries, which is not a limit of the formula above."""
    kept = np.ones(F.n_differences, dtype=bool)
    for place in places:
        kept[place] = False
    rest = RidgeSystem(system.matrix[np.ix_(kept, kept)], system.right[kept])
    z = np.zeros(F.n_differences)
    z[kept] = rest.spectrum.solve(0.0)
    return F.adjoint(z)


def _query_differences(loss: SquaredLoss) -> QueryDifferences:
    F = loss.differences
    if not isinstance(F, QueryDifferences) or loss.target.ndim != 1:
        raise TypeError("Leave-query-out needs a loss on the labels of one target.")
    return F


def _places_of(F: QueryDifferences, fold: Ints) -> list[slice]:
    return [slice(int(F.queries.offsets[q]), int(F.queries.offsets[q + 1])) for q in fold]


def _rows_of(F: QueryDifferences, places: list[slice]) -> Ints:
    grouped = np.concatenate([np.arange(place.start, place.stop) for place in places])
    return grouped if F.order is None else F.order[grouped]


def _differences_of_rows(F: QueryDifferences, X: Floats, places: list[slice]) -> Floats:
    starts = np.cumsum([0] + [place.stop - place.start for place in places])
    parts = [
        F.apply_rows(X[start:stop], place)
        for start, stop, place in zip(starts[:-1], starts[1:], places, strict=True)
    ]
    return np.concatenate(parts)
