"""Selection criteria on rows in parts: queries are left out, scored and measured where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np

from rankwise.cluster.engine import Tally
from rankwise.cluster.parted_products import stacked
from rankwise.cluster.problem import PartedProblem, positions_in, query_labels_of
from rankwise.errors import DataError, ParameterError
from rankwise.family import Family, Fold
from rankwise.metrics.measure import Measure
from rankwise.operators.design import MatrixDesign
from rankwise.operators.equal_rows import first_equal_rows
from rankwise.preferences.queries import Queries, group_rows
from rankwise.preferences.samples import PAIRS_IN_TOTAL, PAIRS_PER_QUERY, PairSample, sample_judged_pairs
from rankwise.ridge.leave_out.leave_query_out import leave_out_primal
from rankwise.ridge.squared import loss_on_scores
from rankwise.selection.criteria import LEAVE_PAIR_OUT, Criterion, LossOf, loss_without
from rankwise.selection.folding import AUTO_FOLDS, LEAVE_QUERY_OUT
from rankwise.selection.leaving_out import LeftOutScores, OnFractionDone, Values, warn_unfinished
from rankwise.types import Floats, Ints, Matrix, Ties, Weighting
from rankwise.validation import Problem


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that are gathered because the queries they belong to are split, or have to be refitted."""

    X: Matrix
    y: Floats
    weight: Floats
    query: Ints  # digests

    @classmethod
    def of(cls, problem: Problem, chosen: Ints) -> Rows:
        """The rows of some queries of a part, by their numbers."""
        query = problem.queries.query_of_row()
        rows = np.flatnonzero(np.isin(query, chosen))
        weight = np.ones(len(rows)) if problem.row_weight is None else problem.row_weight[rows]
        return cls(problem.X[rows], problem.y[rows], weight, query_labels_of(problem)[query[rows]])

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Problem:
        """The problem of the queries, with all their rows."""
        X = stacked([part.X for part in parts])
        y, weight, query = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("y", "weight", "query")
        )
        return Problem(X, y, group_rows(query, len(y)), weight)


@dataclass(frozen=True, eq=False)
class Measurement:
    """What left-out queries say of each alpha: sums for the mean of a measure, and a sample of pairs.

    Attributes
    ----------
    values : Floats, shape (n_alphas,)
        The sum of the measure over queries, weighted.
    weight : float
    differences : Floats, shape (n_pairs, n_alphas)
        The score of the row with the higher label minus that of the other.
    query : Ints, shape (n_pairs,)
        Pairs with the same number are of the same query.
    """

    values: Floats
    weight: float
    differences: Floats
    query: Ints

    def __add__(self, other: Measurement) -> Measurement:
        return Measurement(
            self.values + other.values,
            self.weight + other.weight,
            np.concatenate([self.differences, other.differences]),
            np.concatenate([self.query, other.query + self.query.max(initial=-1) + 1]),
        )

    def criterion(self) -> Values:
        """The mean for each alpha, and the pairs of one of them as scores, the last of which is 0."""
        means = self.values / self.weight if self.weight > 0.0 else np.full(len(self.values), np.nan)
        place = np.arange(len(self.query))
        sample = PairSample(place, np.full_like(place, len(place)), self.query)
        return Values(
            np.asarray(means),
            left_out=lambda alpha: LeftOutScores(np.append(self.differences[:, alpha], 0.0), lambda: sample),
        )


@dataclass(frozen=True)
class Measuring:
    """What is measured of left-out queries: a measure, and so many pairs of each at most."""

    measure: Measure
    pairs_per_query: int

    def __call__(self, y: Floats, queries: Queries, scores: Floats) -> Measurement:
        """Of the scores of some rows, one column per alpha."""
        prepared = self.measure.prepare(y, queries)
        counted, weight = ~prepared.left_out, prepared.query_weight
        values = np.stack([prepared.per_query(np.ascontiguousarray(column)) for column in scores.T])
        pairs = sample_judged_pairs(y, queries.query_of_row(), per_query=self.pairs_per_query)
        return Measurement(
            np.asarray((values[:, counted] * weight[counted]).sum(axis=1)),
            float(weight[counted].sum()),
            pairs.differences(scores),
            pairs.group,
        )

    def of_nothing(self, n_alphas: int) -> Measurement:
        return Measurement(np.zeros(n_alphas), 0.0, np.zeros((0, n_alphas)), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True)
class EachPartedQuery:
    """Leave-query-out in closed form: one pass in which each part leaves out its whole queries.

    The rows of split queries are gathered, and those of queries that make up nearly all of ``XᵀLX``, without
    which the others are fitted again.
    """

    problem: PartedProblem
    measuring: Measuring
    name: str = LEAVE_QUERY_OUT

    def values(self, family: Any, loss_of: LossOf, alphas: Floats, report: OnFractionDone) -> Values:
        loss, positions = family.loss, self.problem.queries.positions
        smallest = float(alphas.min())
        left_out = LeaveQueryOut(
            family.system, family.decomposition(smallest), alphas, loss.ties, loss.weighting, self.measuring
        )
        found = self.problem.parts.total(left_out_whole, left_out, own=positions)
        total: Measurement = found.total
        unresolved = [digest for note in found.notes for digest in note.tolist()]
        report(0.9)
        if len(self.problem.queries.split):
            rows = self._gathered(self.problem.queries.split)
            measured, lost = left_out(rows, np.arange(rows.queries.n_queries))
            total = total + measured
            unresolved += rows.queries.labels[lost].tolist()  # type: ignore[index]
        for digest in unresolved:
            total = total + self._refitted(family, loss_of, alphas, np.array([digest]))
        report(1.0)
        return total.criterion()

    def _gathered(self, digests: Ints) -> Problem:
        """The rows of some queries, in the order of the parts."""
        chosen = [np.flatnonzero(positions_in(digests, one) >= 0) for one in self.problem.queries.digests]
        parts = self.problem.parts.each(Rows.of, own=chosen)
        return Rows.joined([part for part in parts if len(part.y)])

    def _refitted(self, family: Any, loss_of: LossOf, alphas: Floats, digest: Ints) -> Measurement:
        rows = self._gathered(digest)
        fold = Fold(rows.X, np.arange(len(rows.y)), None, lambda: loss_of(self.problem.without(digest)))
        (found,) = family.leave_out([fold], alphas)
        return self.measuring(rows.y, rows.queries, found.scores)


@dataclass(frozen=True, eq=False)
class LeaveQueryOut:
    """What it takes to leave out a query: the system of all queries, and its decomposition."""

    system: Any
    decomposition: Any
    alphas: Floats
    ties: Ties
    weighting: Weighting
    measuring: Measuring

    def __call__(self, problem: Problem, chosen: Ints) -> tuple[Measurement, Ints]:
        """The measure of some queries by models of all others, and those for which digits would be lost."""
        if len(chosen) == 0:
            return self.measuring.of_nothing(len(self.alphas)), chosen
        design, loss = MatrixDesign(problem.X), loss_on_scores(problem, self.ties, self.weighting)
        found = leave_out_primal(
            design, loss, self.system, self.decomposition, list(chosen[:, None]), self.alphas
        )
        query, scores = problem.queries.query_of_row(), np.empty((len(problem.y), len(self.alphas)))
        order = np.argsort(query, kind="stable")
        offsets, lost = problem.queries.offsets, []
        for one, of_query in zip(chosen.tolist(), found, strict=True):
            if of_query is None:
                lost.append(one)
            else:
                scores[order[offsets[one] : offsets[one + 1]]] = of_query
        kept = np.flatnonzero(np.isin(query, chosen) & ~np.isin(query, lost))
        if len(kept) == 0:
            return self.measuring.of_nothing(len(self.alphas)), np.array(lost, dtype=np.int64)
        # Equal rows of a query are tied, however they were scored.
        scores = scores[first_equal_rows(problem.X, query)[kept]]
        measured = self.measuring(problem.y[kept], problem.queries.select(kept), scores)
        return measured, np.array(lost, dtype=np.int64)


def left_out_whole(problem: Problem, position: Ints, left_out: LeaveQueryOut) -> Tally:
    """The measure of a part's whole queries; the digests of those that have to be refitted."""
    measured, lost = left_out(problem, np.flatnonzero(position < 0))
    return Tally(measured, (query_labels_of(problem)[lost],))


@dataclass(frozen=True)
class OnPartedFolds:
    """The measure on folds of whole queries, by models fitted to the others."""

    problem: PartedProblem
    measuring: Measuring
    n_folds: int

    @property
    def name(self) -> str:
        return f"{self.n_folds} folds of queries"

    def values(self, family: Family, loss_of: LossOf, alphas: Floats, report: OnFractionDone) -> Values:
        distinct = np.unique(np.concatenate(self.problem.queries.digests))
        total, n_finished, interrupted = self.measuring.of_nothing(len(alphas)), 0, False
        try:
            for number in range(self.n_folds):
                # Digests are as good as random numbers.
                held = distinct[number :: self.n_folds]
                loss = partial(loss_without, loss_of, self.problem, held, number)
                found = family.for_run(f"fold-{number}").solve_without(loss, alphas)
                if found.interrupted:
                    raise KeyboardInterrupt
                total = total + self._measured(found.coef, held)
                n_finished += 1
                report(n_finished / self.n_folds)
        except KeyboardInterrupt:
            if n_finished == 0:
                raise
            warn_unfinished(n_finished, self.n_folds)
            interrupted = True
        return replace(total.criterion(), interrupted=interrupted)

    def _measured(self, coef: Floats, held: Ints) -> Measurement:
        queries = self.problem.queries
        own = [
            (position, positions_in(held, digests) >= 0)
            for position, digests in zip(queries.positions, queries.digests, strict=True)
        ]
        found = self.problem.parts.total(measured_fold, coef, self.measuring, own=own)
        total: Measurement = found.total
        rows = np.concatenate(found.notes)
        if len(rows) == 0:
            return total
        split = group_rows(rows[:, 0].astype(np.int64), len(rows))
        return total + self.measuring(rows[:, 1], split, rows[:, 2:])


def measured_fold(problem: Problem, own: tuple[Ints, Any], coef: Floats, measuring: Measuring) -> Tally:
    """The measure of the whole queries of a fold in a part; query, label and scores of the rows of others."""
    position, is_held = own
    query = problem.queries.query_of_row()
    rows = np.flatnonzero(is_held[query])
    if len(rows) == 0:
        return Tally(measuring.of_nothing(len(coef)), (np.zeros((0, 2 + len(coef))),))
    scores = MatrixDesign(problem.X[rows]).scores(coef.T)
    whole = position[query[rows]] < 0
    rest = np.column_stack([position[query[rows]], problem.y[rows], scores])[~whole]
    if not whole.any():
        return Tally(measuring.of_nothing(len(coef)), (rest,))
    kept = rows[whole]
    measured = measuring(problem.y[kept], problem.queries.select(kept), scores[whole])
    return Tally(measured, (rest,))


def no_split_of_rows(problem: PartedProblem, *_: Any) -> NoReturn:
    raise ParameterError("early_stopping on a cluster needs an eval_set.")


def parted_criterion(problem: PartedProblem, measure: Measure, cv: Any, *, exact: bool) -> Criterion:
    n_queries = problem.queries.n_queries
    if n_queries < 2:
        raise DataError("One global ranking on a cluster has no queries to leave out; pass an eval_set.")
    named = cv if isinstance(cv, str) else None
    measuring = Measuring(measure, max(1, min(PAIRS_PER_QUERY, PAIRS_IN_TOTAL // n_queries)))
    if named == LEAVE_PAIR_OUT:
        raise DataError(f"Leave-pair-out needs one global ranking, but there are {n_queries} queries.")
    if named == LEAVE_QUERY_OUT or (named == "auto" and exact):
        if not exact:
            raise ParameterError(
                f"cv='{LEAVE_QUERY_OUT}' on a cluster needs a closed form; set cv to a number of folds."
            )
        return EachPartedQuery(problem, measuring)
    n_folds = min(AUTO_FOLDS, n_queries) if named == "auto" else cv
    if isinstance(n_folds, bool) or not isinstance(n_folds, int) or not 2 <= n_folds <= n_queries:
        raise ParameterError(
            f"On a cluster, the 'cv' parameter must be 'auto', '{LEAVE_QUERY_OUT}' or a number of folds "
            f"from 2 to {n_queries}; got {cv!r}."
        )
    return OnPartedFolds(problem, measuring, n_folds)
