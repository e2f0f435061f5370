"""Base classes of the linear rankers, whose features may be encoded from the columns of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rankwise.columns.encoding import Encoding
from rankwise.data.table import Table
from rankwise.errors import DataError, ParameterError, warn_caller
from rankwise.estimators.base import Ranker
from rankwise.estimators.explanation import Values
from rankwise.plots import draw_functions
from rankwise.scoring.additive import AdditiveFunction
from rankwise.scoring.functions import LinearFunction, linear_function
from rankwise.solvers.hinge_result import HingeResult
from rankwise.types import AnyArray, Floats, is_sparse
from rankwise.validation import check_fitted


class LinearRanker(Ranker):
    """A ranker whose scores are ``X @ coef_`` (``X @ coef_.T`` for k targets, coef_ of shape (k, n)).

    With `columns`, the columns of X become features first; the scores are then a sum of one function per
    column (`AdditiveFunction`), of one target.
    """

    columns: Any

    coef_: Floats
    encoding_: Encoding

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def _function(self) -> LinearFunction | AdditiveFunction:
        check_fitted(self)
        return linear_function(vars(self))

    def _function_of_features(self) -> LinearFunction:
        return LinearFunction(self.coef_)

    def _set_function(self, space: Any, coef: Floats) -> None:
        self.coef_ = np.ascontiguousarray(coef)

    @property
    def _takes(self) -> dict[str, Any]:
        return {**super()._takes, "columns": self.columns, "parts": True}

    def _contributions(self, pair: Any) -> tuple[Floats, AnyArray] | tuple[Floats, AnyArray, Values]:
        function = self._function()
        if isinstance(function, AdditiveFunction):
            return _contributions_of_columns(function, pair)
        if self.coef_.ndim != 1:
            raise DataError(
                f"explain needs one score per row; this model predicts {len(self.coef_)} targets."
            )
        dense = np.asarray(pair.toarray() if is_sparse(pair) else pair, dtype=np.float64)
        return self.coef_ * (dense[0] - dense[1]), self._inputs.weight_labels

    def plot_columns(self, X: Any, title: str = "Columns") -> Any:
        """Return a matplotlib figure of what columns add to the score, at values that rows have.

        Parameters
        ----------
        X : frame, array or RankingData
            Rows such as those of training; the 12 columns that move their scores most are drawn.
        title : str, default="Columns"
        """
        function = self._function()
        if not isinstance(function, AdditiveFunction):
            raise ParameterError("plot_columns needs a ranker with 'columns', such as columns='spline'.")
        return draw_functions(function, self._rows_to_score(X), title)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.columns is not None:
            tags.input_tags.sparse = False
            tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _contributions_of_columns(function: AdditiveFunction, pair: Table) -> tuple[Floats, AnyArray, Values]:
    values = function.contributions(pair)
    names = np.array([term.column for term in function.terms], dtype=object)
    return values[0] - values[1], names, function.shown_values(pair)


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
