"""Scores of queries by models not trained on them, in the space of training rows.

As in `leave_query_out`, with ``F K Fᵀ = QTQᵀ``, ``D = (T + αI)⁻¹`` and ``g = Qᵀt``: for the rows q of a fold,
``e = (Q_q D Q_qᵀ)⁻¹ Q_q D g``, and the scores are ``K Fᵀ Q D (g − Q_qᵀe)``, O(h² m + h³) per alpha.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from rankwise._native import FoldRows
from rankwise.preferences.differences import QueryDifferences
from rankwise.ridge.leave_out.leave_query_out import unless_lost, without_blocks
from rankwise.ridge.leave_out.left_out_batches import Batch, batches, query_differences
from rankwise.ridge.leave_out.left_out_ties import ScoreRounding
from rankwise.ridge.spectrum import EPS, RidgeSystem
from rankwise.ridge.squared import SquaredLoss
from rankwise.types import Bools, Floats, Ints

# A refit takes as long as everything else, so only a fold that leaves nothing gets one.
LEAST_DUAL_SHARE = 4.0 * EPS


def leave_out_dual(
    kernel_matrix: Floats, loss: SquaredLoss, system: RidgeSystem, folds: Sequence[Ints], alphas: Floats
) -> Iterator[Floats | None]:
    """Like `leave_query_out.leave_out_primal`, from the coefficients of the rows of the other queries."""
    score = _BatchScores(kernel_matrix, query_differences(loss), system, alphas)
    rounding = ScoreRounding.dual(score.F, score.decomposition, alphas)
    for batch in batches(score.F, folds, len(system.right)):
        yield from unless_lost(batch, rounding, *score(batch))


class _BatchScores:
    """Correct the coefficients of all rows by the solution of a small system for each fold and alpha."""

    def __init__(
        self, kernel_matrix: Floats, F: QueryDifferences, system: RidgeSystem, alphas: Floats
    ) -> None:
        self._kernel_matrix, self.F, self._system, self._alphas = kernel_matrix, F, system, alphas
        self.decomposition = system.decomposition(float(alphas.min()))
        # Including the null space of the kernel, which the other queries may reach.
        self._target = self.decomposition.basis.T @ system.right

    def __call__(self, batch: Batch) -> tuple[Floats, Bools]:
        positive = self._alphas > 0.0
        basis = self.decomposition.basis[batch.places]
        found, resolved = without_blocks(
            self.decomposition,
            self._target,
            (FoldRows(basis, batch.offsets), None),
            (self._scored(batch, basis), batch.offsets),
            self._alphas[positive],
            LEAST_DUAL_SHARE,
        )
        scores = np.empty((batch.n_rows, len(positive)))
        scores[:, positive] = found
        if not positive.all():
            for f, fold in enumerate(batch.folds):
                place = slice(*batch.offsets[f : f + 2])
                minimum_norm = self._kernel_matrix[batch.rows[place]] @ self._minimum_norm(fold)
                scores[place, ~positive] = minimum_norm[:, None]
        return scores, resolved

    def _scored(self, batch: Batch, basis: Floats) -> Floats:
        """``K Fᵀ Q``, up to a constant per query: F times that is ``QT``, which is known."""
        scored = batch.rows_with(self.decomposition.times_middle(basis))
        lost = ~self.F.tells_rows[batch.places]
        if lost.any():
            scored[lost] = self._kernel_matrix[batch.rows[lost]] @ self._coefficients
        return scored

    @cached_property
    def _coefficients(self) -> Floats:
        return self.F.adjoint(self.decomposition.basis)

    def _minimum_norm(self, fold: Ints) -> Floats:
        """The minimum-norm model of the other queries, which is not a limit of the formula above."""
        kept = np.isin(
            np.repeat(np.arange(self.F.queries.n_queries), self.F.queries.sizes), fold, invert=True
        )
        rest = RidgeSystem(self._system.matrix[np.ix_(kept, kept)], self._system.right[kept])
        z = np.zeros(len(kept))
        z[kept] = rest.spectrum.solve(0.0)
        return self.F.adjoint(z)
