"""What every ranker has in common."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from rankwise.persist.fields import array
from rankwise.persist.models import Saveable
from rankwise.preferences.queries import group_rows
from rankwise.types import Floats, Ints
from rankwise.validation import check_rows


class Ranker(Saveable, BaseEstimator):  # type: ignore[misc]
    """A scoring function for rows; only differences of scores inside a query mean anything.

    ``qid`` is declared as metadata of `fit` and `score`, so that grid search and pipelines pass it on when
    scikit-learn's metadata routing is enabled.
    """

    __metadata_request__fit = {"qid": True, "sample_weight": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True}  # noqa: RUF012

    def predict(self, X: Any) -> Floats:
        """Scores of rows, higher is better; no qid is needed."""
        raise NotImplementedError

    def rank(self, X: Any, qid: ArrayLike | Iterable[Hashable] | None = None) -> Ints:
        """Row numbers, best first, query after query in order of first appearance; ties keep row order."""
        scores = self.predict(X)
        query = group_rows(qid, len(scores)).query_of_row()
        return np.lexsort((-scores, query)).astype(np.int64)


class LinearRanker(Ranker):
    """A ranker whose scores are ``X @ coef_``."""

    coef_: Floats

    _fitted_state = (array("coef_", "features targets?"),)

    def predict(self, X: Any) -> Floats:
        rows = check_rows(self, X)
        return np.asarray(rows @ self.coef_, dtype=np.float64)
