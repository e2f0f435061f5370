"""Rows with equal features, which must have equal scores."""

from __future__ import annotations

import numpy as np

from rankwise.operators.blocks import block_rows, dense, pieces
from rankwise.operators.native_rows import NativeRows
from rankwise.types import Floats, Ints, Matrix


def first_equal_rows(X: Matrix, group: Ints) -> Ints:
    """For each row, the first row of its group with the same features: one product with X and a sort.

    Products that go through a matrix round by the place of a row, so that equal rows get scores that differ
    in the last bit. Products of single rows do not: equal rows have the same image under a random vector, and
    rows with the same image are compared entry by entry.
    """
    direction: Floats = np.random.default_rng(0).normal(size=(X.shape[1],))
    image = NativeRows(X).scores(direction)
    if not (np.diff(np.sort(image)) == 0.0).any():
        return np.arange(X.shape[0])  # as for most features that are not integers
    order = np.lexsort((image, group))
    starts = np.ones(X.shape[0], dtype=np.bool_)
    candidates = 1 + np.flatnonzero((np.diff(image[order]) == 0.0) & (np.diff(group[order]) == 0))
    for place in pieces(0, len(candidates), block_rows(X)):
        some = candidates[place]
        starts[some] = (dense(X[order[some]]) != dense(X[order[some - 1]])).any(axis=1)
    first = np.empty_like(order)
    first[order] = order[np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))]
    return first
