"""The error of scores on explicit preferences."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.preferences.pairs import PreferencePairs
from rankwise.types import Floats
from rankwise.validation import check_labels, check_pairs


def preference_error(
    scores: ArrayLike, pairs: ArrayLike | PreferencePairs, *, weight: ArrayLike | None = None
) -> float:
    """The fraction of explicit preferences that the scores contradict; a tied score counts ½.

    Paper C, equation (2), divided by the number of pairs. (As printed there, H(f_i − f_j) with i preferred
    would count the correct pairs; an error counts H(f_j − f_i).)

    Parameters
    ----------
    scores : array-like, shape (m,)
        The score of each row.
    pairs : array-like of int, shape (l, 2), or PreferencePairs
        Rows (i, j) such that row i is preferred to row j; the results of `load_pairs` and
        `pairs_from_clicks` carry their own weights.
    weight : array-like, optional
        One weight per pair.

    Examples
    --------
    >>> from rankwise.metrics import preference_error
    >>> preference_error([0.9, 0.1, 0.5], [[0, 1], [1, 2]])
    0.5
    """
    given = check_labels(scores, name="scores")
    checked = check_pairs(pairs, len(given), weight=weight)
    if checked.weight is not None and not checked.weight.any():
        raise DataError("There is nothing to evaluate: no pair has a positive weight.")
    return contradicted(given[checked.better] - given[checked.worse], checked.weight)


def contradicted(differences: Floats, weight: Floats | None) -> float:
    """The fraction of negative differences between preferred and other scores; 0 counts ½."""
    wrong = np.where(differences == 0.0, 0.5, (differences < 0.0).astype(np.float64))
    return float(np.average(wrong, weights=weight))
