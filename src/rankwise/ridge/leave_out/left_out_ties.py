"""Which left-out scores only rounding tells apart.

Scores of a left-out query may be tied exactly: a model of queries whose labels are equal is 0, and so are the
kernel values of rows that are far from all others. Measures average over ties, so rounding must not break
them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.preferences.differences import QueryDifferences
from rankwise.ridge.leave_out.left_out_batches import Batch
from rankwise.ridge.spectrum import EPS
from rankwise.ridge.tridiagonal import Decomposition
from rankwise.types import Floats

# Scores closer than so many times the estimated effect of rounding are tied. For scores that are tied
# exactly, the effect was up to five times the estimate.
TIED = 16.0
# Differences above this share of the scores are real: the condition of a system whose features, or kernel
# values, have very different sizes overstates the effect.
LARGEST_TIE = 1e-7


@dataclass(frozen=True)
class ScoreRounding:
    """The effect of rounding on left-out scores, for every alpha.

    The weights ``D (g − Bᵀe)`` are a difference of two parts, of which one is the model of all queries: what
    remains has errors of about the size of that model's scores, times the condition of the system. Scores are
    compared by their differences F, whose norm is known without computing them.

    Attributes
    ----------
    F : QueryDifferences
    condition : Floats, shape (n_alphas,)
    fitted : Floats, shape (n_alphas,)
        The norm of the differences of the scores of all rows by the model of all queries.
    """

    F: QueryDifferences
    condition: Floats
    fitted: Floats

    @classmethod
    def primal(cls, F: QueryDifferences, decomposition: Decomposition, alphas: Floats) -> ScoreRounding:
        """For weights, of which the decomposition of ``XᵀLX`` knows the norm of differences."""
        solved = decomposition.solve_in_basis(alphas).T
        squares = np.einsum("ar,ar->a", solved, decomposition.times_middle(solved))
        condition = np.array([decomposition.condition(alpha) for alpha in alphas.tolist()])
        return cls(F, condition, np.sqrt(np.maximum(squares, 0.0)))

    @classmethod
    def dual(cls, F: QueryDifferences, decomposition: Decomposition, alphas: Floats) -> ScoreRounding:
        """For coefficients of rows, by the decomposition of ``F K Fᵀ``.

        It is always singular: differences do not tell what all rows of a query have in common.
        """
        solved = decomposition.solve_in_basis(alphas).T
        fitted = np.linalg.norm(decomposition.times_middle(solved), axis=1)
        largest = decomposition.extremes[1] + alphas
        condition = np.divide(largest, alphas, out=np.ones(len(alphas)), where=alphas > 0.0)
        return cls(F, condition, fitted)

    def tied(self, scores: Floats, batch: Batch) -> Floats:
        """The scores of the rows of a batch, the same for rows of a query that only rounding tells apart."""
        level = np.repeat(self._levels(scores, batch), np.diff(batch.fold_offsets), axis=0)
        sizes, starts = np.diff(batch.query_offsets), batch.query_offsets[:-1]
        for size in np.unique(sizes):  # few, though there may be many queries
            chosen = sizes == size
            rows = starts[chosen, None] + np.arange(size)
            table = np.ascontiguousarray(scores[rows].swapaxes(1, 2))
            gaps = np.diff(np.sort(table, axis=2), axis=2)
            for at in np.flatnonzero((gaps <= level[chosen, :, None]).any(axis=(1, 2))):
                scores[rows[at]] = _joined(table[at], level[chosen][at, :, None]).T
        return scores

    def _levels(self, scores: Floats, batch: Batch) -> Floats:
        """How close scores are that rounding may have told apart, for each fold and alpha."""
        starts, n_rows = batch.offsets[:-1], np.diff(batch.offsets)
        mean = np.add.reduceat(scores, starts) / n_rows[:, None]
        squares = np.add.reduceat(np.square(scores - np.repeat(mean, n_rows, axis=0)), starts)
        size = self.fitted / self._scales(batch)[:, None] + np.sqrt(squares)
        return np.asarray(np.minimum(TIED * EPS * self.condition, LARGEST_TIE) * size)

    def _scales(self, batch: Batch) -> Floats:
        """How much F enlarges the scores of each fold, where it does so least; infinite without pairs."""
        squares = self.F.query_weight * self.F.query_sum
        scale = np.sqrt(np.where(squares > 0.0, squares, np.inf))
        return np.asarray(np.minimum.reduceat(scale[batch.queries], batch.fold_offsets[:-1]))


def _joined(scores: Floats, level: Floats) -> Floats:
    """Each row's scores, where those that follow each other more closely than its level are the same."""
    order = np.argsort(scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1)
    starts = np.diff(ordered, axis=1, prepend=-np.inf) > level
    first = np.maximum.accumulate(np.where(starts, np.arange(scores.shape[1]), 0), axis=1)
    joined = np.empty_like(scores)
    np.put_along_axis(joined, order, np.take_along_axis(ordered, first, axis=1), axis=1)
    return joined
