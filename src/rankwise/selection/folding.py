"""Folds: rows or pairs that are left out together and compared with each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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
# "auto" leaves out each query up to so many; above, it leaves out so many groups of queries.
MOST_QUERIES, N_GROUPS = 10_000, 1_000


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


def queries_or_groups(queries: Queries, most: int = MOST_QUERIES, n_groups: int = N_GROUPS) -> Folds:
    """Make every query a fold or, of more than `most`, deal them out at random, always the same way."""
    if queries.n_queries <= most:
        return each_query(queries)
    dealt = np.random.default_rng(0).permutation(queries.n_queries)
    groups = [np.sort(group) for group in np.array_split(dealt, n_groups)]
    group_of_query = np.empty(queries.n_queries, dtype=np.int64)
    group_of_query[np.concatenate(groups)] = np.repeat(np.arange(n_groups), [len(group) for group in groups])
    query_of_row = queries.query_of_row()
    group_of_row = group_of_query[query_of_row]
    held = np.split(np.argsort(group_of_row, kind="stable"), np.cumsum(np.bincount(group_of_row))[:-1])
    return Folds(f"leave-group-out ({n_groups:,} groups of queries)", held, query_of_row, groups)


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
    n_folds = 0
    for number, split in enumerate(_splits(cv, y, units)):
        train, test = _checked_split(split, number, units)
        n_folds += 1
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
    if n_folds == 0:
        raise ParameterError(f"The 'cv' parameter has no folds; got {cv!r}.")
    held = [np.flatnonzero(fold_of_row == number) for number in range(n_folds)]
    name = f"{len(held)} folds of {units.several}"
    if units.are_items:
        return Folds(name, held, fold_of_row)
    return Folds(name, held, query_of_row, [np.unique(query_of_row[rows]) for rows in held])


def _splits(cv: Any, y: Floats, units: _Units) -> Iterable[Any]:
    """The rows to train on and the rows to hold out, fold by fold; unchecked."""
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
    if isinstance(cv, (str, bytes)) or not (hasattr(cv, "split") or _is_iterable(cv)):
        raise ParameterError(f"The 'cv' parameter must be a number of folds or a splitter; got {cv!r}.")
    query, labels = units.groups.query_of_row(), units.groups.labels
    groups = query if labels is None or labels.dtype.kind == "O" else labels[query]
    if not hasattr(cv, "split"):
        return cv  # type: ignore[no-any-return]
    try:
        return list(cv.split(np.zeros((len(y), 1)), y, None if units.are_items else groups))
    except (TypeError, ValueError) as error:  # which say what the splitter needs
        raise ParameterError(f"The 'cv' parameter cannot split the {units.several}: {error}") from error


def _is_iterable(cv: Any) -> bool:
    return isinstance(cv, Iterable) and not (isinstance(cv, np.ndarray) and cv.ndim == 0)


def _checked_split(split: Any, number: int, units: _Units) -> tuple[Ints, Ints]:
    """The numbers of the rows (or pairs) to train on and to hold out."""
    several, n = units.item[1], units.groups.n_rows
    expected = f"Fold {number} of cv must be the numbers of the {several} to train on and to hold out"
    try:
        train, test = (np.asarray(part) for part in split)
    except (TypeError, ValueError):
        raise ParameterError(f"{expected}; got a value of type {type(split).__name__}.") from None
    for part, use in ((train, "train on"), (test, "hold out")):
        if part.ndim != 1 or not (len(part) == 0 or part.dtype.kind in "iu"):
            raise ParameterError(f"{expected}; got type {part.dtype}, shape {part.shape}, to {use}.")
        if len(part) == 0:
            raise DataError(f"Fold {number} of cv has no {several} to {use}.")
        outside = part[(part < -n) | (part >= n)]
        if len(outside):
            raise DataError(
                f"Fold {number} of cv has {units.item[0]} {outside[0]}, but there are {n} {several}."
            )
    return train, test


def _dealt_by_label(y: Floats, n_folds: int) -> Iterable[tuple[Ints, Ints]]:
    fold = np.empty(len(y), dtype=np.int64)
    fold[np.argsort(y, kind="stable")] = np.arange(len(y)) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


@contextmanager
def without_fold(number: int) -> Iterator[None]:
    """Say which fold was left out if nothing can be learned from the others."""
    try:
        yield
    except DataError as error:
        raise DataError(f"Without fold {number} of cv: {error}") from error
