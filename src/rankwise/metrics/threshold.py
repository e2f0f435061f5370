"""Turning a ranking into a decision by a threshold on the scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.types import Floats
from rankwise.validation import check_labels


def best_threshold(y: ArrayLike, scores: ArrayLike) -> float:
    """The threshold with the fewest misclassified rows: the best point of the ROC curve, in O(m log m).

    Rows with the higher of the two labels should score at or above it. It lies midway between two scores, or
    beyond the last one; among equally good thresholds, the lowest is chosen.

    Parameters
    ----------
    y : array-like, shape (m,)
        Labels with exactly two distinct values.
    scores : array-like, shape (m,)
        The score of each row.

    Examples
    --------
    >>> from rankwise.metrics import best_threshold
    >>> best_threshold([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9])
    0.5
    """
    labels = check_labels(y)
    values = check_labels(scores, len(labels), name="scores")
    levels = np.unique(labels)
    if len(levels) != 2:
        raise DataError(f"A threshold requires exactly two distinct labels; y has {len(levels)}.")
    order = np.argsort(values, kind="stable")
    ascending: Floats = values[order]
    positive = labels[order] == levels[1]
    # Cut k puts the k lowest scores below the threshold.
    errors = np.concatenate([[0], np.cumsum(np.where(positive, 1, -1))]) + np.count_nonzero(~positive)
    possible = np.concatenate([[True], np.diff(ascending) > 0, [True]])
    cut = int(np.argmin(np.where(possible, errors, len(labels) + 1)))
    if cut == 0:
        return float(ascending[0])
    if cut == len(ascending):
        return float(np.nextafter(ascending[-1], np.inf))
    middle = ascending[cut - 1] / 2 + ascending[cut] / 2
    return float(middle if middle > ascending[cut - 1] else ascending[cut])
