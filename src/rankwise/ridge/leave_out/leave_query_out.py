"""Scores of queries by models not trained on them, for every alpha, without fitting those models.

RankRLS is ridge regression on differences, and the differences of a query form a block of it: the weight c of
the other queries does not change when one is left out. The model without a set of queries q (rows
``Z = F_q X`` and targets ``t_q``) is therefore a downdate of the full model, whose normal matrix is
``A = QTQᵀ`` with a tridiagonal T. With ``D = (T + αI)⁻¹`` and ``g = Qᵀr``, it is

- ``(A − ZᵀZ + αI) w = r − Zᵀt_q``, reduced to a tridiagonal system once more for each fold, O(n³) per fold
  and O(n²) per alpha; or
- ``w = Q D (g − Bᵀe)`` with ``B = ZQ`` and ``e = (I − B D Bᵀ)⁻¹ (t_q − B D g)``, O(h² n + h³) per alpha for
  h rows.

Scores are up to a constant for each query, because only differences inside a query matter; if those across
queries do, too, up to a constant of all rows. The dual is in `leave_query_out_dual`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from rankwise._native import FoldRows, left_out_blocks
from rankwise.config import resolve_threads
from rankwise.operators.blocks import product_on_threads
from rankwise.operators.design import Design
from rankwise.ridge.leave_out.left_out_batches import Batch, batches_of_rows, fold_sizes, query_differences
from rankwise.ridge.leave_out.left_out_systems import (
    LARGE_FOLD,
    LEAST_SHARE,
    LargeFolds,
    MinimumNorm,
    Systems,
    Whole,
)
from rankwise.ridge.leave_out.left_out_ties import ScoreRounding
from rankwise.ridge.spectrum import RidgeSystem
from rankwise.ridge.squared import SquaredLoss
from rankwise.ridge.tridiagonal import Decomposition, lapack
from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Bools, Floats, Ints

# Scores the rows of a batch, and says which of its folds are resolved.
Scorer: TypeAlias = Callable[[Batch], tuple[Floats, Bools]]


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
    F = query_differences(loss)
    whole = Whole(design, loss, system)
    if not system.tridiagonal.resolves(float(alphas.min())) and decomposition.resolves(0.0):
        projected = RidgeSystem(np.diag(decomposition.diagonal), decomposition.target)
        whole = Whole(design, loss, projected, decomposition.basis)
    score = _scorer(whole, decomposition, folds, alphas)
    rounding = ScoreRounding.primal(F, decomposition, alphas)
    for batch in batches_of_rows(loss, design, folds):
        yield from unless_lost(batch, rounding, *score(batch))


def _scorer(whole: Whole, decomposition: Decomposition, folds: Sequence[Ints], alphas: Floats) -> Scorer:
    """What scores the folds of a batch for these alphas in the fewest multiplications."""
    positive, system = alphas > 0.0, whole.system
    # The rest has no larger eigenvalue than the whole: if the whole does not resolve 0, no fold does.
    if not positive.all() and (whole.is_projected or not system.tridiagonal.resolves(0.0)):
        at_zero = MinimumNorm(whole)
        if not positive.any():
            return at_zero
        return partial(_joined, positive, at_zero, _scorer(whole, decomposition, folds, alphas[positive]))
    smallest = float(alphas.min())
    sizes = fold_sizes(query_differences(whole.loss), folds).astype(np.float64)
    resolves = system.tridiagonal.resolves(smallest)
    blocks = _Blocks(whole.design, whole.loss, decomposition, alphas)
    if smallest == 0.0 or (resolves and _prefers_systems(sizes, len(system.right), len(alphas))):
        are_large = sizes.min() >= LARGE_FOLD * whole.design.shape[1]
        systems = LargeFolds(whole, alphas) if are_large else Systems(whole, alphas)
        return partial(_first_resolved, systems, blocks) if whole.is_projected else systems
    return blocks


def _joined(positive: Bools, at_zero: Scorer, above: Scorer, batch: Batch) -> tuple[Floats, Bools]:
    """The scores for every alpha, from those at 0 and those above."""
    scores = np.empty((batch.n_rows, len(positive)))
    scores[:, ~positive], resolved = at_zero(batch)
    scores[:, positive], resolved_above = above(batch)
    return scores, resolved & resolved_above


def _first_resolved(first: Scorer, second: Scorer, batch: Batch) -> tuple[Floats, Bools]:
    """Have the second scorer score the folds that the first does not resolve.

    What is left without a fold may have null directions of its own, which no system without it resolves.
    """
    scores, resolved = first(batch)
    lost = np.flatnonzero(~resolved).tolist()
    if lost:
        rows = np.repeat(~resolved, np.diff(batch.offsets))
        scores[rows], resolved[lost] = second(replace(batch, folds=[batch.folds[f] for f in lost]))
    return scores, resolved


def _prefers_systems(sizes: Floats, n: int, n_alphas: int) -> bool:
    """Whether a tridiagonal form for each fold takes fewer multiplications than a solve for every alpha."""
    systems = len(sizes) * (4 / 3 * n**3 + n_alphas * n**2) + sizes.sum() * n**2 / 2
    h = np.minimum(sizes, n)
    blocks = sizes.sum() * n**2 + n_alphas * (h**2 * n / 2 + h**3 / 6).sum()
    return bool(systems < blocks)


class _Blocks:
    """Correct the solution of the whole system by that of a small one for each fold and alpha."""

    def __init__(
        self, design: Design, loss: SquaredLoss, decomposition: Decomposition, alphas: Floats
    ) -> None:
        self._design, self._loss, self._alphas = design, loss, alphas
        self._decomposition = decomposition

    def __call__(self, batch: Batch) -> tuple[Floats, Bools]:
        rows = product_on_threads(batch.centred_rows(self._design), self._decomposition.basis)
        B, t, offsets = _at_most_square(
            batch.removed(rows), batch.removed_target(self._loss.target), batch.removed_offsets
        )
        return without_blocks(
            self._decomposition,
            self._decomposition.target,
            (FoldRows(B, offsets), t),
            (batch.scored(rows), batch.offsets),
            self._alphas,
            LEAST_SHARE,
        )


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
    with one_blas_thread():
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
        with one_blas_thread(n <= SMALL):
            parts.append(part if len(part) <= n else np.linalg.qr(part, mode="r")[:n])
    joined = np.concatenate(parts)
    ends = np.cumsum([len(part) for part in parts])
    return np.ascontiguousarray(joined[:, :n]), joined[:, n].copy(), np.concatenate([[0], ends])


def unless_lost(
    batch: Batch, rounding: ScoreRounding, scores: Floats, resolved: Bools
) -> Iterator[Floats | None]:
    """The scores of each fold; None if it is not resolved."""
    scores[np.repeat(~resolved, np.diff(batch.offsets))] = 0.0
    found = batch.by_fold(rounding.tied(scores, batch))
    return (one if kept else None for one, kept in zip(found, resolved, strict=True))
