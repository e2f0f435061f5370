"""Selection criteria: a measure on rows or pairs that the models were not trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, singledispatch
from typing import Any, Protocol, TypeAlias

import numpy as np

from rankwise.errors import DataError, ParameterError, did_you_mean
from rankwise.family import Family, Fold, Solutions
from rankwise.held_out import HeldOut
from rankwise.metrics.measure import Measure
from rankwise.metrics.named_measures import get_measure
from rankwise.metrics.pair_functions import contradicted
from rankwise.operators.equal_rows import first_equal_rows
from rankwise.preferences.across import weight_of_rows
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import nothing_to_learn
from rankwise.preferences.samples import PairSample, sample_judged_pairs, sample_of_pairs
from rankwise.selection import folding
from rankwise.selection.folding import LEAVE_QUERY_OUT, Folds, without_fold
from rankwise.selection.leaving_out import LeftOutScores, OnFractionDone, Values, leave_out, warn_untried
from rankwise.types import Floats, Ints, Matrix
from rankwise.validation import Problem

LEAVE_PAIR_OUT = "leave-pair-out"
# "auto" leaves out the pairs of a global ranking of up to so many rows: there are 12 million of them.
MOST_PAIRED_ROWS = 5_000

# Creates the loss of a candidate on labels or pairs.
LossOf: TypeAlias = Callable[[Any], Any]


class Criterion(Protocol):
    """Measures every alpha of a family."""

    @property
    def name(self) -> str: ...

    def values(self, family: Family, loss_of: LossOf, alphas: Floats, report: OnFractionDone) -> Values: ...


@dataclass(frozen=True)
class OnEvalSet:
    """The measure of the models on rows that the user held out."""

    held_out: HeldOut
    name: str = "eval_set"

    def values(self, family: Family, loss_of: LossOf, alphas: Floats, report: OnFractionDone) -> Values:
        found = family.solve(alphas, self.held_out, lambda step: report(step.done, step))
        assert found.values is not None
        if found.interrupted:
            reached = alphas[~np.isnan(found.values)]
            if len(reached) == 0:
                raise KeyboardInterrupt
            if len(reached) < len(alphas):
                warn_untried(reached)
        else:
            report(1.0)
        return Values(found.values, found, found.interrupted, partial(self._left_out, family, found))

    def _left_out(self, family: Family, found: Solutions, place: int) -> LeftOutScores:
        """Scored again, which takes one product: solvers measure scores without keeping them."""
        return LeftOutScores(family.scores(found.coef[[place]], self.held_out.X)[:, 0], self.held_out.sample)


@dataclass(frozen=True)
class OnFolds:
    """The measure on every fold, scored by the model fitted without it, within queries or folds."""

    folds: Folds
    problem: Problem
    measure: Measure

    @property
    def name(self) -> str:
        return self.folds.name

    @cached_property
    def _first_equal(self) -> Ints:
        """Equal rows that are compared are tied, however the scores of a fold are computed."""
        return first_equal_rows(self.problem.X, self.folds.compared)

    def values(self, family: Family, loss_of: LossOf, alphas: Floats, report: OnFractionDone) -> Values:
        folds = folds_of(self.folds, self.problem, loss_of)
        return leave_out(family, folds, alphas, self._measured, report, self.measure.higher_is_better)

    def _measured(self, found: Sequence[Floats]) -> Values:
        """The values for the scores of the first folds."""
        seen = np.concatenate(self.folds.held[: len(found)])
        scores, first_equal = np.concatenate(found), self._first_equal[seen]
        if not np.array_equal(first_equal, seen):
            position = np.empty(len(self.problem.y), dtype=np.int64)
            position[seen] = np.arange(len(seen))
            scores = scores[position[first_equal]]
        y, compared = self.problem.y[seen], self.folds.compared[seen]
        values = _each_column(self.measure.prepare(y, compared), scores)
        sample = partial(sample_judged_pairs, y, compared)
        return Values(values, left_out=lambda place: LeftOutScores(scores[:, place], sample, seen))


@dataclass(frozen=True)
class OnPairFolds:
    """The fraction of every fold's pairs that the model fitted without them contradicts."""

    folds: Folds
    X: Matrix
    pairs: Pairs

    @property
    def name(self) -> str:
        return self.folds.name

    def values(self, family: Family, loss_of: LossOf, alphas: Floats, report: OnFractionDone) -> Values:
        held = self.folds.held
        own = [self.pairs.chosen(places).on_own_rows() for places in held]
        folds = [
            Fold(self.X, rows, None, partial(loss_without, loss_of, self.pairs, places, number))
            for number, (places, (rows, _)) in enumerate(zip(held, own, strict=True))
        ]

        def measured(found: Sequence[Floats]) -> Values:
            ends = [(scores[p.better], scores[p.worse]) for scores, (_, p) in zip(found, own, strict=False)]
            better, worse = map(np.concatenate, zip(*ends, strict=True))
            seen = self.pairs.chosen(np.concatenate(held[: len(found)]))
            values = _each_column(lambda column: contradicted(column, seen.weight), better - worse)
            scores, sample = np.concatenate([better, worse]), partial(self._sample, seen)
            return Values(values, left_out=lambda place: LeftOutScores(scores[:, place], sample))

        return leave_out(family, folds, alphas, measured, report)

    def _sample(self, seen: Pairs) -> PairSample:
        """Left-out pairs, whose preferred rows come before the others."""
        sample = sample_of_pairs(seen, self.X.shape[0])
        place = np.arange(len(seen))
        return replace(sample, better=place, worse=len(seen) + place)


@dataclass(frozen=True)
class LeavePairOut:
    """The fraction of pairs of one global ranking misordered by the model fitted without both rows."""

    problem: Problem
    measure: Measure
    name: str = LEAVE_PAIR_OUT

    def values(self, family: Family, loss_of: LossOf, alphas: Floats, report: OnFractionDone) -> Values:
        errors = family.leave_pair_out(self.problem.y, alphas)
        report(1.0)
        return Values(1.0 - errors if self.measure.higher_is_better else errors)


@singledispatch
def criterion_on_rows(problem: Problem, measure: Measure, cv: Any, *, exact: bool) -> Criterion:
    """The criterion that the `cv` parameter specifies, if there is no eval_set.

    "auto" leaves out queries, groups of them if there are many, or pairs of one global ranking that is not
    too long, where that is exact and costs a few fits; otherwise it draws folds. `cluster/variants.py` names
    the function for rows in parts.
    """
    if isinstance(cv, str) and cv == "auto" and exact:
        if problem.queries.n_queries > 1:
            return OnFolds(folding.queries_or_groups(problem.queries), problem, measure)
        cv = LEAVE_PAIR_OUT if len(problem.y) <= MOST_PAIRED_ROWS else cv
    if isinstance(cv, str) and cv != "auto":
        return _named_criterion(cv, problem, measure)
    return OnFolds(folding.draw_folds(cv, problem.y, problem.queries), problem, measure)


@singledispatch
def criterion_on_pairs(X: Matrix, pairs: Pairs, cv: Any) -> Criterion:
    """Like `criterion_on_rows`, for explicit pairs, which are left out in folds."""
    return OnPairFolds(folding.draw_pair_folds(cv, pairs, X.shape[0]), X, pairs)


def measure_of_pairs(measure: str | Measure) -> Measure:
    """Check that the measure applies to explicit pairs: the fraction contradicted, and nothing else."""
    checked = get_measure(measure)
    if checked.kind not in ("pairwise_error", "pairwise_error_micro"):
        raise ParameterError(
            f"Explicit pairs support only the measure 'pairwise_error', the fraction of pairs contradicted; "
            f"got '{checked.name}'."
        )
    return checked


def _named_criterion(cv: str, problem: Problem, measure: Measure) -> Criterion:
    n_queries = problem.queries.n_queries
    if cv not in (LEAVE_QUERY_OUT, LEAVE_PAIR_OUT):
        raise ParameterError(
            f"The 'cv' parameter must be 'auto', '{LEAVE_QUERY_OUT}', '{LEAVE_PAIR_OUT}', a number of folds, "
            f"a splitter or None; got {cv!r}{did_you_mean(cv, ('auto', LEAVE_QUERY_OUT, LEAVE_PAIR_OUT))}"
        )
    if cv == LEAVE_QUERY_OUT:
        if n_queries == 1:
            raise DataError(
                f"Leave-query-out with one global ranking leaves nothing to learn from; use "
                f"cv='{LEAVE_PAIR_OUT}' or a number of folds, or pass qid."
            )
        return OnFolds(folding.each_query(problem.queries), problem, measure)
    if n_queries > 1:
        raise DataError(
            f"Leave-pair-out needs one global ranking, but there are {n_queries} queries; "
            f"use cv='{LEAVE_QUERY_OUT}'."
        )
    if measure.kind not in ("pairwise_error", "pairwise_error_micro", "auc"):
        raise ParameterError(
            f"Leave-pair-out can only count pairs: measure must be 'pairwise_error' or 'auc'; "
            f"got '{measure.name}'. For other measures, set cv to a number of folds or pass an eval_set."
        )
    if len(np.unique(problem.y)) < 2:
        raise nothing_to_learn(problem.queries)
    return LeavePairOut(problem, measure)


def folds_of(folds: Folds, problem: Problem, loss_of: LossOf) -> list[Fold]:
    """Folds of rows, as families leave them out."""
    queries = [None] * len(folds.held) if folds.queries is None else folds.queries
    return [
        Fold(
            problem.X,
            rows,
            own,
            partial(loss_without, loss_of, problem, rows, number),
            _weight_of_others(problem, rows),
        )
        for number, (rows, own) in enumerate(zip(folds.held, queries, strict=True))
    ]


def _weight_of_others(problem: Problem, rows: Ints) -> Floats | None:
    """How much all rows but some count, if they are compared across queries."""
    if not problem.across_queries:
        return None
    rest = problem.without(rows)
    return weight_of_rows(rest.queries, rest.row_weight, rest.query_weight)


def loss_without(loss_of: LossOf, statements: Any, held: Any, number: int) -> Any:
    """The loss on everything but a fold."""
    with without_fold(number):
        return loss_of(statements.without(held))


def _each_column(measure: Callable[[Floats], float], table: Floats) -> Floats:
    """The measure of each column; NaN for columns of unfinished alphas."""
    columns = np.ascontiguousarray(table.T)
    return np.array([np.nan if np.isnan(column).all() else measure(column) for column in columns])
