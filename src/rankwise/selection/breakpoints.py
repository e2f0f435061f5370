"""A measure at every breakpoint of a regularization path."""

from __future__ import annotations

from rankwise.metrics import PreparedMeasure
from rankwise.solvers.path_solutions import PathSolutions
from rankwise.threads import resolve_threads
from rankwise.types import Floats

# Scores computed at a time: they stay in the cache, and the system has few pages to give. But not too few
# breakpoints, since measures start afresh with every block.
BLOCK_SCORES = 1 << 16
MIN_BREAKPOINTS = 32


def measure_breakpoints(path: PathSolutions, K_columns: Floats, measure: PreparedMeasure) -> Floats:
    """The measure of validation rows at every breakpoint, one value each.

    The factor λ > 0 between the path's scores and f's changes no order. O(rows) for each coefficient that
    changes at a breakpoint, and what the measure takes for scores in nearly the order of those before.

    Parameters
    ----------
    K_columns : Floats, shape (n, rows)
        Kernel values between the training rows and the validation rows, in C order.
    measure : PreparedMeasure
        Prepared for the labels of the validation rows.
    """
    block = max(MIN_BREAKPOINTS, BLOCK_SCORES // K_columns.shape[1])
    return measure.many_in_blocks(path.scores_along(K_columns, block, resolve_threads()))
