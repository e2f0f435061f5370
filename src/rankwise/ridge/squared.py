"""The squared loss on differences, from scores, pairs or both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, singledispatch

import numpy as np

from rankwise.operators.design import Design
from rankwise.preferences.across import AcrossQueries
from rankwise.preferences.differences import Differences, QueryDifferences
from rankwise.preferences.pair_differences import PairDifferences, StackedDifferences
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import Queries, nothing_to_learn, one_query
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.types import Floats, Ints, Ties, Weighting
from rankwise.validation import Problem


@dataclass(frozen=True)
class SquaredLoss:
    """``f ↦ ‖F f − t‖²``.

    Attributes
    ----------
    differences : Differences
    target : Floats, shape (n_differences,) or (n_differences, k)
        ``F y`` for scores, the scaled magnitudes for pairs; k targets may share one F.
    """

    differences: Differences
    target: Floats

    @property
    def n_targets(self) -> int | None:
        """k, if y has columns."""
        return None if self.target.ndim == 1 else int(self.target.shape[1])

    def reference(self) -> Ints:
        """For each row, one that it is compared with and may be measured from."""
        return self.differences.reference()

    def quadratic(self, design: Design) -> Quadratic:
        """The loss as a function of the weights of a design, in one pass over its rows."""
        A, b = design.difference_system(self.differences, self.target)
        return Quadratic(A, b, np.asarray((self.target**2).sum(axis=0)))

    def factor(self, design: Design) -> tuple[Floats, Floats]:
        """``R`` and ``Qᵀt`` of ``F X = QR``, which have digits that the quadratic lacks."""
        return design.difference_factor(self.differences, self.target)

    def norm(self, design: Design, directions: Floats) -> float:
        """The Frobenius norm of ``F X V`` for directions V: 0, but for rounding, if ``XᵀL X V`` is 0."""
        return design.difference_norm(self.differences, directions)

    def __call__(self, scores: Floats) -> float:
        residual = self.differences.apply(scores) - self.target
        return float(np.vdot(residual, residual))


@singledispatch
def loss_on_pairs(pairs: Pairs, n_rows: int) -> SquaredLoss:
    """``Σ_e s_e (magnitude_e − (f_i − f_j))²``; `cluster/variants.py` names that of parts."""
    return SquaredLoss(PairDifferences(n_rows, pairs.better, pairs.worse, pairs.weights()), pairs.target)


@singledispatch
def losses_on_scores(problem: Problem, ties: Ties, weighting: Weighting) -> list[SquaredLoss]:
    """``Σ_q c_q Σ_{i<j in q} (yᵢ − yⱼ − (fᵢ − fⱼ))²``: one loss for all targets, or one per target when
    tied pairs are dropped, since each target has its own ties. If the problem compares rows across queries,
    the same sum over all rows as one query is added, times `Problem.across_queries`.

    Labels that are all tied raise an error: with ties kept, they would mean that all rows are equal, which is
    almost never intended. `cluster/variants.py` names the function for rows in parts.
    """
    y, compared = problem.y, problem.queries
    if problem.across_queries:
        compared = one_query(len(y))
    if not _labels_differ(problem, compared):
        raise nothing_to_learn(compared)
    if ties is Ties.KEEP or y.ndim == 1:
        return [loss_on_scores(problem, ties, weighting)]
    return [loss_on_scores(replace(problem, y=y[:, k]), ties, weighting) for k in range(y.shape[1])]


def loss_on_scores(problem: Problem, ties: Ties, weighting: Weighting) -> SquaredLoss:
    """The loss for targets that share their ties; labels may be all tied."""
    kind = partial(AcrossQueries, problem.across_queries) if problem.across_queries else QueryDifferences
    F = kind(
        problem.queries,
        problem.y,
        ties=ties,
        weighting=weighting,
        row_weight=problem.row_weight,
        query_factor=problem.query_weight,
    )
    return SquaredLoss(F, F.apply_to_labels(problem.y))


def _labels_differ(problem: Problem, queries: Queries) -> bool:
    """Whether some query has two rows of positive weight with different labels."""
    y, weight = queries.grouped(problem.y), problem.row_weight
    if weight is not None:
        counts = queries.grouped(weight) > 0.0
        y = np.where(counts if y.ndim == 1 else counts[:, None], y, np.nan)
    starts = queries.offsets[:-1]
    return bool((np.fmin.reduceat(y, starts, axis=0) < np.fmax.reduceat(y, starts, axis=0)).any())


def with_pairs(loss: SquaredLoss, pairs: SquaredLoss) -> SquaredLoss:
    """Return the sum of a loss on scores and one on pairs over the same rows."""
    target = pairs.target
    if loss.target.ndim == 2:
        target = np.repeat(target[:, None], loss.target.shape[1], axis=1)
    return SquaredLoss(
        StackedDifferences([loss.differences, pairs.differences]), np.concatenate([loss.target, target])
    )
