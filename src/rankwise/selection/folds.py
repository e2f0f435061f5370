"""Folds: what is held out together, scored by models that did not see it, and measured."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import GroupKFold

from rankwise.errors import DataError, ParameterError
from rankwise.metrics.measure import Measure, get_measure
from rankwise.metrics.preferences import contradicted
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import Queries, group_rows
from rankwise.types import Floats, Ints

# Fills in the scores of a fold's rows, or the differences of its pairs, one column an alpha, by models that
# did not see them.
ScoreFold = Callable[[Ints, Floats], None]


@dataclass(frozen=True)
class Folds:
    """Rows, or pairs, that are held out in turn.

    Attributes
    ----------
    held : sequence of Ints
        Those of each fold.
    compared : Ints, shape (m,)
        Rows with the same number are compared: those of a query or, in one global ranking, those of a fold,
        which alone have their scores from the same model.
    """

    held: Sequence[Ints]
    compared: Ints

    def measured(self, scores: Floats, y: Floats, measure: Measure) -> Floats:
        """The measure of each column of scores, of rows that have some; NaN for a column without."""
        seen = ~np.isnan(scores).all(axis=1)
        prepared = measure.on(y[seen], self.compared[seen])
        return np.array([np.nan if np.isnan(c).any() else prepared(c) for c in scores[seen].T])


def measure_of_pairs(measure: str | Measure) -> Measure:
    """What pairs are chosen by, and nothing else: the part of them that is contradicted."""
    checked = get_measure(measure)
    if checked.kind not in ("pairwise_error", "pairwise_error_micro"):
        raise ParameterError(
            f"Of explicit pairs, those contradicted are counted: measure must be 'pairwise_error'; "
            f"got '{checked.name}'."
        )
    return checked


def pairs_measured(differences: Floats, weight: Floats | None) -> Floats:
    """The part of the pairs that is contradicted by each column of differences, as `Folds.measured`."""
    seen = ~np.isnan(differences).all(axis=1)
    weight = None if weight is None else weight[seen]
    return np.array([np.nan if np.isnan(c).any() else contradicted(c, weight) for c in differences[seen].T])


def each_query(queries: Queries) -> Folds:
    """Every query is a fold."""
    order = np.arange(queries.n_rows) if queries.order is None else queries.order
    return Folds(np.split(order, queries.offsets[1:-1]), queries.query_of_row())


def draw_folds(cv: Any, y: Floats, queries: Queries) -> Folds:
    """What a number of folds, a scikit-learn splitter or a list of its splits stands for.

    A number makes folds of whole queries, as `GroupKFold` does. One global ranking has only rows to hold out;
    they are dealt out in the order of their labels, so that every fold has its share of all grades, however
    the rows are sorted.
    """
    return _draw(cv, y, queries, ("row", "rows"), ("query", "queries"))


def draw_pair_folds(cv: Any, pairs: Pairs, n_rows: int) -> Folds:
    """Folds of pairs that share no row with those of other folds; of any pairs where all hang together."""
    if isinstance(cv, str):
        raise ParameterError(
            f"cv={cv!r} leaves out labelled rows; for pairs, set cv to a number of folds or pass an eval_set."
        )
    edges = coo_array((np.ones(len(pairs)), (pairs.better, pairs.worse)), shape=(n_rows, n_rows))
    group = connected_components(edges, directed=False)[1][pairs.better]
    one, several = ("pair", "pairs"), ("group of pairs", "groups of pairs without a row in common")
    return _draw(cv, np.zeros(len(pairs)), group_rows(group, len(pairs)), one, several)


def _draw(cv: Any, y: Floats, queries: Queries, row: tuple[str, str], query: tuple[str, str]) -> Folds:
    """Folds of whole queries or, if there is only one, of its rows; the words for both are for errors."""
    one_ranking, query_of_row = queries.n_queries == 1, queries.query_of_row()
    unit, units = row if one_ranking else query
    fold_of_row = np.full(len(y), -1)
    for number, (train, test) in enumerate(_splits(cv, y, queries, units)):
        if (fold_of_row[test] >= 0).any():
            raise DataError(f"cv must hold out every {unit} at most once.")
        fold_of_row[test] = number
        kept = (
            fold_of_row[train] != number if one_ranking else ~np.isin(query_of_row[train], query_of_row[test])
        )
        if not kept.all() or len(train) + len(test) != len(y):
            what, splitter = (units, "KFold") if one_ranking else (f"whole {units}", "GroupKFold")
            raise DataError(f"cv must hold out {what} and train on all others, as {splitter} does.")
    held = [np.flatnonzero(fold_of_row == number) for number in range(fold_of_row.max() + 1)]
    return Folds(held, fold_of_row if one_ranking else query_of_row)


def _splits(cv: Any, y: Floats, queries: Queries, units: str) -> Iterable[tuple[Ints, Ints]]:
    """Rows to train on and rows to hold out, fold by fold."""
    if cv is None:
        raise ParameterError("cv=None chooses alpha on an eval_set; pass one to fit, or set cv.")
    one_ranking = queries.n_queries == 1
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        most = queries.n_rows if one_ranking else queries.n_queries
        if not 2 <= cv <= most:
            raise ParameterError(
                f"The 'cv' parameter must be between 2 and the number of {units}, {most}; got {cv}."
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
    """Scores of what is held out, one column an alpha, and whether the keyboard ended it early.

    What an interrupt leaves to choose by are the folds that are through or, in the first one, the alphas that
    are; before the first of them there is nothing, and the interrupt is passed on. NaN stands for what is
    missing, and for rows of no fold.
    """
    scores = np.full((len(folds.compared), n_alphas), np.nan)
    for number, held in enumerate(folds.held):
        found = np.full((len(held), n_alphas), np.nan)
        try:
            score(held, found)
        except DataError as error:
            raise DataError(f"Without fold {number} of cv: {error}") from error
        except KeyboardInterrupt:
            if number == 0:
                if np.isnan(found).all():
                    raise
                scores[held] = found
            warnings.warn(
                f"Interrupted from the keyboard; {max(1, number)} of {len(folds.held)} folds choose alpha.",
                stacklevel=2,
            )
            return scores, True
        scores[held] = found
    return scores, False
