"""Folds: rows or pairs that are left out together and compared with each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold

from rankwise.errors import DataError, ParameterError
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import Queries, group_rows
from rankwise.types import Floats, Ints

LEAVE_QUERY_OUT = "leave-query-out"
# The number of folds that "auto" draws, data permitting.
AUTO_FOLDS = 5


@dataclass(frozen=True)
class Folds:
    """Rows, or pairs, that are left out in turn.

    Attributes
    ----------
    name : str
        Such as "5 folds of queries".
    held : sequence of Ints
        The row (or pair) numbers of each fold, in ascending order.
    compared : Ints, shape (m,)
        Rows with the same number are compared: those of a query or, in one global ranking, those of a fold,
        because only these have scores from the same model.
    queries : sequence of Ints or None
        The queries that make up each fold, by position; None if folds do not consist of whole queries.
    """

    name: str
    held: Sequence[Ints]
    compared: Ints
    queries: Sequence[Ints] | None = None


@dataclass(frozen=True)
class _Units:
    """The units of folds: groups (queries, or pairs that share rows), or items if there is only one group.

    The names, singular and plural, are for messages.
    """

    groups: Queries
    item: tuple[str, str]
    group: tuple[str, str]

    @property
    def are_items(self) -> bool:
        return self.groups.n_queries == 1

    @property
    def count(self) -> int:
        return self.groups.n_rows if self.are_items else self.groups.n_queries

    @property
    def one(self) -> str:
        return (self.item if self.are_items else self.group)[0]

    @property
    def several(self) -> str:
        return (self.item if self.are_items else self.group)[1]


def each_query(queries: Queries) -> Folds:
    """Make every query a fold."""
    order = np.arange(queries.n_rows) if queries.order is None else queries.order
    held = np.split(order, queries.offsets[1:-1])
    return Folds(LEAVE_QUERY_OUT, held, queries.query_of_row(), list(np.arange(queries.n_queries)[:, None]))


def draw_folds(cv: Any, y: Floats, queries: Queries) -> Folds:
    """The folds specified by "auto", a number, a scikit-learn splitter or a list of splits.

    A number makes folds of whole queries, as `GroupKFold` does. In one global ranking, only rows can be left
    out; they are dealt out in the order of their labels, so every fold has its share of all grades, however
    the rows are sorted.
    """
    return _draw(cv, y, _Units(queries, ("row", "rows"), ("query", "queries")))


def draw_pair_folds(cv: Any, pairs: Pairs, n_rows: int) -> Folds:
    """Folds of pairs that share no row with those of other folds; of any pairs if all are connected."""
    if isinstance(cv, str) and cv != "auto":
        raise ParameterError(
            f"cv={cv!r} leaves out labelled rows; for pairs, set cv to a number of folds or pass an eval_set."
        )
    group = group_rows(pairs.components(n_rows).query_of_row()[pairs.better], len(pairs))
    words = ("group of pairs", "groups of pairs that share no row")
    folds = _draw(cv, np.zeros(len(pairs)), _Units(group, ("pair", "pairs"), words))
    return replace(folds, name=f"{len(folds.held)} folds of pairs")


def _draw(cv: Any, y: Floats, units: _Units) -> Folds:
    query_of_row = units.groups.query_of_row()
    fold_of_row = np.full(len(y), -1)
    for number, (train, test) in enumerate(_splits(cv, y, units)):
        if (fold_of_row[test] >= 0).any():
            raise DataError(f"cv must hold out every {units.one} at most once.")
        fold_of_row[test] = number
        kept = (
            fold_of_row[train] != number
            if units.are_items
            else ~np.isin(query_of_row[train], query_of_row[test])
        )
        if not kept.all() or len(train) + len(test) != len(y):
            what, splitter = (
                (units.several, "KFold") if units.are_items else (f"whole {units.several}", "GroupKFold")
            )
            raise DataError(f"cv must hold out {what} and train on all others, as {splitter} does.")
    held = [np.flatnonzero(fold_of_row == number) for number in range(fold_of_row.max() + 1)]
    name = f"{len(held)} folds of {units.several}"
    if units.are_items:
        return Folds(name, held, fold_of_row)
    return Folds(name, held, query_of_row, [np.unique(query_of_row[rows]) for rows in held])


def _splits(cv: Any, y: Floats, units: _Units) -> Iterable[tuple[Ints, Ints]]:
    """The rows to train on and the rows to hold out, fold by fold."""
    if cv is None:
        raise ParameterError("cv=None chooses alpha on an eval_set; pass one to fit, or set cv.")
    if isinstance(cv, str) and cv == "auto":
        if units.count < 2:
            raise DataError(f"There is only one {units.one} to choose alpha on; pass an eval_set.")
        cv = min(AUTO_FOLDS, units.count)
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if not 2 <= cv <= units.count:
            raise ParameterError(
                f"The 'cv' parameter must be between 2 and the number of {units.several}, {units.count}; "
                f"got {cv}."
            )
        cv = _dealt_by_label(y, int(cv)) if units.are_items else GroupKFold(int(cv))
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ParameterError(f"The 'cv' parameter must be a number of folds or a splitter; got {cv!r}.")
    query, labels = units.groups.query_of_row(), units.groups.labels
    groups = query if labels is None or labels.dtype.kind == "O" else labels[query]
    splits: Iterable[tuple[Ints, Ints]] = cv
    if hasattr(cv, "split"):
        splits = cv.split(np.zeros((len(y), 1)), y, None if units.are_items else groups)
    return splits


def _dealt_by_label(y: Floats, n_folds: int) -> Iterable[tuple[Ints, Ints]]:
    fold = np.empty(len(y), dtype=np.int64)
    fold[np.argsort(y, kind="stable")] = np.arange(len(y)) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
