"""Scores of queries by models not trained on them, for every alpha, without fitting those models.

RankRLS is ridge regression on differences, and the differences of a query form a block of it: the weight c of
the other queries does not change when one is left out. The model without a set of queries q (rows
``Z = F_q X`` and targets ``t_q``) is therefore a downdate of the full model, whose normal matrix is
``A = QTQᵀ`` with a tridiagonal T. With ``D = (T + αI)⁻¹`` and ``g = Qᵀr``, it is

- ``(A − ZᵀZ + αI) w = r − Zᵀt_q``, reduced to a tridiagonal system once more for each fold, O(n³) per fold
  and O(n²) per alpha; or
- ``w = Q D (g − Bᵀe)`` with ``B = ZQ`` and ``e = (I − B D Bᵀ)⁻¹ (t_q − B D g)``, O(h² n + h³) per alpha for
  h rows.

Scores are up to a constant for each query, because only differences inside a query matter. The dual is in
`leave_query_out_dual`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from rankwise._native import FoldRows, left_out_blocks, left_out_systems
from rankwise.operators.design import Design
from rankwise.preferences.differences import QueryDifferences
from rankwise.ridge.leave_out.left_out_batches import Batch, batches
from rankwise.ridge.leave_out.left_out_ties import ScoreRounding
from rankwise.ridge.spectrum import EPS, RidgeSystem
from rankwise.ridge.squared import SquaredLoss
from rankwise.ridge.tridiagonal import WELL_CONDITIONED, Decomposition, lapack
from rankwise.threads import one_blas_thread, resolve_threads
from rankwise.types import Bools, Floats, Ints

# A fold is refitted if more of what it leaves would be lost to rounding.
LARGEST_LOSS = 1e-7
LEAST_SHARE = 4.0 * EPS / LARGEST_LOSS


def leave_out_primal(
    design: Design,
    loss: SquaredLoss,
    system: RidgeSystem,
    decomposition: Decomposition,
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
    decomposition : Decomposition
        One that is accurate for every alpha.
    folds : sequence of Ints
        Queries to leave out together, by position.
    alphas : Floats

    Yields
    ------
    Floats, shape (h, n_alphas), or None
        One row per row of the fold, in ascending order of row numbers; None if too few digits would be left.
    """
    F, n = query_differences(loss), design.shape[1]
    score = _scorer(design, loss, system, decomposition, folds, alphas)
    rounding = ScoreRounding.primal(F, decomposition, alphas)
    for batch in batches(F, folds, n):
        yield from rounding.tied(score(batch), batch.folds)


def _scorer(
    design: Design,
    loss: SquaredLoss,
    system: RidgeSystem,
    decomposition: Decomposition,
    folds: Sequence[Ints],
    alphas: Floats,
) -> Callable[[Batch], Iterator[Floats | None]]:
    """What scores the folds of a batch for these alphas in the fewest multiplications."""
    positive = alphas > 0.0
    # The rest has no larger eigenvalue than the whole: if the whole does not resolve 0, no fold does.
    if not positive.all() and not system.tridiagonal.resolves(0.0):
        at_zero = _MinimumNorm(design, loss, system)
        if not positive.any():
            return at_zero
        above = _scorer(design, loss, system, decomposition, folds, alphas[positive])
        return lambda batch: map(partial(_joined, positive), at_zero(batch), above(batch))
    smallest = float(alphas.min())
    sizes = np.array([query_differences(loss).queries.sizes[fold].sum() for fold in folds], dtype=np.float64)
    resolves = system.tridiagonal.resolves(smallest)
    if smallest == 0.0 or (resolves and _prefers_systems(sizes, design.shape[1], len(alphas))):
        return _Systems(design, loss, system, alphas)
    return _Blocks(design, loss, decomposition, alphas)


def _joined(positive: Bools, at_zero: Floats | None, above: Floats | None) -> Floats | None:
    """The scores of a fold for every alpha, from those at 0 and those above."""
    if at_zero is None or above is None:
        return None
    scores = np.empty((len(above), len(positive)))
    scores[:, ~positive], scores[:, positive] = at_zero, above
    return scores


def _prefers_systems(sizes: Floats, n: int, n_alphas: int) -> bool:
    """Whether a tridiagonal form for each fold takes fewer multiplications than a solve for every alpha."""
    systems = len(sizes) * (4 / 3 * n**3 + n_alphas * n**2) + sizes.sum() * n**2 / 2
    h = np.minimum(sizes, n)
    blocks = sizes.sum() * n**2 + n_alphas * (h**2 * n / 2 + h**3 / 6).sum()
    return bool(systems < blocks)


class _Systems:
    """Subtract each fold from the system, and reduce what is left to a tridiagonal one."""

    def __init__(self, design: Design, loss: SquaredLoss, system: RidgeSystem, alphas: Floats) -> None:
        self._design, self._loss, self._system, self._alphas = design, loss, system, alphas
        self._smallest = float(alphas.min())

    def __call__(self, batch: Batch) -> Iterator[Floats | None]:
        X = batch.centred_rows(self._design)
        Z, t = batch.differences(X), self._loss.target[batch.places]
        scores = np.empty((len(X), len(self._alphas)))
        resolved = np.empty(len(batch.folds), dtype=np.bool_)
        # The rest has no larger eigenvalue than the whole.
        least = WELL_CONDITIONED * self._system.tridiagonal.extremes[1] - self._smallest
        with one_blas_thread(len(resolved) > 1):
            left_out_systems(
                lapack(),
                self._system.matrix,
                self._system.right,
                FoldRows(Z, batch.offsets),
                t,
                FoldRows(X, batch.offsets),
                self._alphas,
                least,
                LEAST_SHARE,
                scores,
                resolved,
                resolve_threads(),
            )
        return unless_lost(batch, scores, resolved)


class _MinimumNorm:
    """The minimum-norm solution (alpha = 0) without each fold, from the rank of what is left."""

    def __init__(self, design: Design, loss: SquaredLoss, system: RidgeSystem) -> None:
        self._design, self._loss, self._system = design, loss, system

    def __call__(self, batch: Batch) -> Iterator[Floats | None]:
        X = batch.centred_rows(self._design)
        Z, t = batch.differences(X), self._loss.target[batch.places]
        scores, resolved = np.empty((len(X), 1)), np.empty(len(batch.folds), dtype=np.bool_)
        for f, place in enumerate(slice(*ends) for ends in pairwise(batch.offsets)):
            rest = RidgeSystem(
                self._system.matrix - Z[place].T @ Z[place], self._system.right - Z[place].T @ t[place]
            )
            resolved[f] = leaves_enough(np.diag(rest.matrix), np.diag(self._system.matrix))
            if resolved[f]:
                scores[place, 0] = X[place] @ rest.spectrum.solve(0.0)
        return unless_lost(batch, scores, resolved)


def leaves_enough(left: Floats, total: Floats) -> bool:
    """Whether what a fold leaves of the diagonal has digits that rounding the whole did not cost it."""
    return bool((left >= LEAST_SHARE * total).all())


class _Blocks:
    """Correct the solution of the whole system by that of a small one for each fold and alpha."""

    def __init__(
        self, design: Design, loss: SquaredLoss, decomposition: Decomposition, alphas: Floats
    ) -> None:
        self._design, self._loss, self._alphas = design, loss, alphas
        self._decomposition = decomposition

    def __call__(self, batch: Batch) -> Iterator[Floats | None]:
        rows = batch.centred_rows(self._design) @ self._decomposition.basis
        B, t, offsets = _at_most_square(
            batch.differences(rows), self._loss.target[batch.places], batch.offsets
        )
        scores, resolved = without_blocks(
            self._decomposition,
            self._decomposition.target,
            (FoldRows(B, offsets), t),
            (rows, batch.offsets),
            self._alphas,
            LEAST_SHARE,
        )
        return unless_lost(batch, scores, resolved)


def without_blocks(
    decomposition: Decomposition,
    right: Floats,
    differences: tuple[FoldRows, Floats | None],
    scored: tuple[Floats, Ints],
    alphas: Floats,
    tolerance: float,
) -> tuple[Floats, Bools]:
    """Scores for all alphas, and whether there are any, for each fold; see the module docstring."""
    rows, offsets = scored
    scores, resolved = np.empty((len(rows), len(alphas))), np.empty(len(offsets) - 1, dtype=np.bool_)
    with one_blas_thread(len(resolved) > 1):
        left_out_blocks(
            lapack(),
            decomposition.diagonal,
            decomposition.off_diagonal,
            right,
            *differences,
            FoldRows(rows, offsets),
            alphas,
            tolerance,
            scores,
            resolved,
            resolve_threads(),
        )
    return scores, resolved


def _at_most_square(B: Floats, t: Floats, offsets: Ints) -> tuple[Floats, Floats, Ints]:
    """The same products ``BᵀB`` and ``Bᵀt`` of each fold from at most as many rows as columns."""
    n = B.shape[1]
    if np.diff(offsets).max() <= n:
        return B, t, offsets
    parts = []
    for first, last in pairwise(offsets):
        part = np.column_stack([B[first:last], t[first:last]])
        parts.append(part if len(part) <= n else np.linalg.qr(part, mode="r")[:n])
    joined = np.concatenate(parts)
    ends = np.cumsum([len(part) for part in parts])
    return np.ascontiguousarray(joined[:, :n]), joined[:, n].copy(), np.concatenate([[0], ends])


def unless_lost(batch: Batch, scores: Floats, resolved: Bools) -> Iterator[Floats | None]:
    """The scores of each fold; None if it is not resolved."""
    found = batch.by_fold(scores)
    return (one if kept else None for one, kept in zip(found, resolved, strict=True))


def query_differences(loss: SquaredLoss) -> QueryDifferences:
    """The differences of a loss of which queries can be left out."""
    F = loss.differences
    if not isinstance(F, QueryDifferences) or loss.target.ndim != 1:
        raise TypeError("Leave-query-out needs a loss on the labels of one target.")
    return F
