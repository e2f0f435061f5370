"""Selection along an exact regularization path."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.metrics.measure import Measure
from rankwise.path.path_scores import PathScores
from rankwise.path.path_solutions import PathSolutions
from rankwise.preferences.queries import group_rows
from rankwise.selection.search import best_alpha
from rankwise.types import Floats


def choose_breakpoint(
    path: PathSolutions,
    kernel_values: Floats,
    y: ArrayLike,
    qid: ArrayLike | Iterable[Hashable] | None,
    measure: Measure,
) -> tuple[Floats, int]:
    """The measure at every breakpoint, by ascending alpha, and the position of the best one.

    Parameters
    ----------
    path : PathSolutions
    kernel_values : Floats, shape (h, m)
        Kernel values between validation rows and training rows, as `predict` has them, in C order.
    y, qid
        Labels and queries of the validation rows.
    measure : Measure
    """
    prepared = measure.prepare(y, group_rows(qid, len(kernel_values)))
    if prepared.left_out.all():
        raise DataError(f"{measure.name} is undefined on the validation rows: {prepared.left_out_reason}.")
    # λ f, a positive multiple of f, gives the same order of rows.
    descending = prepared.along(PathScores(path, kernel_values))
    values = np.ascontiguousarray(descending[::-1])
    return values, best_alpha(values[None], measure)[1]
