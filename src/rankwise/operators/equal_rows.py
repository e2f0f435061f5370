"""Rows with equal features, which must have equal scores."""

from __future__ import annotations

import numpy as np

from rankwise.operators.blocks import dense
from rankwise.operators.rows import NativeRows
from rankwise.types import Floats, Ints, Matrix


def first_equal_rows(X: Matrix, group: Ints) -> Ints:
    """For each row, the first row of its group with the same features: one product with X and a sort.

    Products that go through a matrix round by the place of a row, so that equal rows get scores that differ
    in the last bit. Products of single rows do not: equal rows have the same image under a random vector, and
    rows with the same image are compared entry by entry.
    """
    direction: Floats = np.random.default_rng(0).normal(size=(X.shape[1],))
    image = NativeRows(X).scores(direction)
    first = np.arange(X.shape[0])
    if not (np.diff(np.sort(image)) == 0.0).any():
        return first  # as for most features that are not integers
    order = np.lexsort((image, group))
    same = (np.diff(image[order]) == 0.0) & (np.diff(group[order]) == 0)
    for k in np.flatnonzero(same):
        row, earlier = order[k + 1], first[order[k]]
        if np.array_equal(dense(X[[row]]), dense(X[[earlier]])):
            first[row] = earlier
    return first
