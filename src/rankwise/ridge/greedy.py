"""Greedy forward selection of features for RankRLS, by the scores of left-out queries.

The model without query q, on the chosen features and one more, is the last step of a Cholesky factorization
of ``XᵀLX + αI`` without the rows of q. Only the rows of the factor that belong to chosen features are ever
needed, for all queries side by side:

- ``d_qj``, what the factorization leaves of the diagonal, and ``n_qj``, of the right-hand side;
- ``r_ij``, what the chosen features leave of feature j in row i, by the models without the query of i.

With feature j, the left-out scores become ``f_i + (n_qj / d_qj) r_ij``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rankwise.operators.design import Design
from rankwise.ridge.leave_out.left_out_batches import Batch, query_differences
from rankwise.ridge.spectrum import EPS
from rankwise.ridge.squared import SquaredLoss
from rankwise.types import Bools, Floats, Ints

# The value of each row of a table of scores, in the caller's order of rows; higher is better.
Values: TypeAlias = Callable[[Floats], Floats]
# A feature of which less than this share is not a combination of the chosen ones counts as one of them.
LEAST_REST = 1e3 * EPS
# Scores that are measured at a time, few enough for the cache.
ENTRIES_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class GreedyPath:
    """Features in the order of choice.

    Attributes
    ----------
    order : Ints, shape (k,)
    values : Floats, shape (k,)
        The value of the left-out scores of the first feature, the first two, and so on.
    """

    order: Ints
    values: Floats


def greedy_path(
    design: Design,
    loss: SquaredLoss,
    alpha: float,
    n_steps: int,
    values: Values,
    costs: Floats,
) -> GreedyPath:
    """Choose the feature that raises the value of the left-out scores most per cost, again and again.

    If no feature raises it, the one that lowers it least is chosen. The path ends early if all other features
    are constant in queries, or combinations of the chosen ones.

    O(k m n + k² q n) for k of n features, m rows and q queries, which is O(k m n) as long as k is not larger
    than the mean query, and the values of O(k n) score vectors. O(m n + k q n) memory.

    Pahikkala, Airola, Naula, Salakoski, "Greedy RankRLS: a Linear Time Algorithm for Learning Sparse Ranking
    Models" (2010), where the value is the squared loss.

    Parameters
    ----------
    design : Design
    loss : SquaredLoss
        On the labels of at least two queries.
    alpha : float
        Above 0.
    n_steps : int
        The largest number k of features to choose.
    values : callable
    costs : Floats, shape (n,)
        Above 0.
    """
    left_out = _LeftOutScores(design, loss, alpha)
    order: list[int] = []
    reached: list[float] = []
    now = float(values(left_out.now()[None])[0])
    while len(order) < n_steps and len(candidates := left_out.candidates(order)):
        then = left_out.measured(candidates, values)
        at = _best(then - now, costs[candidates])
        now, chosen = float(then[at]), int(candidates[at])
        left_out.choose(chosen)
        order.append(chosen)
        reached.append(now)
    return GreedyPath(np.array(order, dtype=np.int64), np.array(reached))


def _best(gains: Floats, costs: Floats) -> int:
    return int(np.argmax(np.where(gains > 0.0, gains / costs, gains)))


class _LeftOutScores:
    """The left-out scores of the chosen features, and of these and one more."""

    def __init__(self, design: Design, loss: SquaredLoss, alpha: float) -> None:
        F = query_differences(loss)
        batch = Batch(F, [np.arange(F.queries.n_queries)])
        self._rows, self._starts = batch.rows, F.queries.offsets[:-1]
        self._query = np.repeat(np.arange(F.queries.n_queries), F.queries.sizes)
        X = batch.centred_rows(design)
        self._Z = batch.differences(X)
        self._scores, self._rest = np.zeros(len(X)), X
        self._diagonal = self._others(self._Z**2) + alpha
        self._right = self._others(self._Z * loss.target[batch.places][:, None])
        self._least = LEAST_REST * self._diagonal
        # Where a feature is constant, centring leaves a rounding error, the same for all rows of the query.
        least, most = (extreme.reduceat(X, self._starts, axis=0) for extreme in (np.minimum, np.maximum))
        self._varies = (least < most).any(axis=0)
        self._factors: list[tuple[Floats, Floats]] = []

    def _others(self, products: Floats) -> Floats:
        """For each query, the sum over the rows of the others; nothing is subtracted, so no digits cancel."""
        own = np.add.reduceat(products, self._starts, axis=0)
        before, after = np.zeros_like(own), np.zeros_like(own)
        np.cumsum(own[:-1], axis=0, out=before[1:])
        after[:-1] = np.cumsum(own[:0:-1], axis=0)[::-1]
        return before + after

    def candidates(self, chosen: Sequence[int]) -> Ints:
        """The features that the model could still use."""
        useful: Bools = self._varies & np.any(self._diagonal > self._least, axis=0)
        useful[list(chosen)] = False
        return np.flatnonzero(useful)

    def now(self) -> Floats:
        """The scores by the chosen features, in the caller's order of rows."""
        return self._in_order(self._scores)

    def measured(self, candidates: Ints, values: Values) -> Floats:
        """The value of the scores with each candidate."""
        at_once, slopes, parts = max(1, ENTRIES_AT_ONCE // len(self._scores)), self._slopes(), []
        for start in range(0, len(candidates), at_once):
            some = candidates[start : start + at_once]
            step = slopes[:, some][self._query] * self._rest[:, some]
            parts.append(values(self._in_order((self._scores[:, None] + step).T)))
        return np.concatenate(parts)

    def choose(self, feature: int) -> None:
        """Take the next step of every factorization: one row of the factor for each query."""
        row = self._others(self._Z * self._Z[:, [feature]])
        for earlier, pivot in self._factors:
            row -= earlier * (earlier[:, [feature]] / pivot)
        slope = self._slopes()[:, [feature]]
        is_rest = self._diagonal[:, [feature]] > self._least[:, [feature]]
        pivot = np.where(is_rest, self._diagonal[:, [feature]], np.inf)
        share = row / pivot
        self._factors.append((row, pivot))
        self._scores = self._scores + (slope[self._query] * self._rest[:, [feature]])[:, 0]
        step = share[self._query]
        step *= self._rest[:, [feature]]
        self._rest = np.subtract(self._rest, step, out=step)
        self._right = self._right - share * self._right[:, [feature]]
        self._diagonal = self._diagonal - share * row

    def _slopes(self) -> Floats:
        """The weight of each feature without each query; 0 for those that are combinations of the chosen."""
        is_rest = self._diagonal > self._least
        return np.divide(self._right, self._diagonal, out=np.zeros_like(self._right), where=is_rest)

    def _in_order(self, scores: Floats) -> Floats:
        table = np.empty_like(scores)
        table[..., self._rows] = scores
        return table
