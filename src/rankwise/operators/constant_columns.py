"""Columns that tell no rows of a query apart."""

from __future__ import annotations

import numpy as np

from rankwise.operators.blocks import block_rows, dense, runs
from rankwise.preferences.queries import Queries
from rankwise.types import Bools, Matrix


def constant_within_queries(X: Matrix, queries: Queries) -> Bools:
    """Which columns have the same value in all rows of each query, so that alone they rank nothing."""
    constant = np.ones(X.shape[1], dtype=bool)
    size, offsets = block_rows(X), queries.offsets
    for first, last in runs(offsets, size):
        if not constant.any():
            break
        start, stop = int(offsets[first]), int(offsets[last])
        rows = slice(start, stop) if queries.order is None else queries.order[start:stop]
        if stop - start > size:  # one query, which may be too large to be dense
            low, high = dense(X[rows].min(axis=0)), dense(X[rows].max(axis=0))
        else:
            block, starts = dense(X[rows]), offsets[first:last] - start
            low, high = np.minimum.reduceat(block, starts), np.maximum.reduceat(block, starts)
        constant &= (low == high).reshape(-1, len(constant)).all(axis=0)
    return constant
