"""A measure at every breakpoint of a regularization path."""

from __future__ import annotations

import numpy as np

from rankwise import _native
from rankwise.errors import DataError
from rankwise.metrics import Measure
from rankwise.preferences.queries import Queries
from rankwise.solvers.svm_path import SVMPath
from rankwise.threads import resolve_threads
from rankwise.types import Floats

# Scores computed at a time, and score vectors measured at a time.
BLOCK_SCORES = 1 << 17
MEASURED_AT_ONCE = 64
# Below so many rows at once a second thread costs more than it saves.
ROWS_WORTH_A_THREAD = 1 << 16


def measure_breakpoints(
    path: SVMPath, K_rows: Floats, y: Floats, queries: Queries, measure: Measure
) -> Floats:
    """The measure of validation rows at every breakpoint, one value each.

    Most breakpoints of a large graph leave the validation rows in the order they had, and so the measure as
    it was; the others are measured many at a time, as if the rows of each were queries of their own. The
    factor λ > 0 between the path's scores and f's changes no order. O(rows) for each multiplier that changes
    at a breakpoint, and a sort for each order.

    Parameters
    ----------
    K_rows : Floats, shape (rows, n)
        Kernel values between the validation rows and the training rows.
    """
    once = measure.on(y, queries)
    if once.left_out.all():
        raise DataError(f"{measure.name} has no value on the validation rows: {once.left_out_reason}.")
    y, K_rows = queries.grouped(y), queries.grouped(K_rows)
    measured = _MeasureOfMany(measure, y, queries)
    query = np.repeat(np.arange(queries.n_queries), queries.sizes)
    order = None
    values = []
    for scores in path.scores_along(K_rows, max(1, BLOCK_SCORES // len(y)), resolve_threads()):
        order = np.lexsort((scores[0], query)) if order is None else order
        changed = np.empty(len(scores), dtype=np.uint8)
        _native.mark_new_orders(queries.offsets, scores, order, changed)
        values.append(measured(scores[changed != 0])[np.cumsum(changed) - 1])
    return np.concatenate(values)


class _MeasureOfMany:
    """A measure of many score vectors of the same grouped rows."""

    def __init__(self, measure: Measure, y: Floats, queries: Queries) -> None:
        once = measure.on(y, Queries(offsets=queries.offsets), n_threads=1)
        self._counted = ~once.left_out
        self._weight = once.query_weight[self._counted] / once.query_weight[self._counted].sum()
        rows = np.tile(y, MEASURED_AT_ONCE)
        n_threads = resolve_threads() if len(rows) >= ROWS_WORTH_A_THREAD else 1
        self._many = measure.on(rows, _repeat(queries, MEASURED_AT_ONCE), n_threads=n_threads)
        self._scores = np.zeros((MEASURED_AT_ONCE, len(y)))

    def __call__(self, scores: Floats) -> Floats:
        """One value a row of scores."""
        values = np.empty(len(scores))
        for start in range(0, len(scores), MEASURED_AT_ONCE):
            piece = scores[start : start + MEASURED_AT_ONCE]
            self._scores[: len(piece)] = piece
            per_query = self._many.per_query(self._scores.ravel()).reshape(MEASURED_AT_ONCE, -1)
            values[start : start + len(piece)] = per_query[: len(piece), self._counted] @ self._weight
        return values


def _repeat(queries: Queries, times: int) -> Queries:
    """The same grouped queries so many times, one after the other."""
    starts = queries.offsets[:-1] + queries.n_rows * np.arange(times)[:, None]
    return Queries(offsets=np.append(starts.ravel(), times * queries.n_rows).astype(np.int64))
