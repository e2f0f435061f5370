"""A measure at every breakpoint of a regularization path."""

from __future__ import annotations

import numpy as np

from rankwise.errors import DataError
from rankwise.metrics import Measure
from rankwise.preferences.queries import Queries
from rankwise.solvers.svm_path import SVMPath
from rankwise.threads import resolve_threads
from rankwise.types import Floats

# Scores computed and measured at a time: few enough that preparing the measure for them costs little.
BLOCK_SCORES = 1 << 14


def measure_breakpoints(
    path: SVMPath, K_rows: Floats, y: Floats, queries: Queries, measure: Measure
) -> Floats:
    """The measure of validation rows at every breakpoint, one value each.

    Every breakpoint of a block is measured in one call, as if its rows were queries of their own. The factor
    λ > 0 between the path's scores and f's changes no order. O(rows) for each multiplier that changes at a
    breakpoint, and one sort.

    Parameters
    ----------
    K_rows : Floats, shape (rows, n)
        Kernel values between the validation rows and the training rows.
    """
    once = measure.on(y, queries)
    counted = ~once.left_out
    if not counted.any():
        raise DataError(f"{measure.name} has no value on the validation rows: {once.left_out_reason}.")
    weight = once.query_weight[counted] / once.query_weight[counted].sum()
    y, K_rows = queries.grouped(y), queries.grouped(K_rows)
    block = max(1, min(path.n_breakpoints, BLOCK_SCORES // len(y)))
    repeated = measure.on(np.tile(y, block), _repeat(queries, block))
    padded = np.zeros((block, len(y)))
    values = []
    for scores in path.scores_along(K_rows, block, resolve_threads()):
        padded[: len(scores)] = scores
        per_query = repeated.per_query(padded.ravel()).reshape(block, -1)
        values.append(per_query[: len(scores), counted] @ weight)
    return np.concatenate(values)


def _repeat(queries: Queries, times: int) -> Queries:
    """The same grouped queries so many times, one after the other."""
    starts = queries.offsets[:-1] + queries.n_rows * np.arange(times)[:, None]
    return Queries(offsets=np.append(starts.ravel(), times * queries.n_rows).astype(np.int64))
