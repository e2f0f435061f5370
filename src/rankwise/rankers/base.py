"""The base class of all rankers."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from rankwise.columns.inputs import Inputs, read_preferences, read_problem
from rankwise.config import get_config
from rankwise.errors import DataError, ParameterError
from rankwise.features import JudgedParts
from rankwise.held_out import HeldOut
from rankwise.model.attributes import attributes_of, attributes_of_function, function_from, model_from
from rankwise.model.model import Model
from rankwise.model.models import save_model
from rankwise.model.schemas import ModelSchema
from rankwise.plots import draw_calibration, draw_functions
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import group_rows
from rankwise.preferences.samples import PairSample, sample_judged_pairs
from rankwise.rankers.explanation import Explanation, explain
from rankwise.scoring.additive import AdditiveFunction
from rankwise.scoring.calibration import Calibration, known_calibration, preference_probabilities
from rankwise.scoring.functions import FeatureFunction, LinearFunction, ScoringFunction, checked_scores
from rankwise.selection.calibrating import calibrate, recalibrated
from rankwise.types import Floats, Ints, Matrix
from rankwise.validation import Problem, check_fitted, check_labels, taken_apart


def let_through(interrupted: bool) -> None:
    """Raise the interrupt that a solver caught to keep its best model, unless the settings say to keep it.

    Called at the end of `fit`, when the model is in place.
    """
    if interrupted and get_config().on_interrupt == "raise":
        raise KeyboardInterrupt


class Ranker(BaseEstimator):  # type: ignore[misc]
    """A scoring function for rows; only score differences within a query are meaningful.

    The attributes of a fitted ranker, which its schema declares for files, describe the function (``coef_``
    if it is linear: scores are ``X @ coef_``, or ``X @ coef_.T`` for k targets; ``dual_coef_`` and ``basis_``
    if it is a sum of kernel values), the rows that it takes (`columns.inputs.Inputs`), and how it was found.

    ``qid`` and ``sample_weight`` are declared as metadata of `fit` and `score`, so grid search and pipelines
    pass them on when scikit-learn's metadata routing is enabled.
    """

    __metadata_request__fit = {"qid": True, "sample_weight": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True, "sample_weight": True}  # noqa: RUF012

    _schema: ClassVar[ModelSchema]
    # Whether `fit` takes rows that other processes hold.
    _takes_parts: ClassVar[bool] = False

    # Set by rankers fitted with held-out rows.
    validation_score_: float
    validation_curve_: Floats
    best_iter_: int
    # Set if there are pairs that the scoring models were not trained on.
    calibration_: Calibration

    _inputs: Inputs

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        with np.printoptions(threshold=6, edgeitems=2, precision=4):
            return str(super().__repr__(N_CHAR_MAX))

    def predict(self, X: Any) -> Any:
        """Return the scores of rows; higher is better. No qid is needed.

        The scores of a `rankwise.dask.DistributedData` are computed where its rows are, when they are needed.
        """
        if isinstance(X, JudgedParts):
            return X.scored_by(self.model_.without_moments())
        return self._predict(X, self._function())

    def _function(self) -> ScoringFunction:
        """The function that was fitted."""
        check_fitted(self)
        function, encoding = function_from(vars(self), vars(self)), self._inputs.encoding
        if encoding is None:
            return function
        assert isinstance(function, LinearFunction)
        return encoding.function(function.weights)

    def _set_function(self, function: FeatureFunction) -> None:
        """Set the function, of the matrix that solvers see."""
        self.__dict__.update(attributes_of_function(function))

    def _predict(self, X: Any, function: ScoringFunction) -> Floats:
        return checked_scores(function, partial(self._rows_to_score, X))

    def _rows_to_score(self, X: Any, finite: bool = True) -> Any:
        """Rows that the function takes, checked against those of the fit."""
        check_fitted(self)
        return self._inputs.rows_to_score(X, finite)

    @property
    def model_(self) -> Model:
        """What was fitted, without scikit-learn."""
        check_fitted(self)
        return model_from(type(self).__name__, self.get_params(deep=False), vars(self))

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

        _, y, qid = taken_apart(X, y, qid)
        return 1.0 - rank_scorer("pairwise_error").measured(self, X, y, qid, sample_weight)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there are coefficients; a failed fit leaves none."""
        return "coef_" in vars(self) or "dual_coef_" in vars(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted model to a file, which `rankwise.load_model` reads.

        The file is written under a temporary name and moved into place, so a failed save leaves an existing
        model intact.
        """
        save_model(self, path)

    def _forget(self) -> None:
        """Drop the attributes of an earlier fit, so none of them survive the next fit or its failure."""
        for field in self._schema.state:
            self.__dict__.pop(field.name, None)

    @property
    def _takes(self) -> dict[str, Any]:
        """What this class takes as rows, for `read_problem` and `read_preferences`."""
        return {
            "who": type(self).__name__,
            "sparse": not self._takes_kernel_values,
            "columns": getattr(self, "columns", None),
            "parts": self._takes_parts,
        }

    @property
    def _takes_kernel_values(self) -> bool:
        kernel = getattr(self, "kernel", None)
        return isinstance(kernel, str) and kernel == "precomputed"

    def _read(self, X: Any, y: Any, qid: Any, sample_weight: Any, **options: Any) -> Problem:
        """Check the arguments of `fit` in place of those of an earlier one."""
        self._forget()
        problem, inputs = read_problem(X, y, qid, sample_weight, **self._takes, **options)
        self._set_inputs(inputs)
        return problem

    def _read_preferences(self, X: Any, pairs: Any, magnitude: Any, weight: Any) -> tuple[Matrix, Pairs]:
        """Check the arguments of `fit_preferences` in place of those of an earlier fit."""
        self._forget()
        rows, checked, inputs = read_preferences(X, pairs, magnitude, weight, **self._takes)
        self._set_inputs(inputs)
        return rows, checked

    def _set_inputs(self, inputs: Inputs) -> None:
        self._inputs = inputs
        inputs.record_on(self)

    def _restore(self, model: Model) -> None:
        """Become the fitted ranker that has this model."""
        self._set_inputs(Inputs(model.class_name, model.features, model.encoding, self._takes["sparse"]))
        self.__dict__.update({field.name: None for field in self._schema.state if not field.optional})
        self.__dict__.update(attributes_of(model))
        if model.moments is not None:
            self.__dict__["moments_"] = model.moments

    def rank(self, X: Any, qid: ArrayLike | Iterable[Hashable] | None = None) -> Ints:
        """Return row numbers, query by query in order of appearance, best first; ties keep row order."""
        scores, (_, _, qid) = self.predict(X), taken_apart(X, None, qid)
        if scores.ndim != 1:
            raise DataError(f"rank needs one score per row; this model predicts {scores.shape[1]} targets.")
        query = group_rows(qid, len(scores)).query_of_row()
        return np.lexsort((-scores, query)).astype(np.int64)

    def explain(self, X: Any, i: int, j: int) -> Explanation:
        """Explain why row i of X is above row j: an exact sum of contributions to the score difference."""
        rows = self._rows_to_score(X)
        for name, row in (("i", i), ("j", j)):
            if not isinstance(row, (int, np.integer)) or not 0 <= row < rows.shape[0]:
                raise DataError(f"{name} must be a row of X, 0 to {rows.shape[0] - 1}; got {row!r}.")
        calibration = getattr(self, "calibration_", None)
        return explain(self._function(), self._inputs, rows[[i, j]], calibration)

    def predict_preference_proba(self, X: Any, pairs: Any) -> Floats:
        """Return the probability that the first row of each pair is judged above the second.

        It is conditional on different labels, and comes from `calibration_`: the model must have been fitted
        with rows or pairs left out (the ...CV rankers) or with an `eval_set`.

        Parameters
        ----------
        X : array or CSR matrix, shape (m, n), or RankingData
        pairs : array of int, shape (n_pairs, 2)
            Row numbers, as in `fit_preferences`; both rows should be of the same query.

        Returns
        -------
        array, shape (n_pairs,)
        """
        return preference_probabilities(self._known_calibration(), self.predict(X), pairs)

    def measure_calibration(
        self, X: Any, y: Any = None, qid: ArrayLike | Iterable[Hashable] | None = None
    ) -> Calibration:
        """Return the calibration with its curve and error on other judged rows, such as test data."""
        calibration, scores, (_, y, qid) = self._known_calibration(), self.predict(X), taken_apart(X, y, qid)
        if qid is None and getattr(self, "fitted_with_qid_", False):
            raise DataError("measure_calibration needs the qid of the rows: the model was fitted with qid.")
        query = group_rows(qid, len(scores)).query_of_row()
        sample = sample_judged_pairs(check_labels(y, len(scores)), query)
        if not len(sample.better):
            raise DataError("Calibration cannot be measured: no query has two rows with different labels.")
        return recalibrated(calibration, scores, sample, "given rows")

    def plot_calibration(self, title: str = "Calibration") -> Any:
        """Return a matplotlib figure of the probabilities observed against those predicted."""
        return draw_calibration(self._known_calibration(), title)

    def _known_calibration(self) -> Calibration:
        check_fitted(self)
        return known_calibration(getattr(self, "calibration_", None), type(self).__name__)

    def _calibrate(self, scores: Floats, sample: PairSample, source: str) -> None:
        """Set the calibration, or none, from scores of rows that the scoring models were not trained on."""
        self.__dict__.pop("calibration_", None)
        found = calibrate(scores, sample, source)
        if found is not None:
            self.calibration_ = found

    def _calibrate_on(self, held_out: HeldOut | None, function: FeatureFunction) -> None:
        """Set the calibration from rows that were held out, if any."""
        if held_out is not None:
            self._calibrate(function.scores(held_out.X), held_out.sample(), held_out.name)

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
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        tags.input_tags.pairwise = self._takes_kernel_values
        tags.input_tags.sparse = not tags.input_tags.pairwise
        if getattr(self, "columns", None) is not None:
            tags.input_tags.sparse = False
            tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags
