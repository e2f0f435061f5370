"""Columns that tell no rows of a query apart."""

from __future__ import annotations

import numpy as np

from rankwise.operators.blocks import dense
from rankwise.preferences.queries import Queries
from rankwise.types import Bools, Matrix


def constant_within_queries(X: Matrix, queries: Queries) -> Bools:
    """Which columns have the same value in all rows of each query, so that no ranker can use them."""
    constant = np.ones(X.shape[1], dtype=bool)
    for q in range(queries.n_queries):
        first, last = queries.offsets[q : q + 2]
        rows = slice(first, last) if queries.order is None else queries.order[first:last]
        low, high = dense(X[rows].min(axis=0)), dense(X[rows].max(axis=0))
        constant &= (low == high).ravel()
    return constant
