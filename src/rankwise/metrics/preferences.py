"""The error of scores on explicit preferences."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.types import Floats, Ints
from rankwise.validation import check_labels


def preference_error(scores: ArrayLike, pairs: ArrayLike, *, weight: ArrayLike | None = None) -> float:
    """The part of explicit preferences that the scores contradict; a tied score is half wrong.

    Paper C, equation (2), over the number of pairs. (As printed there, H(f_i − f_j) with i preferred would
    count the pairs that are right; an error counts H(f_j − f_i).)

    Parameters
    ----------
    scores : array-like, shape (m,)
    pairs : array-like of int, shape (l, 2)
        Rows (i, j) such that row i is preferred to row j.
    weight : array-like, optional
        One weight per pair.

    Examples
    --------
    >>> from rankwise.metrics import preference_error
    >>> preference_error([0.9, 0.1, 0.5], [[0, 1], [1, 2]])
    0.5
    """
    given = check_labels(scores, name="scores")
    preferred, other = _check_pairs(pairs, len(given)).T
    pair_weight = None if weight is None else _check_weight(weight, len(preferred))
    return contradicted(given[preferred] - given[other], pair_weight)


def contradicted(differences: Floats, weight: Floats | None) -> float:
    """The part of the differences, of preferred over other scores, that is negative; 0 is half wrong."""
    wrong = np.where(differences == 0.0, 0.5, (differences < 0.0).astype(np.float64))
    return float(np.average(wrong, weights=weight))


def _check_pairs(pairs: ArrayLike, n_rows: int) -> Ints:
    array = np.asarray(pairs)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise DataError(
            f"pairs must be whole numbers of shape (l, 2), the preferred row first; "
            f"got {array.dtype} of shape {array.shape}."
        )
    if not len(array):
        raise DataError("There is nothing to measure: pairs is empty.")
    outside = ((array < 0) | (array >= n_rows)).any(axis=1)
    if outside.any():
        place = int(outside.argmax())
        raise DataError(f"pairs must name rows 0 to {n_rows - 1}; pair {place} is {array[place].tolist()}.")
    return array.astype(np.int64)


def _check_weight(weight: ArrayLike, n_pairs: int) -> Floats:
    array = check_labels(weight, name="weight")
    if len(array) != n_pairs or array.min() < 0.0 or not array.any():
        raise DataError(f"weight must hold {n_pairs} numbers of at least 0, one per pair, not all 0.")
    return array
