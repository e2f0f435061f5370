"""Base classes of all rankers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from rankwise.config import get_config
from rankwise.errors import DataError, warn_caller
from rankwise.features import Features
from rankwise.persist.models import Saveable
from rankwise.preferences.queries import group_rows
from rankwise.scoring.functions import LinearFunction, ScoringFunction, checked_scores, linear_function
from rankwise.scoring.model import ScoringModel
from rankwise.solvers.hinge_result import HingeResult
from rankwise.types import AnyArray, Floats, Ints, Matrix
from rankwise.validation import check_fitted, check_rows, rows_of, taken_apart


@dataclass(frozen=True, repr=False)
class Explanation:
    """The difference between the scores of two rows as an exact sum of contributions.

    Attributes
    ----------
    difference : float
        Score of row i minus score of row j.
    contributions : Floats, shape (p,)
        The contribution of each feature (or, for kernels, of each basis vector); they sum to the difference.
    names : array of str, shape (p,)
    """

    difference: float
    contributions: Floats
    names: AnyArray

    def top(self, k: int = 10) -> list[tuple[str, float]]:
        """Return the k contributions with the largest magnitude, largest first."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")[:k]
        return [(str(self.names[c]), float(self.contributions[c])) for c in order]

    def __repr__(self) -> str:
        largest = [f"{name} {value:+.4g}" for name, value in self.top(3)]
        others = ["..."] if len(self.contributions) > len(largest) else []
        return f"Explanation({self.difference:+.4g}: {', '.join(largest + others)})"

    def __str__(self) -> str:
        lines = [f"score difference {self.difference:+.6g}"]
        top = self.top()
        width = max(len(name) for name, _ in top)
        lines += [f"  {name:<{width}}  {value:+.6g}" for name, value in top]
        rest = len(self.contributions) - len(top)
        if rest:
            others = float(self.contributions.sum()) - sum(value for _, value in top)
            lines.append(f"  {rest} others  {others:+.6g}")
        return "\n".join(lines)


def let_through(interrupted: bool) -> None:
    """Raise the interrupt that a solver caught to keep its best model, unless the settings say to keep it.

    Called at the end of `fit`, when the model is in place.
    """
    if interrupted and get_config().on_interrupt == "raise":
        raise KeyboardInterrupt


class Ranker(Saveable, BaseEstimator, ABC):  # type: ignore[misc]
    """A scoring function for rows; only score differences within a query are meaningful.

    ``qid`` and ``sample_weight`` are declared as metadata of `fit` and `score`, so grid search and pipelines
    pass them on when scikit-learn's metadata routing is enabled.
    """

    __metadata_request__fit = {"qid": True, "sample_weight": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True, "sample_weight": True}  # noqa: RUF012

    # Set by rankers fitted with held-out rows.
    validation_score_: float
    validation_curve_: Floats
    best_iter_: int

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        with np.printoptions(threshold=6, edgeitems=2, precision=4):
            return str(super().__repr__(N_CHAR_MAX))

    def predict(self, X: Any) -> Floats:
        """Return the scores of rows; higher is better. No qid is needed."""
        return self._predict(X, self._function())

    @abstractmethod
    def _function(self) -> ScoringFunction:
        """The function that was fitted."""

    def _predict(self, X: Any, function: ScoringFunction) -> Floats:
        return checked_scores(function, partial(check_rows, self, X))

    def _scoring_model(self) -> ScoringModel:
        """The model without scikit-learn, for `rankwise.export` and the command line."""
        check_fitted(self)
        return ScoringModel.of(type(self).__name__, vars(self))

    def score(
        self,
        X: Any,
        y: Any = None,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the fraction of pairs with different labels ranked correctly, averaged over queries.

        This is 1 minus `rankwise.metrics.pairwise_error`; use `rankwise.rank_scorer` for other measures. A
        model fitted with qid cannot be scored without one.
        """
        from rankwise.selection.scorer import rank_scorer

        rows, (_, y, qid) = rows_of(self, X), taken_apart(X, y, qid)
        return 1.0 - rank_scorer("pairwise_error").measured(self, rows, y, qid, sample_weight)

    @abstractmethod
    def __sklearn_is_fitted__(self) -> bool:
        """Whether there are coefficients; a failed fit leaves none."""

    def _forget(self) -> None:
        """Drop the attributes of an earlier fit, so none of them survive the next fit or its failure."""
        for field in self._schema.state:
            self.__dict__.pop(field.name, None)

    @abstractmethod
    def _set_function(self, space: Any, coef: Floats) -> None:
        """Set the attributes of the function with these coefficients in a space."""

    def rank(self, X: Any, qid: ArrayLike | Iterable[Hashable] | None = None) -> Ints:
        """Return row numbers, query by query in order of appearance, best first; ties keep row order."""
        scores, (_, _, qid) = self.predict(X), taken_apart(X, None, qid)
        if scores.ndim != 1:
            raise DataError(f"rank needs one score per row; this model predicts {scores.shape[1]} targets.")
        query = group_rows(qid, len(scores)).query_of_row()
        return np.lexsort((-scores, query)).astype(np.int64)

    def explain(self, X: Any, i: int, j: int) -> Explanation:
        """Explain why row i of X is above row j: an exact sum of contributions to the score difference."""
        rows = check_rows(self, X)
        for name, row in (("i", i), ("j", j)):
            if not isinstance(row, (int, np.integer)) or not 0 <= row < rows.shape[0]:
                raise DataError(f"{name} must be a row of X, 0 to {rows.shape[0] - 1}; got {row!r}.")
        pair = rows[[i, j]]
        contributions, names = self._contributions(pair)
        return Explanation(float(contributions.sum()), contributions, names)

    @abstractmethod
    def _contributions(self, pair: Matrix) -> tuple[Floats, AnyArray]:
        """The contributions of the parts of the model to the score difference of two rows; their names."""

    def _feature_labels(self) -> AnyArray:
        features = Features(getattr(self, "feature_names_in_", None), getattr(self, "numbered_from_", None))
        return np.array([features.label(k) for k in range(self.n_features_in_)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


class LinearRanker(Ranker):
    """A ranker whose scores are ``X @ coef_`` (``X @ coef_.T`` for k targets, coef_ of shape (k, n))."""

    coef_: Floats

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def _function(self) -> LinearFunction:
        check_fitted(self)
        return linear_function(vars(self))

    def _set_function(self, space: Any, coef: Floats) -> None:
        self.coef_ = np.ascontiguousarray(coef)

    def _contributions(self, pair: Matrix) -> tuple[Floats, AnyArray]:
        if self.coef_.ndim != 1:
            raise DataError(
                f"explain needs one score per row; this model predicts {len(self.coef_)} targets."
            )
        dense = np.asarray(pair.toarray() if sparse.issparse(pair) else pair, dtype=np.float64)
        return self.coef_ * (dense[0] - dense[1]), self._feature_labels()


class CertifiedRanker(LinearRanker):
    """A linear ranker with a certified bound on its distance from the minimum of the objective."""

    objective_: float
    gap_: float
    n_iter_: int
    n_products_: int

    def _set_result(self, result: HingeResult) -> None:
        self.coef_ = result.coef
        self.objective_, self.gap_ = result.objective, result.gap
        self.n_iter_, self.n_products_ = max(1, result.n_iter), result.n_products

    def _warn_unless_converged(self, result: HingeResult) -> None:
        if result.complaint is not None:
            warn_caller(result.complaint, ConvergenceWarning)
