"""Criteria for choosing alpha: one value for each, from rows that the model did not see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rankwise.errors import DataError, ParameterError
from rankwise.losses.squared import SquaredLoss
from rankwise.metrics.measure import Measure
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import nothing_to_learn
from rankwise.selection.folds import Folds, draw_folds, each_query, pairs_measured, score_folds
from rankwise.solvers.hold_out import held_out_scores
from rankwise.solvers.krylov import KrylovSpace
from rankwise.solvers.leave_pair_out import centred_ridge, leave_pair_out_error
from rankwise.solvers.spaces import MappedSpace, Space
from rankwise.types import Floats, Ints, Matrix
from rankwise.validation import Problem

LEAVE_QUERY_OUT = "leave-query-out"
LEAVE_PAIR_OUT = "leave-pair-out"
LEAVE_FOLD_OUT = "leave-fold-out"
EVAL_SET = "eval_set"

# Scores of rows, one column an alpha, for coefficients of shape (n_alphas, p).
ScoreAll = Callable[[Floats, Matrix], Floats]
# The loss of the same model for other row weights, or for other pairs.
LossOn = Callable[[Any], SquaredLoss]


@dataclass(frozen=True)
class Values:
    """The measure for every alpha, NaN where there is none, and whether an interrupt cut them short."""

    values: Floats
    interrupted: bool = False


class Criterion(Protocol):
    """Gives every alpha a value of the measure, on rows that the model for it did not see."""

    @property
    def name(self) -> str: ...

    def values(self, space: Space, alphas: Floats, score_all: ScoreAll, loss_on: LossOn) -> Values: ...


@dataclass(frozen=True)
class HoldOut:
    """The measure of every fold's scores by the model fitted without it; exact.

    Queries need no refitting: they are blocks of the decomposition. Rows of one ranking are not, and
    conjugate gradient has none; there, one fit for each fold, whose rows weigh nothing in it.
    """

    name: str
    folds: Folds
    problem: Problem
    measure: Measure

    def values(self, space: Space, alphas: Floats, score_all: ScoreAll, loss_on: LossOn) -> Values:
        problem, interrupted = self.problem, False
        if isinstance(space, KrylovSpace) or problem.queries.n_queries == 1:

            def score(rows: Ints, scores: Floats) -> None:
                coef = _solved(space.with_loss(loss_on(problem.weightless(rows))), alphas)
                scores[:] = score_all(coef, problem.X[rows])

            scores, interrupted = score_folds(self.folds, len(alphas), score)
        else:
            queries = [np.unique(self.folds.compared[rows]) for rows in self.folds.held]
            scores = held_out_scores(_bare(space), queries, alphas)
        return Values(self.folds.measured(scores, problem.y, self.measure), interrupted)


@dataclass(frozen=True)
class HoldOutPairs:
    """The part of every fold's pairs that the model fitted without them contradicts."""

    X: Matrix
    pairs: Pairs
    folds: Folds
    name: str = LEAVE_FOLD_OUT

    def values(self, space: Space, alphas: Floats, score_all: ScoreAll, loss_on: LossOn) -> Values:
        def score(held: Ints, differences: Floats) -> None:
            coef = _solved(space.with_loss(loss_on(self.pairs.without(held))), alphas)
            rows, among = self.pairs.chosen(held).on_own_rows()
            scores = score_all(coef, self.X[rows])
            differences[:] = scores[among.better] - scores[among.worse]

        differences, interrupted = score_folds(self.folds, len(alphas), score)
        return Values(pairs_measured(differences, self.pairs.weight), interrupted)


def _solved(space: Space, alphas: Floats) -> Floats:
    """Coefficients for every alpha; an interrupt that conjugate gradient met is passed on."""
    coef = space.solve_all(alphas)
    if isinstance(space, KrylovSpace) and space.interrupted:
        raise KeyboardInterrupt
    return coef


@dataclass(frozen=True)
class LeavePairOut:
    """The share of pairs put the wrong way round by the model fitted without both rows; exact."""

    problem: Problem
    measure: Measure
    name: str = LEAVE_PAIR_OUT

    def values(self, space: Space, alphas: Floats, score_all: ScoreAll, loss_on: LossOn) -> Values:
        if isinstance(space, KrylovSpace):
            raise ParameterError(
                "Leave-pair-out needs a closed form; with solver='cg', set cv to a number of folds."
            )
        errors = leave_pair_out_error(centred_ridge(_bare(space), alphas), self.problem.y)
        return Values(1.0 - errors if self.measure.higher_is_better else errors)


@dataclass(frozen=True)
class Validation:
    """The measure on rows that the user set apart.

    Conjugate gradient knows it already, from the recurrences of its own scores of these rows.
    """

    X: Matrix
    measure: Callable[[Floats], float]
    name: str = EVAL_SET

    def values(self, space: Space, alphas: Floats, score_all: ScoreAll, loss_on: LossOn) -> Values:
        if isinstance(space, KrylovSpace) and space.validation is not None:
            (run,) = space.run(alphas)
            values = np.array([space.reading(run, k).value for k in range(len(alphas))])
            return Values(values, space.interrupted)
        scores = score_all(space.solve_all(alphas), self.X)
        return Values(np.array([self.measure(column) for column in scores.T]))


def choose_criterion(cv: Any, problem: Problem, measure: Measure) -> Criterion:
    """What a `cv` parameter stands for, when there is no `eval_set`.

    Leave-query-out of a single ranking would leave nothing to learn from; leave-pair-out takes its place.
    """
    if isinstance(cv, str):
        if cv not in (LEAVE_QUERY_OUT, LEAVE_PAIR_OUT):
            raise ParameterError(
                f"The 'cv' parameter must be '{LEAVE_QUERY_OUT}', '{LEAVE_PAIR_OUT}', a number of folds, a "
                f"splitter or None; got {cv!r}."
            )
        if problem.queries.n_queries == 1:
            return _leave_pair_out(problem, measure)
        if cv == LEAVE_PAIR_OUT:
            raise DataError(
                f"Leave-pair-out is for one global ranking; there are {problem.queries.n_queries} queries, "
                f"use cv='{LEAVE_QUERY_OUT}'."
            )
        return HoldOut(LEAVE_QUERY_OUT, each_query(problem.queries), problem, measure)
    return HoldOut(LEAVE_FOLD_OUT, draw_folds(cv, problem.y, problem.queries), problem, measure)


def _leave_pair_out(problem: Problem, measure: Measure) -> LeavePairOut:
    if measure.kind not in ("pairwise_error", "pairwise_error_micro", "auc"):
        raise ParameterError(
            f"Leave-pair-out of one global ranking can only count pairs: measure must be 'pairwise_error' or "
            f"'auc'; got '{measure.name}'. Give an eval_set for other measures."
        )
    if len(np.unique(problem.y)) < 2:
        raise nothing_to_learn(problem.queries)
    return LeavePairOut(problem, measure)


def _bare(space: Space) -> Any:
    return space.inner if isinstance(space, MappedSpace) else space


def best_alpha(values: Floats, measure: Measure) -> tuple[int, int]:
    """Row and column of the best value; among equals the first row and the largest alpha."""
    if np.isnan(values).all():
        raise DataError(f"The measure '{measure.name}' has no value for any query; choose another.")
    signed = np.where(np.isnan(values), -np.inf, values if measure.higher_is_better else -values)
    row, column = np.unravel_index(signed[:, ::-1].argmax(), signed.shape)
    return int(row), signed.shape[1] - 1 - int(column)
