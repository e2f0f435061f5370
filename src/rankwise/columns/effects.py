"""What columns add to scores that are sums over them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.operators.blocks import centred, runs
from rankwise.types import Floats, Ints, is_sparse

# Numbers that are centred at once.
BLOCK = 1 << 18


def column_effects(
    X: Any, sizes: Ints, order: Ints | None, weights: Floats, shares: Floats | None
) -> tuple[Floats, Floats]:
    """The mean of what each column adds to the scores, and its standard deviation within queries; O(m n).

    Parameters
    ----------
    X : array or CSR matrix, shape (m, n)
        The features that have weights.
    sizes : Ints
        The number of rows of each query.
    order : Ints or None
        Where the rows of the queries are, one query after the other; None if they are in this order.
    weights : Floats, shape (n,)
    shares : Floats, shape (n, columns), or None
        Which share of each feature is that of each column; None if the features are the columns.
    """
    means = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel() * weights
    squares = np.zeros(len(weights) if shares is None else shares.shape[1])
    X = X if order is None else X[order]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    at_once = BLOCK // max(1, len(weights)) if isinstance(X, np.ndarray) else 1
    for first, last in runs(offsets, at_once):
        start, stop = offsets[[first, last]].tolist()
        used, values = _occupied(X[start:stop])
        # Centred before they are multiplied, features far from 0 keep their digits.
        groups = offsets[first : last + 1] - start
        values = centred(values, np.arange(len(values)), groups, np.ones(len(values))) * weights[used]
        if shares is not None:
            used, values = slice(None), values @ shares[used]
        squares[used] += (values**2).sum(axis=0)
    return means if shares is None else means @ shares, np.sqrt(squares / sizes.sum())


def _occupied(rows: Any) -> tuple[Any, Floats]:
    """The columns with entries, and the values in them as a dense array."""
    if not is_sparse(rows):
        return slice(None), np.asarray(rows, dtype=np.float64)
    used = np.unique(rows.indices)
    return used, np.asarray(rows[:, used].toarray(), dtype=np.float64)
