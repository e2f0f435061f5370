"""A measure at every breakpoint of a regularization path."""

from __future__ import annotations

import numpy as np

from rankwise.errors import DataError
from rankwise.metrics import Measure
from rankwise.preferences.queries import Queries
from rankwise.solvers.svm_path import SVMPath
from rankwise.threads import resolve_threads
from rankwise.types import Floats

# Scores computed at a time.
BLOCK_SCORES = 1 << 18


def measure_breakpoints(
    path: SVMPath, K_rows: Floats, y: Floats, queries: Queries, measure: Measure
) -> Floats:
    """The measure of validation rows at every breakpoint, one value each.

    The factor λ > 0 between the path's scores and f's changes no order. O(rows) for each coefficient that
    changes at a breakpoint, and what the measure takes for scores in nearly the order of those before.

    Parameters
    ----------
    K_rows : Floats, shape (rows, n)
        Kernel values between the validation rows and the training rows.
    """
    prepared = measure.on(y, queries)
    if prepared.left_out.all():
        raise DataError(f"{measure.name} has no value on the validation rows: {prepared.left_out_reason}.")
    block = max(1, BLOCK_SCORES // len(y))
    return np.concatenate(
        [prepared.many(scores) for scores in path.scores_along(K_rows, block, resolve_threads())]
    )
