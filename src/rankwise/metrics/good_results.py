"""Is there a good result at all? A threshold on scores that mean the same in every query."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.metrics.measure import QueryLike
from rankwise.metrics.significance import margin_of_mean
from rankwise.preferences.queries import Queries, group_rows
from rankwise.threads import one_blas_thread
from rankwise.types import Bools, Floats
from rankwise.validation import check_labels
from rankwise.validation.parameters import check_number

# Of the slope and the intercept; Newton's method needs far fewer.
_MAX_STEPS = 100


@dataclass(frozen=True)
class ThresholdQuality:
    """What a threshold does to some judged rows; margins are half of 95 % intervals over queries.

    Attributes
    ----------
    precision, precision_margin : float
        The share of relevant rows among those at or above the threshold.
    recall, recall_margin : float
        The share of the relevant rows that are at or above it.
    no_result_precision, no_result_precision_margin : float
        Of the queries with all rows below the threshold, the share that have no relevant row.
    no_result_recall, no_result_recall_margin : float
        Of the queries without a relevant row, the share with all rows below it.

    See Also
    --------
    GoodResults : Whose `measure` makes it.

    Examples
    --------
    >>> from rankwise.metrics import find_good_results
    >>> y, scores, qid = [1, 1, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1], list("aabbcc")
    >>> found = find_good_results(y, scores, qid, precision=0.7).measure(y, scores, qid)
    >>> found.precision, found.recall, found.no_result_precision
    (0.75, 1.0, 1.0)
    """

    precision: float
    precision_margin: float
    recall: float
    recall_margin: float
    no_result_precision: float
    no_result_precision_margin: float
    no_result_recall: float
    no_result_recall_margin: float

    def to_dict(self) -> dict[str, float]:
        """By name."""
        return asdict(self)


@dataclass(frozen=True)
class GoodResults:
    """A threshold, and probabilities that rows are relevant; the result of `find_good_results`.

    Attributes
    ----------
    threshold : float
        Rows that score at least as high are good results; a query without any has no good result.
    slope, intercept : float
        A row is relevant with probability ``1 / (1 + exp(−slope · score − intercept))``.
    relevant : float
        The least label of a relevant row.

    See Also
    --------
    find_good_results : Makes it.

    Examples
    --------
    >>> from rankwise import RankRLSCV, make_search_data
    >>> from rankwise.metrics import find_good_results
    >>> train, test = make_search_data(200, random_state=0).split(0.5)
    >>> model = RankRLSCV(across_queries=1.0).fit(train)
    >>> good = find_good_results(train.y, model.left_out_scores_, train.qid, precision=0.8)
    >>> found = good.measure(test.y, model.predict(test.X), test.qid)
    >>> abs(found.precision - 0.8) < found.precision_margin
    True
    """

    threshold: float
    slope: float
    intercept: float
    relevant: float

    def probability(self, scores: ArrayLike) -> Floats:
        """The probability that rows with these scores are relevant."""
        given = np.asarray(scores, dtype=np.float64)
        return np.exp(-np.logaddexp(0.0, -self.slope * given - self.intercept))

    def measure(self, y: ArrayLike, scores: ArrayLike, qid: QueryLike) -> ThresholdQuality:
        """Precision and recall on judged rows, such as those of test queries.

        Parameters
        ----------
        y, scores, qid
            As in `find_good_results`.
        """
        labels, values, queries = _checked(y, scores, qid)
        good, shown, query = labels >= self.relevant, values >= self.threshold, queries.query_of_row()
        n = queries.n_queries
        hits, n_shown, n_good = (
            np.bincount(query[rows], minlength=n) for rows in (good & shown, shown, good)
        )
        none_shown, none_good = n_shown == 0, n_good == 0
        both = (none_shown & none_good).astype(np.float64)
        shares = ((hits, n_shown), (hits, n_good), (both, none_shown), (both, none_good))
        return ThresholdQuality(*(number for part, whole in shares for number in _share(part, whole)))


def find_good_results(
    y: ArrayLike, scores: ArrayLike, qid: QueryLike, *, precision: float = 0.8, relevant: float = 1.0
) -> GoodResults:
    """Find the threshold above which a share of the rows is relevant, and the probability of each.

    Scores must be comparable across queries and come from models that were not trained on the rows: take the
    `left_out_scores_` of a ranker with ``across_queries``.

    Parameters
    ----------
    y : array-like, shape (m,)
        Labels.
    scores : array-like, shape (m,)
        The score of each row by a model that was not trained on its query.
    qid : array-like or Queries
        The query of each row.
    precision : float, default=0.8
        The share of relevant rows among those at or above the threshold, which is the lowest possible.
    relevant : float, default=1
        The least label of a relevant row.

    Returns
    -------
    GoodResults

    See Also
    --------
    best_threshold : The fewest misclassified rows.

    Examples
    --------
    >>> from rankwise.metrics import find_good_results
    >>> good = find_good_results([1, 1, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1], list("aabbcc"), precision=0.7)
    >>> good.threshold
    3.0
    """
    labels, values, _ = _checked(y, scores, qid)
    wanted = check_number("precision", precision, minimum=0.0, maximum=1.0)
    good = labels >= check_number("relevant", relevant)
    if good.all() or not good.any():
        which = "All" if good.all() else "No"
        raise DataError(f"{which} rows have a label of at least {relevant:g}, so nothing tells them apart.")
    order = np.argsort(-values, kind="stable")
    last = np.append(np.diff(values[order]) != 0.0, True)  # of those with equal scores
    shares = np.cumsum(good[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(last & (shares >= wanted))
    if not len(enough):
        best = float(shares[last].max())
        raise DataError(f"No threshold has a precision of {wanted:g}; the highest is {best:.3g}.")
    slope, intercept = _logistic(values, good)
    return GoodResults(float(values[order[enough[-1]]]), slope, intercept, float(relevant))


def _checked(y: ArrayLike, scores: ArrayLike, qid: QueryLike) -> tuple[Floats, Floats, Queries]:
    labels = check_labels(y)
    queries = qid if isinstance(qid, Queries) else group_rows(qid, len(labels))
    return labels, check_labels(scores, len(labels), name="scores"), queries


def _share(part: Any, whole: Any) -> tuple[float, float]:
    """``Σ part / Σ whole`` over queries, and its margin; NaN if there is nothing to share."""
    counted = whole > 0
    if not counted.any():
        return float("nan"), float("nan")
    weight = whole[counted].astype(np.float64)
    values = part[counted] / weight
    return float(weight @ values / weight.sum()), margin_of_mean(values, weight)


@one_blas_thread()
def _logistic(scores: Floats, good: Bools) -> tuple[float, float]:
    """The slope and intercept of most likelihood, with Platt's targets, which keep them finite."""
    n_good, n = int(good.sum()), len(good)
    target = np.where(good, (n_good + 1.0) / (n_good + 2.0), 1.0 / (n - n_good + 2.0))
    centre, size = float(scores.mean()), float(scores.std())
    if not size > 0.0:
        return 0.0, float(np.log(n_good / (n - n_good)))
    X = np.column_stack([(scores - centre) / size, np.ones(n)])
    w = np.zeros(2)
    loss = _loss(X @ w, target)
    for _ in range(_MAX_STEPS):
        p = np.exp(-np.logaddexp(0.0, -X @ w))
        step = np.linalg.solve((X.T * (p * (1.0 - p))) @ X + 1e-12 * n * np.eye(2), X.T @ (target - p))
        while (after := _loss(X @ (w + step), target)) > loss:
            step *= 0.5
            if np.abs(step).max() < 1e-12:
                break
        w, gained, loss = w + step, loss - after, after
        if gained <= 1e-14 * n:
            break
    slope = float(w[0]) / size
    return slope, float(w[1]) - slope * centre


def _loss(logit: Floats, target: Floats) -> float:
    return float(np.logaddexp(0.0, logit).sum() - target @ logit)
