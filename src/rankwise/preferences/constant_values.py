"""Values of any kind that are the same in all rows of a query."""

from __future__ import annotations

import numpy as np

from rankwise.preferences.queries import Queries
from rankwise.types import AnyArray, Bools


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
