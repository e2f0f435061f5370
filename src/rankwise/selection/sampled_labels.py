"""Training on the labels of people for a sample of queries, and on those of a model for all others."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from rankwise.errors import ParameterError
from rankwise.long_tasks import task
from rankwise.metrics.judged_samples import sampled_queries
from rankwise.rows.ranking import RankingData
from rankwise.types import Floats, Ints
from rankwise.validation import check_kind

# How much a query judged by the model counts, if one judged by people counts 1.
WEIGHTS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
# Folds of the queries judged by people, where they alone are learned.
N_FOLDS = 10


def fit_sampled(ranker: Any, data: RankingData, people: Any) -> tuple[Any, float]:
    """Train on human labels for some queries and a model's labels for all others.

    A query judged by people counts 1, and one judged by the model counts what predicts the human labels of
    left-out queries best: nothing if the model misleads, as much as people if it does not. Settings are
    chosen as usual, on all queries. Where ties are kept, the solution of RankRLS is linear in the labels:
    what the model's labels teach, plus what people correct.

    Parameters
    ----------
    ranker : RankRLSCV, KernelRankRLSCV or RankSVMCV
        It is cloned. Its `cv` must leave out every query that people judged, as it does by default.
    data : RankingData
        With queries; the labels are the model's.
    people : masked array, shape (m,)
        As in `rankwise.metrics.evaluate_sampled`.

    Returns
    -------
    ranker : estimator
        Fitted.
    weight : float
        How much a query judged by the model counts.

    See Also
    --------
    rankwise.metrics.evaluate_sampled : Measures with labels of both kinds.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise import RankRLSCV, fit_sampled, make_search_data
    >>> data = make_search_data(100, random_state=0)
    >>> sampled = np.isin(data.qid, data.queries.labels[:20])
    >>> people = np.ma.masked_array(data.y, mask=~sampled)
    >>> ranker, weight = fit_sampled(RankRLSCV(measure="ndcg@10"), data, people)
    >>> weight > 0.0
    True
    """
    data = check_kind("data", data, RankingData)
    if not isinstance(ranker, BaseEstimator) or not {"alphas", "cv", "measure"} <= set(ranker.get_params()):
        raise ParameterError(
            f"Labels of people and of a model (--human) need a ranker that chooses on left-out queries, "
            f"such as RankRLSCV, and no single alpha; got {type(ranker).__name__}."
        )
    labels, sampled = sampled_queries(people, data.queries)
    query_of_row = data.queries.query_of_row()
    human = sampled[query_of_row]
    mixed = replace(data, y=np.where(human, labels.data, data.y))
    parts = np.array_split(np.random.default_rng(0).permutation(np.flatnonzero(sampled)), N_FOLDS)
    held = [np.flatnonzero(np.isin(query_of_row, part)) for part in parts if len(part)]
    folds = [(np.setdiff1d(np.arange(data.n_rows), rows), rows) for rows in held]
    best: tuple[Any, float, float, list[warnings.WarningMessage]] | None = None
    with task("Weighing the labels of the model"):
        for weight in WEIGHTS if not human.all() else (1.0,):
            # Without weight, the labels of the model must not choose settings either.
            tried = clone(ranker) if weight else clone(ranker).set_params(cv=folds)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                tried.fit(weighted(mixed, human, weight))
            found = _correlation(labels.data[human], tried.left_out_scores_[human], query_of_row[human])
            if best is None or found > best[2]:
                best = tried, weight, found, said
    assert best is not None
    chosen, weight, _, said = best
    for one in said:  # only of what is returned
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return chosen, weight


def _correlation(labels: Floats, scores: Floats, query: Ints) -> float:
    """The correlation within queries; 0 for equal labels or scores.

    A ranker's measure looks at the first few rows, and says little about a weight if there are few queries.
    This looks at all rows, and ignores the scale of the scores, which noisy labels reduce.
    """
    if np.isnan(scores).any():
        raise ParameterError("The ranker's 'cv' parameter must leave out every query that people judged.")
    sizes = np.maximum(np.bincount(query), 1)
    y, s = (values - (np.bincount(query, values) / sizes)[query] for values in (labels, scores))
    size = float(np.sqrt((y @ y) * (s @ s)))
    return float(y @ s) / size if size > 0.0 else 0.0


def weighted(data: RankingData, human: Any, weight: float) -> RankingData:
    """The rows with those that people did not judge counting less."""
    given: Floats = np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight
    return replace(data, sample_weight=np.where(human, given, weight * given))
