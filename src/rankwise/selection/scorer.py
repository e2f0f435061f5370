"""Measures as scikit-learn scorers that know about queries."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED, get_routing_for_object

from rankwise.errors import DataError
from rankwise.features import JudgedRows
from rankwise.metrics.measure import Measure
from rankwise.metrics.named_measures import get_measure
from rankwise.model.model import Model


class RankScorer(BaseEstimator):  # type: ignore[misc]
    """``scorer(estimator, X, y, qid=None)``; higher is better, by scikit-learn's convention.

    ``qid`` is declared as metadata of `score`: with metadata routing enabled, grid search and
    cross-validation pass it on. Scoring an estimator that was fitted with qid raises an error without it,
    because rows would silently be compared across queries. Created by `rank_scorer`.
    """

    __metadata_request__score = {"qid": True, "estimator": UNUSED}  # noqa: RUF012

    def __init__(self, measure: Measure, qid: Any = None) -> None:
        self.measure = measure
        self.qid = qid

    def with_qid(self, qid: ArrayLike | Iterable[Hashable]) -> Self:
        """Return a scorer that knows the queries of the rows it will score.

        For tools that score the same rows again and again but cannot pass qid on, such as
        `sklearn.inspection.permutation_importance`.

        Parameters
        ----------
        qid : sequence of hashables, shape (m,)
        """
        return type(self)(self.measure, qid)

    def __call__(
        self, estimator: Any, X: Any, y: Any, qid: ArrayLike | Iterable[Hashable] | None = None
    ) -> float:
        return self.score(estimator, X, y, qid)

    def score(
        self, estimator: Any, X: Any, y: Any, qid: ArrayLike | Iterable[Hashable] | None = None
    ) -> float:
        """Return the measure, negated if lower is better; scikit-learn routes qid to methods of this name."""
        value = self.measured(estimator, X, y, qid)
        return value if self.measure.higher_is_better else -value

    def measured(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the measure with its own sign."""
        qid = self.qid if qid is None else qid
        if qid is None and getattr(_final(estimator), "fitted_with_qid_", False):
            raise DataError(
                f"{type(_final(estimator)).__name__} was fitted with qid and cannot be scored without one; "
                f"{_how_to_pass_qid(self.measure.name)}."
            )
        prepared = self.measure.prepare(y, qid, sample_weight)
        value = prepared(_predict(estimator, X, qid))
        if math.isnan(value):
            raise DataError(f"{self.measure.name} is undefined on these rows: {prepared.left_out_reason}.")
        return value


def rank_scorer(measure: str | Measure, **options: Any) -> RankScorer:
    """Make a scorer for `GridSearchCV`, `cross_val_score` and similar tools.

    Parameters
    ----------
    measure : str or Measure
        Such as "ndcg@10"; see `rankwise.metrics.get_measure`.
    **options
        Conventions such as ``preset="letor"``, passed to `get_measure`.

    Returns
    -------
    RankScorer
        Called as ``scorer(estimator, X, y, qid=...)``; higher is better, so errors are negated.

    Examples
    --------
    >>> from rankwise import RankRLS, make_search_data, rank_scorer
    >>> data = make_search_data(40, random_state=0)
    >>> model = RankRLS().fit(data)
    >>> round(rank_scorer("ndcg@10")(model, data.X, data.y, data.qid), 2)
    0.89
    """
    return RankScorer(get_measure(measure, **options))


def _predict(estimator: Any, X: Any, qid: ArrayLike | Iterable[Hashable] | None) -> Any:
    """Scores of rows; qid is passed to rankers that compare rows, unless a data set stands for it, and to
    pipelines with a step that requests it, e.g. `QueryMinMaxScaler`."""
    model = getattr(estimator, "model_", None)
    if isinstance(model, Model):
        beside = model.compares_rows and not isinstance(X, JudgedRows)
        return estimator.predict(X, qid=qid) if beside else estimator.predict(X)
    routed = qid is not None and get_config()["enable_metadata_routing"]
    asks = routed and get_routing_for_object(estimator).consumes("predict", ["qid"])
    return estimator.predict(X, qid=qid) if asks else estimator.predict(X)


def _how_to_pass_qid(measure: str) -> str:
    """What to do in tools that call a scorer, which depends on whether scikit-learn could have routed qid."""
    bound = f"scoring=rank_scorer({measure!r}).with_qid(qid)"
    if get_config()["enable_metadata_routing"]:
        return (
            f"pass params={{'qid': qid}} in cross-validation and qid=qid in grid search or, where metadata "
            f"is not routed, as in permutation_importance, use {bound}"
        )
    return (
        f"in grid search and cross-validation, enable metadata routing with "
        f"sklearn.set_config(enable_metadata_routing=True); in permutation_importance, use {bound}"
    )


def _final(estimator: Any) -> Any:
    """The ranker at the end of a pipeline or inside a search."""
    if hasattr(estimator, "steps"):
        return _final(estimator.steps[-1][1])
    return _final(estimator.best_estimator_) if hasattr(estimator, "best_estimator_") else estimator
