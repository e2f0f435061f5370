"""The pairwise hinge on scores: risk, gradient and curvature without enumerating the pairs.

``R(f) = Σ_e ω_e max(0, t_e − (f_i − f_j))`` over pairs e = (i, j) with i preferred, whose weights ω sum to 1.
A pair exactly at its margin counts as satisfied. R is convex and piecewise linear, so at any f
``R(f') ≥ offset + gradient · f'`` for all f', with equality at f: a cutting plane. The squared hinge, its
gradient and its generalised Hessian use the same active pairs.

Losses keep rows in an order of their own (`rows_risk.HingeLoss`).
"""

from __future__ import annotations

from copy import copy
from functools import singledispatch

import numpy as np

from rankwise import _native
from rankwise.config import resolve_threads
from rankwise.errors import DataError
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import nothing_to_learn, restored
from rankwise.svm.risk import Hinge, HingeValue, SquaredHingeValue
from rankwise.svm.rows_risk import HingeLoss
from rankwise.types import Floats, Ints, Ties, Weighting
from rankwise.validation import Problem

# A pair is near its margin if it is closer than this share of it.
NEAR = 0.5


class QueryHinge(HingeLoss):
    """All pairs of rows with different labels within each query (paper D, equations 3 and 4).

    A pair has weight ``ω = c_q sᵢ sⱼ / Σ c_q N_q``: with ``weighting="query"``, the risk is the mean over
    queries of the mean over pairs. A query without two different labels has no effect.

    Parameters
    ----------
    differences : QueryDifferences
        Differences with ties dropped, which supply the weights and this loss's row order (by query, then by
        label).
    rows : Ints, optional
        The caller's row numbers of the rows in `differences`; all rows by default.
    n_caller_rows : int, optional
        The caller's number of rows.
    total : float, optional
        ``Σ c_q N_q``, if it is that of more rows than these.

    Notes
    -----
    O(m log m) per evaluation: the scores of a query are sorted once, and the labels are counted in a tree
    while the margin sweeps over them. Counts are exact integers up to 2⁵³ pairs unless rows are weighted.
    """

    def __init__(
        self,
        differences: QueryDifferences,
        rows: Ints | None = None,
        n_caller_rows: int | None = None,
        total: float | None = None,
    ) -> None:
        levels = differences.level_offsets
        if differences.ties is not Ties.DROP or differences.order is None or levels is None:
            raise ValueError("The hinge requires differences with ties dropped.")
        queries = differences.queries
        if int(queries.sizes.max()) >= 2**31:
            raise DataError("A query may have at most 2^31 - 1 rows.")
        self._offsets = queries.offsets
        self._order = differences.order if rows is None else rows[differences.order]
        self._n_caller_rows = n_caller_rows
        self._first_row = self._order[queries.offsets[:-1]]
        self._n_threads = resolve_threads()
        start = np.repeat(queries.offsets[:-1], queries.sizes)
        self._lower = (np.repeat(levels[:-1], np.diff(levels)) - start).astype(np.int32)
        self._upper = (np.repeat(levels[1:], np.diff(levels)) - start).astype(np.int32)
        weight = differences.row_weight
        self._row_weight = None if (weight == 1.0).all() else weight
        total = pair_total(differences) if total is None else total
        if total == 0.0:
            raise nothing_to_learn(queries)
        share = differences.query_weight / total
        self._share = np.repeat(share, queries.sizes) * weight
        self.n_rows = len(self._order)

    def arranged(self, rows: Floats) -> Floats:
        return rows[self._order]

    def restored(self, rows: Floats) -> Floats:
        return restored(rows, self._order, self._n_caller_rows)

    def reference(self) -> Ints:
        own = np.arange(self._n_caller_rows or len(self._order))
        own[self._order] = np.repeat(self._first_row, np.diff(self._offsets))
        return own

    def row_weights(self) -> Floats:
        above, below = _ActivePairs(self, np.zeros(len(self._share))).sums(self._row_weight)
        return self._share * (above + below)

    def value(self, scores: Floats) -> HingeValue[Floats]:
        above, below = _ActivePairs(self, scores).sums(self._row_weight)
        offset = _dot(self._share, below)
        above -= below
        above *= self._share
        return HingeValue(offset + _dot(above, scores), above, offset)

    def margin_density(self, scores: Floats) -> Floats:
        active = _ActivePairs(self, scores)
        total = np.zeros(len(scores))
        for margin, sign in ((1.0 + NEAR, 1.0), (1.0 - NEAR, -1.0)):
            above, below = active.at_margin(margin).sums(self._row_weight)
            total += sign * (above + below)
        return self._share * total / (2.0 * NEAR)

    def squared_value(self, scores: Floats) -> SquaredHingeValue[Floats, Floats]:
        active = _ActivePairs(self, scores)
        # From here on only differences matter, and centring preserves precision.
        sizes = np.diff(self._offsets)
        scores = scores - np.repeat(np.add.reduceat(scores, self._offsets[:-1]) / sizes, sizes)
        above, below = active.sums(self._row_weight)
        offset = _dot(self._share, below)
        partners = above + below
        balance = above - below

        def laplacian(v: Floats) -> Floats:
            """The Laplacian of the active pairs."""
            over, under = active.sums(v if self._row_weight is None else self._row_weight * v)
            return self._share * (partners * v - over - under)

        plain = self._share * balance
        gradient = 2.0 * (plain + laplacian(scores))
        risk = offset + _dot(plain + 0.5 * gradient, scores)
        size = float(np.abs(gradient).sum())
        return SquaredHingeValue(risk, gradient, offset, size, lambda v: 2.0 * laplacian(v))


def _dot(a: Floats, b: Floats) -> float:
    """An inner product on this thread; waking up BLAS threads would cost more."""
    return float(np.einsum("i,i->", a, b))


class _ActivePairs:
    """The pairs inside the margin at given scores, in the form needed for sums over partners."""

    def __init__(self, loss: QueryHinge, scores: Floats) -> None:
        self.loss = loss
        self.row = np.empty(len(scores), dtype=np.int32)
        self.score = np.empty(len(scores))
        _native.order_scores(loss._offsets, scores, self.row, self.score, loss._n_threads)

    def at_margin(self, margin: float) -> _ActivePairs:
        """The pairs inside a different margin, for which the order is the same."""
        other = copy(self)
        other.score = self.score / margin
        return other

    def sums(self, values: Floats | None) -> tuple[Floats, Floats]:
        """Sums of values (ones if None) over each row's active partners with higher and lower labels."""
        loss = self.loss
        above, below = np.empty(len(self.row)), np.empty(len(self.row))
        _native.sum_active(
            loss._offsets,
            loss._lower,
            loss._upper,
            self.row,
            self.score,
            values,
            above,
            below,
            loss._n_threads,
        )
        return above, below


def pair_total(differences: QueryDifferences) -> float:
    """``Σ c_q N_q``: the weight of all pairs before it is divided by."""
    return float(differences.query_weight @ differences.pair_sum)


@singledispatch
def query_hinge(problem: Problem, weighting: Weighting) -> Hinge:
    """The hinge over pairs of rows with different labels; `cluster/variants.py` names that of parts."""
    differences, rows = label_differences(problem, weighting)
    return QueryHinge(differences, rows, None if rows is None else len(problem.y))


def label_differences(
    problem: Problem, weighting: Weighting, rows: Ints | None = None
) -> tuple[QueryDifferences, Ints | None]:
    """Differences of rows with different labels, and which rows they are; None for all.

    Rows of weight 0 are left out.
    """
    queries, y, weight, factor = problem.queries, problem.y, problem.row_weight, problem.query_weight
    if weight is not None and not weight.all():
        rows = np.flatnonzero(weight) if rows is None else rows[weight[rows] > 0.0]
    if rows is not None:
        queries, y, weight = queries.select(rows), y[rows], None if weight is None else weight[rows]
        factor = problem.weight_of_queries(queries, rows)
    weights = {"row_weight": weight, "query_factor": factor}
    return QueryDifferences(queries, y, ties=Ties.DROP, weighting=weighting, **weights), rows
