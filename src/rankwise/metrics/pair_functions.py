"""Pair measures as plain functions of labels, scores and query labels; each returns the mean over queries.

The result is NaN if every query is excluded. Explicit pairs have an error of their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.metrics.conventions import Average
from rankwise.metrics.measure import QueryLike
from rankwise.metrics.named_measures import get_measure
from rankwise.preferences.pairs import PreferencePairs
from rankwise.types import Floats
from rankwise.validation import check_choice, check_labels, check_pairs


def pairwise_error(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLike = None,
    *,
    average: str = "macro",
    sample_weight: ArrayLike | None = None,
) -> float:
    """The fraction of pairs with different labels that the scores misorder; a tied score counts ½.

    Paper C, equation (1), in O(m log m) with 64-bit counts.

    Parameters
    ----------
    y, scores : array-like, shape (m,)
        A label and a score for each row; higher is better. Masked scores are rows that were not retrieved.
    qid : array-like of hashables, shape (m,), optional
        The query of each row, in any order; without it all rows form one global ranking.
    average : {"macro", "micro"}
        The mean of the queries' errors, or all misordered pairs over all pairs. Queries without two different
        labels have no pairs and are excluded.
    sample_weight : array-like, optional
        Row weights s; a pair has weight s_i s_j, so weight 2 is equivalent to repeating the row.

    Examples
    --------
    >>> from rankwise.metrics import pairwise_error
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> pairwise_error(y, scores, qid)
    0.5
    """
    micro = check_choice("average", average, Average) is Average.MICRO
    measure = get_measure("pairwise_error_micro" if micro else "pairwise_error")
    return measure.prepare(y, qid, sample_weight)(scores)


def disagreement_error(y: ArrayLike, scores: ArrayLike, qid: QueryLike = None) -> float:
    """Paper B, equation (1): the mean of ``½ |sign(y_i − y_j) − sign(f_i − f_j)|`` over pairs in queries.

    Unlike `pairwise_error`, it also counts pairs with equal labels: ½ if the scores order them, otherwise 0.
    Queries with a single row are excluded.

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.

    Examples
    --------
    >>> from rankwise.metrics import disagreement_error
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> disagreement_error(y, scores, qid)
    0.5
    """
    return get_measure("disagreement_error")(y, scores, qid)


def kendall_tau_b(y: ArrayLike, scores: ArrayLike, qid: QueryLike = None) -> float:
    """Kendall's τ-b between labels and scores; 0 for a query whose scores are all equal.

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.

    Examples
    --------
    >>> from rankwise.metrics import kendall_tau_b
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> kendall_tau_b(y, scores, qid)
    0.0
    """
    return get_measure("kendall_tau_b")(y, scores, qid)


def auc(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLike = None,
    *,
    relevant: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Area under the ROC curve of relevant against other rows, per query; a tied score counts ½.

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.
    relevant
        As in `average_precision`.
    sample_weight
        As in `pairwise_error`.

    Examples
    --------
    >>> from rankwise.metrics import auc
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> auc(y, scores, qid)
    0.5
    """
    return get_measure("auc", relevant=relevant).prepare(y, qid, sample_weight)(scores)


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
