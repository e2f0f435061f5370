"""What clicks say about rows: weighted rows, pairs of rows, or grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankwise.clicks.log import ClickLog
from rankwise.errors import DataError, ParameterError
from rankwise.preferences.pairs import PreferencePairs
from rankwise.preferences.queries import group_rows, members
from rankwise.rows.ranking import RankingData
from rankwise.types import Floats, Ints
from rankwise.validation import check_kind, check_number
from rankwise.validation.arrays import as_floats

_THRESHOLDS = (0.5, 1.0, 2.0, 4.0)
# Sums of propensities are right up to this share of them.
ROUNDING = 1e-9


def rows_from_clicks(log: ClickLog, data: RankingData, *, prior_clicks: float = 1.0) -> RankingData:
    """Label every row that was shown with its clicks divided by its expected clicks, weighted by exposure.

    The exposure of a row is the sum of the propensities of its impressions: how often users examined it. The
    expected clicks are those of an average row with the same exposure, so a row labelled 2 was clicked twice
    as often as expected where it was shown [1]_. In the position-based model, the label is an unbiased
    estimate of how attractive the row is, with a variance of σ² / expected. Attractiveness itself varies
    around what features can explain, by τ², so the weight is the inverse of the sum of both variances: up to
    a factor, ``expected / (expected + prior_clicks)`` with ``prior_clicks = σ² / τ²``. It is proportional to
    the exposure of rarely examined rows, and bounded, so that a few popular queries do not dominate.

    With several signals, each action counts with its weight, and the expected clicks are the number of equal,
    independent actions whose sum would have the same relative variance. O(results shown), whereas the number
    of pairs grows with the length of the lists.

    Parameters
    ----------
    log : ClickLog
        A log whose rows are those of `data` (see `ClickLog.match`). With a propensity of 1, labels are click
        rates that are not corrected for the position.
    data : RankingData
        The rows; their labels and weights are not used.
    prior_clicks : float, default=1
        The number of expected clicks that gives a row half of the largest weight. If it is large, weights are
        proportional to the exposure.

    Returns
    -------
    RankingData
        The rows that were shown, with their labels and weights.

    References
    ----------
    .. [1] W. V. Zhang, R. Jones: Comparing Click Logs and Editorial Labels for Training Query Rewriting, WWW
       2007 Workshop on Query Log Analysis

    Examples
    --------
    >>> from rankwise import RankRLS, make_search_data
    >>> from rankwise.clicks import rows_from_clicks
    >>> data, log = make_search_data(50, random_state=0, clicks=True)
    >>> model = RankRLS().fit(rows_from_clicks(log, data))
    >>> round(model.score(data.X, data.y, data.qid), 2)
    0.81
    """
    prior = check_number("prior_clicks", prior_clicks, minimum=0.0, exclusive=True)
    rows, label, expected = _labels_and_expected(log, data)
    return replace(data.select(rows), y=label, sample_weight=expected / (expected + prior))


def grades_from_clicks(
    log: ClickLog,
    data: RankingData,
    *,
    thresholds: Sequence[float] = _THRESHOLDS,
    min_expected: float = 0.0,
) -> RankingData:
    """Grade every row that was shown by its clicks relative to expected clicks, for tools that need grades.

    By default, grade 0 means less than half of the clicks expected where the row was shown, 1 fewer than
    expected, 2 at least as many, 3 at least twice and 4 at least four times as many. Grades have no weights:
    the grade of a row that was rarely examined is mostly chance, and counts as much as any other.

    Parameters
    ----------
    log, data
        As in `rows_from_clicks`.
    thresholds : sequence of float, default=(0.5, 1, 2, 4)
        The grade is the number of thresholds reached; ascending.
    min_expected : float, default=0
        Rows with fewer expected clicks are dropped.

    Returns
    -------
    RankingData
        The rows that were shown, with their grades as labels.

    Examples
    --------
    >>> from rankwise import make_search_data
    >>> from rankwise.clicks import grades_from_clicks
    >>> data, log = make_search_data(50, random_state=0, clicks=True)
    >>> grades_from_clicks(log, data)
    RankingData(638 rows, 50 queries, 22 features (float64), labels 0 to 4)
    """
    steps = as_floats("thresholds", thresholds)
    if steps.ndim != 1 or len(steps) == 0 or not (np.isfinite(steps).all() and (np.diff(steps) > 0).all()):
        raise ParameterError(
            f"The 'thresholds' parameter must be a list of ascending numbers; got {thresholds!r}."
        )
    least = check_number("min_expected", min_expected, minimum=0.0)
    rows, label, expected = _labels_and_expected(log, data)
    kept = expected >= least * (1.0 - ROUNDING)
    if not kept.any():
        raise DataError(
            f"No row has at least {least:g} expected clicks (min_expected); the largest number is "
            f"{expected.max():.3g}."
        )
    grade = np.searchsorted(steps, label[kept] * (1.0 + ROUNDING), side="right")
    return replace(data.select(rows[kept]), y=grade.astype(np.float64), sample_weight=None)


def pairs_from_clicks(log: ClickLog, *, max_weight: float | None = None) -> PreferencePairs:
    """Prefer every clicked row to every other row of its session, weighted by 1 / propensity of the click.

    A row low on the page is clicked less because fewer users examine it. Dividing by the probability of
    examination makes the expected weight of "i above j" proportional to how often users click i once they
    examine it, wherever it was shown [1]_. Two clicked rows yield a pair in each direction. A pair that
    occurs in several sessions is returned once, with the sum of its weights.

    Parameters
    ----------
    log : ClickLog
        A log of sessions, matched to the data (see `ClickLog.match`).
    max_weight : float, optional
        The largest weight of a single click, which trades a little bias for less variance. With 1, all
        clicks are weighted equally.

    Returns
    -------
    PreferencePairs
        For `fit_preferences`, on the rows to which the log refers.

    References
    ----------
    .. [1] T. Joachims, A. Swaminathan, T. Schnabel: Unbiased Learning-to-Rank with Biased Feedback, WSDM 2017

    Examples
    --------
    >>> from rankwise import RankRLS, make_search_data
    >>> from rankwise.clicks import pairs_from_clicks
    >>> data, log = make_search_data(50, random_state=0, clicks=True)
    >>> preferences = pairs_from_clicks(log)
    >>> model = RankRLS().fit_preferences(data.X, preferences)
    >>> round(model.score(data.X, data.y, data.qid), 2)
    0.8
    """
    _check_matched(log)
    if log.shown is not None:
        raise DataError(
            "Pairs need results that were shown together, but this log has no sessions; rows_from_clicks and "
            "grades_from_clicks need none."
        )
    sessions = group_rows(log.session, len(log.row))
    row, value, propensity = (sessions.grouped(part) for part in (log.row, log.values()[0], log.propensity))
    session = np.repeat(np.arange(sessions.n_queries), sessions.sizes)
    clicks = np.flatnonzero(value)
    click, other, _ = members(sessions.offsets, session[clicks])
    preferred = clicks[click]
    weight = value[preferred] / propensity[preferred]
    if max_weight is not None:
        weight = np.minimum(weight, check_number("max_weight", max_weight, minimum=0.0, exclusive=True))
    keep = row[preferred] != row[other]
    return _summed(row[preferred][keep], row[other][keep], weight[keep])


def _labels_and_expected(log: ClickLog, data: RankingData) -> tuple[Ints, Floats, Floats]:
    """The rows that were shown, in ascending order, with their clicks over expected clicks, and the latter.

    With several signals, what counts is the sum v of their weights: v over its expected value, and as the
    expected clicks the number of equal and independent actions that would vary as much, E[v]² / Var[v], if
    actions are independent.
    """
    _check_matched(log)
    check_kind("data", data, RankingData)
    if log.row.max() >= data.n_rows:
        raise DataError(
            f"The log refers to row {log.row.max()}, but the data has {data.n_rows} rows: it was matched to "
            "other data."
        )
    if not log.clicked.any():
        raise DataError("There is nothing to learn: the log has no clicks.")
    rows = np.unique(log.row)
    value, square = log.values()
    of_row = np.bincount(log.row, value)[rows].astype(np.float64)
    exposure = np.bincount(log.row, log.propensity * log.times())[rows]
    expected = exposure * (of_row.sum() / exposure.sum())
    actions = expected if log.square is None else expected * (of_row.sum() / square.sum())
    return rows, of_row / expected, actions


def _check_matched(log: ClickLog) -> None:
    if check_kind("log", log, ClickLog).docs is not None:
        raise DataError("The log names documents; log.match(data) finds their rows.")


def _summed(preferred: Ints, other: Ints, weight: Floats) -> PreferencePairs:
    """Every pair once, with the sum of its weights, in ascending order."""
    pairs, of_pair = np.unique(np.column_stack([preferred, other]), axis=0, return_inverse=True)
    total = np.bincount(of_pair.reshape(-1), weight, len(pairs)).astype(np.float64)
    return PreferencePairs(pairs.astype(np.int64), total)
