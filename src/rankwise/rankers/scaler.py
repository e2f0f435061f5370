"""Per-query scaling as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from rankwise.columns.inputs import Inputs
from rankwise.errors import DataError
from rankwise.features import features_of
from rankwise.preferences.queries import group_rows
from rankwise.rows.scaling import scale_grouped
from rankwise.types import Matrix
from rankwise.validation import check_rows


class QueryMinMaxScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scale every feature to [0, 1] within each query, as in paper A.

    Queries differ in the level and range of their features (BM25 grows with rare words, prices with the
    category), but a ranker only needs to know how a row compares with the other rows of its query. Nothing is
    learned from the training rows, so nothing can leak, but all rows of a query must be transformed together.
    A feature that is constant within a query becomes 0 there. O(m n), or O(nnz).

    ``qid`` is declared as metadata, so pipelines pass it on when scikit-learn's metadata routing is enabled:
    ``make_pipeline(QueryMinMaxScaler(), RankRLS()).fit(X, y, qid=qid).predict(X, qid=qid)``. A scaler fitted
    with qid raises an error if it has to transform without one. Without qid, all rows form one query.

    Sparse X stays sparse; see `rankwise.scale_per_query` for the one case that is not supported.

    Attributes
    ----------
    fitted_with_qid_ : bool
        Whether `fit` had a qid.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        Set only if X has column names.

    See Also
    --------
    scale_per_query : The same as a function.
    ColumnEncoder : For columns of any kind.

    Examples
    --------
    >>> from rankwise import QueryMinMaxScaler
    >>> QueryMinMaxScaler().fit_transform([[1.0], [3.0], [2.0], [50.0], [70.0]], qid=[1, 1, 1, 2, 2]).ravel()
    array([0. , 1. , 0.5, 0. , 1. ])
    """

    _scales_inside_queries = True  # how `export_model` recognizes it

    __metadata_request__fit = {"qid": True}  # noqa: RUF012
    __metadata_request__transform = {"qid": True}  # noqa: RUF012

    def fit(self, X: Any, y: Any = None, qid: ArrayLike | Iterable[Hashable] | None = None) -> Self:
        """Record the features and whether there are queries; y is ignored."""
        rows = check_rows(X, who=type(self).__name__)
        group_rows(qid, rows.shape[0])
        features = replace(features_of(X), count=rows.shape[1])
        self._inputs = Inputs(type(self).__name__, features)
        self._inputs.record_on(self)
        self.fitted_with_qid_ = qid is not None
        return self

    def transform(self, X: Any, qid: ArrayLike | Iterable[Hashable] | None = None) -> Matrix:
        """Return the scaled rows, in the order of X."""
        check_is_fitted(self)
        if qid is None and self.fitted_with_qid_:
            raise DataError(
                "QueryMinMaxScaler was fitted with qid and needs qid to transform; "
                "for rows of a single query, pass the same qid for all of them."
            )
        X = self._inputs.rows(X)
        return scale_grouped(X, group_rows(qid, X.shape[0]))

    def fit_transform(
        self, X: Any, y: Any = None, qid: ArrayLike | Iterable[Hashable] | None = None
    ) -> Matrix:
        """Fit to the rows, then transform them."""
        return self.fit(X, y, qid=qid).transform(X, qid=qid)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fitted_with_qid_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
