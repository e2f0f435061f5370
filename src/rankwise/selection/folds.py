"""Folds: what is held out together, scored by models that did not see it, and measured."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold

from rankwise.errors import DataError, ParameterError
from rankwise.metrics.measure import Measure
from rankwise.preferences.queries import Queries
from rankwise.types import Floats, Ints
from rankwise.validation import Problem

# Fills in the scores of a fold's rows, one column an alpha, by models that did not see these rows.
ScoreFold = Callable[[Ints, Floats], None]


@dataclass(frozen=True)
class Folds:
    """Rows that are held out in turn.

    Attributes
    ----------
    rows : sequence of Ints
        Those of each fold.
    compared : Ints, shape (m,)
        Rows with the same number are compared: those of a query or, in one global ranking, those of a fold,
        which alone have their scores from the same model.
    """

    rows: Sequence[Ints]
    compared: Ints

    def measured(self, scores: Floats, problem: Problem, measure: Measure) -> Floats:
        """The measure of each column of scores, of rows that have some; NaN for a column without."""
        seen = ~np.isnan(scores).all(axis=1)
        prepared = measure.on(problem.y[seen], self.compared[seen])
        return np.array([np.nan if np.isnan(c).any() else prepared(c) for c in scores[seen].T])


def each_query(queries: Queries) -> Folds:
    """Every query is a fold."""
    order = np.arange(queries.n_rows) if queries.order is None else queries.order
    return Folds(np.split(order, queries.offsets[1:-1]), queries.query_of_row())


def draw_folds(cv: Any, problem: Problem) -> Folds:
    """What a number of folds, a scikit-learn splitter or a list of its splits stands for.

    A number makes folds of whole queries, as `GroupKFold` does. One global ranking has only rows to hold out;
    they are dealt out in the order of their labels, so that every fold has its share of all grades, however
    the rows are sorted.
    """
    one_ranking = problem.queries.n_queries == 1
    query = problem.queries.query_of_row()
    fold_of_row = np.full(len(query), -1)
    for number, (train, test) in enumerate(_splits(cv, problem, one_ranking)):
        if (fold_of_row[test] >= 0).any():
            raise DataError(f"cv must hold out every {'row' if one_ranking else 'query'} at most once.")
        fold_of_row[test] = number
        apart = fold_of_row[train] != number if one_ranking else ~np.isin(query[train], query[test])
        if not apart.all() or len(train) + len(test) != len(query):
            what, splitter = ("rows", "KFold") if one_ranking else ("whole queries", "GroupKFold")
            raise DataError(f"cv must hold out {what} and train on all others, as {splitter} does.")
    rows = [np.flatnonzero(fold_of_row == number) for number in range(fold_of_row.max() + 1)]
    return Folds(rows, fold_of_row if one_ranking else query)


def _splits(cv: Any, problem: Problem, one_ranking: bool) -> Iterable[tuple[Ints, Ints]]:
    """Rows to train on and rows to hold out, fold by fold."""
    if cv is None:
        raise ParameterError("cv=None chooses alpha on an eval_set; pass one to fit, or set cv.")
    y, queries = problem.y, problem.queries
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        unit, most = ("rows", queries.n_rows) if one_ranking else ("queries", queries.n_queries)
        if not 2 <= cv <= most:
            raise ParameterError(
                f"The 'cv' parameter must be between 2 and the number of {unit}, {most}; got {cv}."
            )
        cv = _dealt_by_label(y, int(cv)) if one_ranking else GroupKFold(int(cv))
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ParameterError(f"The 'cv' parameter must be a number of folds or a splitter; got {cv!r}.")
    query, labels = queries.query_of_row(), queries.labels
    groups = query if labels is None or labels.dtype.kind == "O" else labels[query]
    splits: Iterable[tuple[Ints, Ints]] = cv
    if hasattr(cv, "split"):
        splits = cv.split(np.zeros((len(y), 1)), y, None if one_ranking else groups)
    return splits


def _dealt_by_label(y: Floats, n_folds: int) -> Iterable[tuple[Ints, Ints]]:
    fold = np.empty(len(y), dtype=np.int64)
    fold[np.argsort(y, kind="stable")] = np.arange(len(y)) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


def score_folds(folds: Folds, n_alphas: int, score: ScoreFold) -> tuple[Floats, bool]:
    """Scores of held-out rows, one column an alpha, and whether the keyboard ended it early.

    What an interrupt leaves to choose by are the folds that are through or, in the first one, the alphas that
    are; before the first of them there is nothing, and the interrupt is passed on. NaN stands for what is
    missing, and for rows of no fold.
    """
    scores = np.full((len(folds.compared), n_alphas), np.nan)
    for number, rows in enumerate(folds.rows):
        held = np.full((len(rows), n_alphas), np.nan)
        try:
            score(rows, held)
        except DataError as error:
            raise DataError(f"Without fold {number} of cv: {error}") from error
        except KeyboardInterrupt:
            if number == 0:
                if np.isnan(held).all():
                    raise
                scores[rows] = held
            warnings.warn(
                f"Interrupted from the keyboard; {max(1, number)} of {len(folds.rows)} folds choose alpha.",
                stacklevel=2,
            )
            return scores, True
        scores[rows] = held
    return scores, False
