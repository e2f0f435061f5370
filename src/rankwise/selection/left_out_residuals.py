"""What models of the squared loss that have not seen a query miss of its labels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankwise.ridge.ridge_family import linear_family
from rankwise.ridge.squared import SquaredLoss, losses_on_scores
from rankwise.selection.criteria import folds_of
from rankwise.selection.folding import queries_or_groups
from rankwise.types import Floats, Ints, Ties, Weighting
from rankwise.validation import Problem

# The alphas of the models whose residuals are explained. An additive model that is shrunk too much leaves
# residuals that look like interactions, so the grid is fine and wide.
ALPHAS = tuple(2.0**k for k in range(-15, 21))
# Alpha is chosen on so many queries, always the same ones; to leave out all of them for every alpha would
# take most of the time of a search.
QUERIES_FOR_ALPHA = 500
# More queries than these are left out in groups: residuals hardly change, and take a fraction of the time.
MOST_LEFT_OUT, N_GROUPS = 2_000, 20


@dataclass(frozen=True)
class Learned:
    """A model, and what it misses.

    Attributes
    ----------
    residuals : Floats, shape (m,)
        What models that have not seen a query miss of its labels.
    alpha : float
        That of the least such error.
    weights : Floats, shape (n,)
        Those of the model of all queries.
    """

    residuals: Floats
    alpha: float
    weights: Floats


def left_out_residuals(problem: Problem) -> Learned:
    """Learn the labels of rows, leaving out each query or group of queries."""
    family = linear_family(problem.X, loss_of(problem))
    left = queries_or_groups(problem.queries, MOST_LEFT_OUT, N_GROUPS)
    folds = folds_of(left, problem, loss_of)
    weight, query_of_row = weight_of_rows(problem), problem.queries.query_of_row()

    def left_out(places: Ints, alphas: Floats) -> Iterator[tuple[Ints, Floats]]:
        """The rows of some folds and their residuals."""
        chosen = [folds[place] for place in places.tolist()]
        for fold, found in zip(chosen, family.leave_out(chosen, alphas), strict=True):
            rows = fold.index
            missed = problem.y[rows, None] - found.scores
            yield rows, _centered(missed, weight[rows], query_of_row[rows])

    alphas, n_folds = np.array(ALPHAS), len(folds)
    n_drawn = math.ceil(n_folds * QUERIES_FOR_ALPHA / problem.queries.n_queries)
    drawn = np.random.default_rng(0).permutation(n_folds)[:n_drawn]
    errors = sum(weight[rows] @ found**2 for rows, found in left_out(drawn, alphas))
    best = alphas[[int(np.argmin(errors))]]
    residuals = np.empty(len(problem.y))
    for rows, found in left_out(np.arange(n_folds), best):
        residuals[rows] = found[:, 0]
    return Learned(residuals, float(best[0]), family.solve(best).coef[0])


def loss_of(problem: Problem) -> SquaredLoss:
    """The loss of these models: ties are kept, and every row has the same weight."""
    (loss,) = losses_on_scores(problem, Ties.KEEP, Weighting.EXAMPLE)
    return loss


def weight_of_rows(problem: Problem) -> Floats:
    """How much each row counts, in its query and with it."""
    weight = np.ones(len(problem.y)) if problem.row_weight is None else problem.row_weight
    if problem.query_weight is not None:
        weight = weight * problem.query_weight[problem.queries.query_of_row()]
    return weight


def _centered(values: Floats, weight: Floats, query: Ints) -> Floats:
    """Less the mean of their query; without weight, as they are."""
    _, place = np.unique(query, return_inverse=True)
    total = np.bincount(place, weight)
    sums = np.stack([np.bincount(place, weight * column) for column in values.T], axis=1)
    return np.asarray(values - (sums / np.where(total > 0.0, total, 1.0)[:, None])[place])
