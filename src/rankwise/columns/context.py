"""Columns that are the same in all rows of a query: its context, such as the device or its category."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from rankwise.errors import ContextWarning, warn_caller
from rankwise.mapped import is_on_disk
from rankwise.preferences.queries import Queries
from rankwise.rendering import enumerated
from rankwise.rows.table import Table
from rankwise.types import AnyArray, Bools, Ints, Matrix

# So many are named; the others are counted.
NAMED = 5
# Most columns differ among the first rows of the data, and need not be looked at any further.
ROWS_FIRST = 256


def is_context(values: AnyArray, queries: Queries) -> bool:
    """Whether values of any kind are the same in all rows of each query, but not in all rows."""
    return is_constant(values, queries) and not bool(_same(values, values[:1]).all())


def is_constant(values: AnyArray, queries: Queries) -> bool:
    """Whether values of any kind are the same in all rows of each query."""
    return bool(constant_in_first_queries(values, queries, queries.n_queries))


def constant_in_first_queries(values: AnyArray, queries: Queries, n_queries: int) -> Bools:
    """Whether values, or those of each column, are the same in all rows of each of the first queries."""
    offsets, stop = queries.offsets[:n_queries], int(queries.offsets[n_queries])
    grouped = values[:stop] if queries.order is None else values[queries.order[:stop]]
    first = np.repeat(grouped[offsets], queries.sizes[:n_queries], axis=0)
    return np.asarray(_same(grouped, first).all(axis=0))


def _same(a: AnyArray, b: AnyArray) -> Bools:
    """Where values are equal, or both missing."""
    same = np.asarray(a == b, dtype=bool)
    return same if a.dtype.kind == "O" or same.all() else same | ((a != a) & (b != b))


def context_of_table(table: Table, queries: Queries) -> tuple[str, ...]:
    """The columns of a table that are the same in all rows of each query, but not in all rows."""
    few = _queries_first(queries)
    return tuple(
        name
        for name, column in table.columns.items()
        if constant_in_first_queries(column.values, queries, few) and is_context(column.values, queries)
    )


def context_of_matrix(X: Matrix, queries: Queries) -> Ints:
    """The same of a dense matrix in memory; sparse columns are words and the like, and 0 in most rows."""
    if not isinstance(X, np.ndarray) or is_on_disk(X):
        return np.empty(0, dtype=np.int64)
    candidates = np.flatnonzero(constant_in_first_queries(X, queries, _queries_first(queries)))
    found = [c for c in candidates.tolist() if is_context(np.ascontiguousarray(X[:, c]), queries)]
    return np.array(found, dtype=np.int64)


@lru_cache
def warn_of_context(names: tuple[str, ...]) -> None:
    """Warn once of the same columns, however many folds and settings are fitted."""
    warn_caller(about_context(names), ContextWarning)


def about_context(names: Sequence[str], *, with_interactions: bool = False) -> str:
    """What columns that are constant within queries can do, in a sentence.

    `with_interactions` is whether the model could have used them in interactions.
    """
    columns, are, they = ("Columns", "are", "they") if len(names) > 1 else ("Column", "is", "it")
    shown = list(names if len(names) <= NAMED + 1 else names[:NAMED])
    if len(shown) < len(names):
        shown.append(f"{len(names) - NAMED} others")
    fact = f"{columns} {enumerated(shown)} {are} constant within queries"
    if with_interactions:
        return f"{fact} and in no interaction, so {they} cannot change any order."
    return (
        f"{fact}; {they} can only matter together "
        'with other columns, through interactions="auto" or a kernel ranker, or between queries, through '
        "across_queries."
    )


def _queries_first(queries: Queries) -> int:
    """As many queries as hold the first rows."""
    return min(queries.n_queries, int(np.searchsorted(queries.offsets, ROWS_FIRST)))
