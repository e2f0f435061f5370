"""Checks for explicit pairs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.preferences.pairs import Pairs, PreferencePairs
from rankwise.types import Floats
from rankwise.validation.arrays import as_floats, refuse_masked


def check_pairs(
    pairs: Any, n_rows: int | None, magnitude: ArrayLike | None = None, weight: ArrayLike | None = None
) -> Pairs:
    """Return pairs of distinct, existing rows, preferred row first; contradictions and cycles are allowed.

    `PreferencePairs`, as read from a file or a click log, come with their own weights. `n_rows` is None if
    the number of rows is unknown.
    """
    if isinstance(pairs, PreferencePairs):
        if weight is not None and pairs.weight is not None:
            raise DataError("weight is given twice: the pairs already have weights.")
        pairs, weight = pairs.pairs, weight if pairs.weight is None else pairs.weight
    refuse_masked("pairs", pairs)
    try:
        array = np.asarray(pairs)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.ndim != 2 or array.shape[1] != 2 or array.shape[0] == 0:
        raise DataError(
            f"pairs must have shape (n_pairs, 2) with at least one pair, the preferred row first; "
            f"got shape {array.shape}."
        )
    if array.dtype.kind not in "iu":
        raise DataError(f"pairs must hold integer row numbers; got values of type {array.dtype}.")
    outside = ((array < 0) | (array >= (2**63 if n_rows is None else n_rows))).any(axis=1)
    if outside.any():
        e = int(outside.argmax())
        rows = "row numbers start at 0" if n_rows is None else f"there are only rows 0 to {n_rows - 1}"
        raise DataError(f"pairs[{e}] is ({array[e, 0]}, {array[e, 1]}), but {rows}.")
    same = array[:, 0] == array[:, 1]
    if same.any():
        e = int(same.argmax())
        raise DataError(f"pairs[{e}] compares row {array[e, 0]} with itself.")
    return Pairs(
        better=np.ascontiguousarray(array[:, 0], dtype=np.int64),
        worse=np.ascontiguousarray(array[:, 1], dtype=np.int64),
        magnitude=_check_per_pair("magnitude", 1.0 if magnitude is None else magnitude, len(array)),
        weight=None if weight is None else _check_per_pair("weight", weight, len(array), minimum=0.0),
    )


def _check_per_pair(name: str, values: ArrayLike, n_pairs: int, minimum: float = -math.inf) -> Floats:
    array = as_floats(name, values)
    if array.ndim == 0:
        array = np.full(n_pairs, float(array))
    if array.shape != (n_pairs,):
        raise DataError(f"{name} must have shape ({n_pairs},), one value per pair; got {array.shape}.")
    bad = ~(np.isfinite(array) & (array >= minimum))
    if bad.any():
        e = int(bad.argmax())
        bound = "finite" if minimum == -math.inf else "finite and non-negative"
        raise DataError(f"{name} must be {bound}; pair {e} has {array[e]}.")
    return array
