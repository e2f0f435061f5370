"""Scores of queries by models that never saw them, for every alpha, without fitting those models.

RankRLS is ridge regression on differences, and the differences of a query are a block of it: the weight c of
the other queries does not change when one is taken out. So the model without a set of queries q (rows
``Z = F_q X`` and targets ``t_q``) is a downdate of the model of all, whose normal matrix is ``A = VΛVᵀ``:

- ``(A − ZᵀZ + αI) w = r − Zᵀt_q``, decomposed anew for each fold, O(n³) a fold and O(n²) an alpha; or, with
  ``D = (Λ + αI)⁻¹``, ``g = Vᵀr`` and ``P = Z V D^½``,
- ``w = V D^½ (I − PᵀP)⁻¹ D^½ (g − VᵀZᵀt_q)``, O(n³) an alpha, or
- ``w = V D (g − VᵀZᵀe)`` with ``e = (I − PPᵀ)⁻¹ (t_q − Z V D g)``, O(h² n + h³) an alpha for h held-out rows;
- in the example space ``F K Fᵀ = UΛUᵀ``: ``e = (U_q D U_qᵀ)⁻¹ U_q D Uᵀt`` and the scores are
  ``K Fᵀ U D (Uᵀt − U_qᵀe)``, O(h² m + h³) an alpha.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import singledispatch
from typing import Any

import numpy as np

from rankwise.errors import ParameterError
from rankwise.preferences.differences import QueryDifferences
from rankwise.solvers.spaces import ExampleSpace, FeatureSpace
from rankwise.solvers.spectrum import RidgeSystem, Spectrum
from rankwise.threads import one_blas_thread, resolve_threads
from rankwise.types import Floats, Ints

# The systems of so many alphas are solved at once as have this many entries: calling for a small one takes
# longer than solving it.
BATCH_ENTRIES = 1 << 18
# With fewer unknowns most of the time goes to the interpreter, which threads only take from each other.
THREADED_UNKNOWNS = 150


@singledispatch
def held_out_scores(space: Any, folds: Sequence[Ints], alphas: Floats) -> Floats:
    """Scores of each row by the model fitted without the fold that holds the row's query.

    Parameters
    ----------
    space : FeatureSpace or ExampleSpace
        With a loss on scores in queries and one target.
    folds : sequence of Ints
        Sets of queries to be left out together, by their position.
    alphas : Floats

    Returns
    -------
    Floats, shape (m, n_alphas)
        In the caller's row order; NaN for rows that no fold holds.
    """
    raise TypeError(f"No hold-out is known for {type(space).__name__}.")


@held_out_scores.register(FeatureSpace)
def _(space: FeatureSpace, folds: Sequence[Ints], alphas: Floats) -> Floats:
    F = _query_differences(space)
    smallest = float(alphas.min())
    downdate = space.system.spectrum.resolves(smallest) or smallest == 0.0
    spectrum = space.spectrum(smallest)
    scores = np.full((F.n_rows, len(alphas)), np.nan)

    def score(fold: Ints) -> None:
        places = _places_of(F, fold)
        rows = _rows_of(F, places)
        X = space.design.rows(rows)
        Z = _differences_of_rows(F, X, places)
        t = np.concatenate([space.loss.target[place] for place in places])
        if downdate and (smallest == 0.0 or _prefers_downdate(len(t), X.shape[1], len(alphas))):
            rest = RidgeSystem(space.system.matrix - Z.T @ Z, space.system.right - Z.T @ t)
            coef = rest.spectrum.solve_all(alphas)
        else:
            coef = _without_block(spectrum, Z, t, alphas)
        scores[rows] = X @ coef.T

    _for_each(folds, score, space.design.shape[1])
    return scores


@held_out_scores.register(ExampleSpace)
def _(space: ExampleSpace, folds: Sequence[Ints], alphas: Floats) -> Floats:
    F = _query_differences(space)
    spectrum, t = space.system.spectrum, space.system.right
    U = spectrum.vectors
    g = U.T @ t  # with its parts in the null space of the kernel, which the other queries may reach
    to_scores = (space.kernel @ F.adjoint(U)) * (spectrum.values > 0)  # KFᵀu = 0 where FKFᵀu = 0
    scores = np.full((F.n_rows, len(alphas)), np.nan)

    def score(fold: Ints) -> None:
        places = _places_of(F, fold)
        block, rows = np.concatenate([U[place] for place in places]), _rows_of(F, places)
        for a, alpha in enumerate(alphas):
            if alpha == 0.0:
                scores[rows, a] = _refitted(space, F, places, rows)
                continue
            D = spectrum.inverse(alpha)
            e = _solve((block * D) @ block.T, block @ (D * g), alpha)
            scores[rows, a] = to_scores[rows] @ (D * (g - block.T @ e))

    _for_each(folds, score, len(t))
    return scores


def _for_each(folds: Sequence[Ints], score: Callable[[Ints], None], n_unknowns: int) -> None:
    """Score every fold, several at a time if that pays; their matrices are too small for threads of BLAS."""
    with one_blas_thread():
        if n_unknowns < THREADED_UNKNOWNS:
            for fold in folds:
                score(fold)
            return
        with ThreadPoolExecutor(resolve_threads()) as pool:
            deque(pool.map(score, folds), maxlen=0)


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
    """The solutions of several systems, one a row and an alpha."""
    return _solve(left, right[:, :, None], alphas.min())[:, :, 0]


def _solve(left: Floats, right: Floats, alpha: float) -> Floats:
    try:
        return np.asarray(np.linalg.solve(left, right))
    except np.linalg.LinAlgError:
        raise ParameterError(
            f"The 'alphas' parameter holds {alpha:g}, too small to tell in double precision what the model "
            "without a fold is; take larger ones, or 0."
        ) from None


def _prefers_downdate(h: int, n: int, n_alphas: int) -> bool:
    """Whether one n × n eigendecomposition is cheaper than a solve for every alpha (in multiplications)."""
    return 10 * n**3 < n_alphas * (h**2 * n + h**3 / 3) + h * n**2


def _refitted(space: ExampleSpace, F: QueryDifferences, places: list[slice], rows: Ints) -> Floats:
    """The minimum-norm model of the other queries, which is no limit of the formula above."""
    kept = np.ones(F.n_differences, dtype=bool)
    for place in places:
        kept[place] = False
    rest = RidgeSystem(space.system.matrix[np.ix_(kept, kept)], space.system.right[kept])
    z = np.zeros(F.n_differences)
    z[kept] = rest.spectrum.solve(0.0)
    return np.asarray(space.kernel[rows] @ F.adjoint(z))


def _query_differences(space: FeatureSpace | ExampleSpace) -> QueryDifferences:
    F = space.loss.differences
    if not isinstance(F, QueryDifferences) or space.loss.target.ndim != 1:
        raise TypeError("Only a loss on the scores of one target can be held out by query.")
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
