"""Criteria for choosing alpha: one value for each, from rows that the model did not see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from rankwise.errors import DataError, ParameterError
from rankwise.metrics.measure import Measure
from rankwise.solvers.hold_out import held_out_scores
from rankwise.solvers.krylov import KrylovSpace
from rankwise.solvers.leave_pair_out import centred_ridge, leave_pair_out_error
from rankwise.solvers.spaces import MappedSpace, Space
from rankwise.types import Floats, Ints, Matrix
from rankwise.validation import Problem

LEAVE_QUERY_OUT = "leave-query-out"
LEAVE_PAIR_OUT = "leave-pair-out"

# Scores of rows, one column an alpha, for coefficients of shape (n_alphas, p).
ScoreAll = Callable[[Floats, Matrix], Floats]
# The space of the same model for other row weights.
Refit = Callable[[Problem], Space]


class Criterion(Protocol):
    """Gives every alpha a value of the measure, on rows that the model for it did not see."""

    @property
    def name(self) -> str: ...

    def values(self, space: Space, alphas: Floats, score_all: ScoreAll, refit: Refit) -> Floats: ...


@dataclass(frozen=True)
class HoldOut:
    """The measure of every query's scores by the model fitted without that query's fold; exact."""

    name: str
    folds: Sequence[Ints]
    problem: Problem
    measure: Measure

    def values(self, space: Space, alphas: Floats, score_all: ScoreAll, refit: Refit) -> Floats:
        if isinstance(space, KrylovSpace):
            scores = self._refitted_scores(alphas, score_all, refit)
        else:
            scores = held_out_scores(_bare(space), self.folds, alphas)
        seen = ~np.isnan(scores[:, 0])
        query = self.problem.queries.query_of_row()[seen]
        prepared = self.measure.on(self.problem.y[seen], query)
        return np.array([prepared(column) for column in scores[seen].T])

    def _refitted_scores(self, alphas: Floats, score_all: ScoreAll, refit: Refit) -> Floats:
        """Conjugate gradient has no shortcut: one run for each fold, whose rows weigh nothing in it."""
        problem = self.problem
        query, weight = problem.queries.query_of_row(), problem.row_weight
        scores = np.full((len(query), len(alphas)), np.nan)
        for fold in self.folds:
            rows = np.flatnonzero(np.isin(query, fold))
            without = np.ones(len(query)) if weight is None else weight.copy()
            without[rows] = 0.0
            space = refit(replace(problem, row_weight=without))
            scores[rows] = score_all(space.solve_all(alphas), problem.X[rows])
            if isinstance(space, KrylovSpace) and space.interrupted:
                raise KeyboardInterrupt  # nothing can be chosen before all folds are through
        return scores


@dataclass(frozen=True)
class LeavePairOut:
    """The share of pairs put the wrong way round by the model fitted without both rows; exact."""

    problem: Problem
    measure: Measure
    name: str = LEAVE_PAIR_OUT

    def values(self, space: Space, alphas: Floats, score_all: ScoreAll, refit: Refit) -> Floats:
        if isinstance(space, KrylovSpace):
            raise ParameterError("Leave-pair-out needs a closed form; with solver='cg', give an eval_set.")
        errors = leave_pair_out_error(centred_ridge(_bare(space), alphas), self.problem.y)
        return 1.0 - errors if self.measure.higher_is_better else errors


@dataclass(frozen=True)
class Validation:
    """The measure on rows that the user set apart.

    Conjugate gradient knows it already, from the recurrences of its own scores of these rows.
    """

    problem: Problem
    measure: Measure
    name: str = "eval_set"

    def values(self, space: Space, alphas: Floats, score_all: ScoreAll, refit: Refit) -> Floats:
        if isinstance(space, KrylovSpace) and space.validation is not None:
            (run,) = space.run(alphas)
            return np.array([space.reading(run, k).value for k in range(len(alphas))])
        prepared = self.measure.on(self.problem.y, self.problem.queries)
        scores = score_all(space.solve_all(alphas), self.problem.X)
        return np.array([prepared(column) for column in scores.T])


def choose_criterion(cv: Any, problem: Problem, measure: Measure) -> Criterion:
    """What a `cv` parameter stands for, when there is no `eval_set`.

    Leave-query-out of a single ranking would leave nothing to learn from; leave-pair-out takes its place.
    """
    if cv is None:
        raise ParameterError("cv=None chooses alpha on an eval_set; pass one to fit, or set cv.")
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
        folds = [np.array([q]) for q in range(problem.queries.n_queries)]
        return HoldOut(LEAVE_QUERY_OUT, folds, problem, measure)
    return HoldOut("leave-fold-out", folds_of_queries(cv, problem), problem, measure)


def _leave_pair_out(problem: Problem, measure: Measure) -> LeavePairOut:
    if measure.kind not in ("pairwise_error", "pairwise_error_micro", "auc"):
        raise ParameterError(
            f"Leave-pair-out of one global ranking can only count pairs: measure must be 'pairwise_error' or "
            f"'auc'; got '{measure.name}'. Give an eval_set for other measures."
        )
    if len(np.unique(problem.y)) < 2:
        raise DataError("All labels are tied; there is no pair to choose alpha by.")
    return LeavePairOut(problem, measure)


def folds_of_queries(cv: Any, problem: Problem) -> list[Ints]:
    """The folds of a scikit-learn splitter, each as a set of whole queries."""
    query = problem.queries.query_of_row()
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        from sklearn.model_selection import GroupKFold

        if not 2 <= cv <= problem.queries.n_queries:
            raise ParameterError(
                f"The 'cv' parameter must be between 2 and the number of queries, "
                f"{problem.queries.n_queries}; got {cv}."
            )
        cv = GroupKFold(int(cv))
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ParameterError(f"The 'cv' parameter must be a number of folds or a splitter; got {cv!r}.")
    labels = problem.queries.labels
    groups = query if labels is None or labels.dtype.kind == "O" else labels[query]
    splits = cv.split(np.zeros((len(query), 1)), problem.y, groups) if hasattr(cv, "split") else cv
    held = np.zeros(len(query), dtype=int)
    folds = []
    for train, test in splits:
        held[test] += 1
        fold = np.unique(query[test])
        if np.isin(query[train], fold).any() or len(train) + len(test) != len(query):
            raise DataError("cv must hold out whole queries and train on all others, as GroupKFold does.")
        folds.append(fold.astype(np.int64))
    if (held > 1).any():
        raise DataError("cv must hold out every query at most once.")
    return folds


def _bare(space: Space) -> Any:
    return space.inner if isinstance(space, MappedSpace) else space


def best_alpha(values: Floats, measure: Measure) -> tuple[int, int]:
    """Row and column of the best value; among equals the first row and the largest alpha."""
    if np.isnan(values).all():
        raise DataError(f"The measure '{measure.name}' has no value for any query; choose another.")
    signed = np.where(np.isnan(values), -np.inf, values if measure.higher_is_better else -values)
    row, column = np.unravel_index(signed[:, ::-1].argmax(), signed.shape)
    return int(row), signed.shape[1] - 1 - int(column)
