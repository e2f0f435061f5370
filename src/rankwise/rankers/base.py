"""The base class of all rankers."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from rankwise.columns.inputs import Inputs
from rankwise.errors import DataError
from rankwise.features import JudgedParts
from rankwise.model.attributes import attributes_of
from rankwise.model.model import Model
from rankwise.model.models import save_model
from rankwise.model.schemas import ModelSchema
from rankwise.plots import draw_calibration, draw_functions
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import group_rows
from rankwise.rankers.contributions import contributions
from rankwise.rankers.explanation import Explanation, explain
from rankwise.rankers.own_names import name_after_class
from rankwise.rankers.row_settings import RowSettings
from rankwise.rankers.rows_of_fit import RowsOfFit
from rankwise.scoring.calibration import Calibration, known_calibration, preference_probabilities
from rankwise.scoring.functions import ScoringFunction, checked_scores
from rankwise.selection.calibrating import measured_on
from rankwise.types import Floats, Ints, Matrix
from rankwise.validation import Problem, check_fitted, taken_apart


class Ranker(BaseEstimator):  # type: ignore[misc]
    """A scoring function for rows; only score differences within a query are meaningful.

    A fit sets ``model_``. The other attributes of a fitted ranker, which its schema declares, are read from
    it: the function (``coef_`` if it is linear: scores are ``X @ coef_``, or ``X @ coef_.T`` for k targets;
    ``dual_coef_`` and ``basis_`` if it is a sum of kernel values), the rows that it takes, and how it was
    found.

    ``qid`` and ``sample_weight`` are declared as metadata of `fit` and `score`, so grid search and pipelines
    pass them on when scikit-learn's metadata routing is enabled.
    """

    __metadata_request__fit = {"qid": True, "sample_weight": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True, "sample_weight": True}  # noqa: RUF012
    __metadata_request__predict = {"qid": True}  # noqa: RUF012

    _schema: ClassVar[ModelSchema]
    # Whether `fit` takes rows that other processes hold.
    _takes_parts: ClassVar[bool] = False

    model_: Model

    _rows: RowsOfFit

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        name_after_class(cls, "fit", "fit_preferences")

    def __getattr__(self, name: str) -> Any:
        """Read an attribute from the model; what it does not say is no attribute."""
        if hasattr(type(self), name):  # a property or method that says why there is none
            return super().__getattribute__(name)
        if "model_" in vars(self):
            found = attributes_of(self.model_).get(name)
            declared = self._schema.attributes.get(name)
            if found is not None or (declared is not None and not declared.optional):
                return found
        raise AttributeError(f"This {type(self).__name__} has no attribute '{name}'.")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._schema.attributes:
            raise AttributeError(f"'{name}' comes from 'model_' and cannot be set.")
        super().__setattr__(name, value)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        with np.printoptions(threshold=6, edgeitems=2, precision=4):
            return str(super().__repr__(N_CHAR_MAX))

    def predict(self, X: Any, *, qid: Any = None) -> Any:
        """Return the scores of rows; higher is better.

        Only models with columns that compare the rows of a query, such as ``{"price": "rank"}``, need qid.
        The scores of a `rankwise.dask.DistributedData` are computed by its workers when they are needed.
        """
        check_fitted(self)
        if isinstance(X, JudgedParts):
            return X.scored_by(self.model_.without_moments())
        return self._predict(X, self.model_.function, qid)

    def _predict(self, X: Any, function: ScoringFunction, qid: Any) -> Floats:
        return checked_scores(function, partial(self._inputs.rows_to_score, X, qid=qid))

    def _rows_to_score(self, X: Any, finite: bool = True, *, qid: Any = None) -> Any:
        """Rows that the function takes, checked against those of the fit."""
        check_fitted(self)
        return self._inputs.rows_to_score(X, finite, qid=qid)

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

        y, qid, sample_weight = taken_apart(X, y, qid, sample_weight)
        return 1.0 - rank_scorer("pairwise_error").measured(self, X, y, qid, sample_weight)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a model; a failed fit leaves none."""
        return "model_" in vars(self)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        note: str | None = None,
        results: Any = None,
        data: Any = None,
        date: bool = True,
    ) -> None:
        """Save the fitted model to a file, which `rankwise.load_model` reads, with its model card.

        The file is written under a temporary name and moved into place, so a failed save leaves an existing
        model intact. ``rankwise info`` shows the card.

        Parameters
        ----------
        path : path
        note : str, optional
            What else readers of the card should know.
        results : Evaluation or dict, optional
            How good the model is on test data, or a dictionary of several parts of the data: evaluations, or
            numbers by measure.
        data : path or list of paths, optional
            The files that it was fitted to, of which the card has names and checksums.
        date : bool, default=True
            Whether the card says when the model was fitted; without, the same fit gives the same file.
        """
        check_fitted(self)
        known = {"note": note, "results": results, "data": data, "date": date}
        save_model(self.model_, path, self.model_.documented(**known))

    def _forget(self) -> None:
        """Drop the model of an earlier fit, so that it does not survive the failure of the next one."""
        self.__dict__.pop("model_", None)

    def __getstate__(self) -> dict[str, Any]:
        """Copies have the effects of columns instead of the rows."""
        state: dict[str, Any] = super().__getstate__()
        if "_rows" in state:
            state["_rows"] = replace(self._rows, sample=getattr(self, "feature_importances_", None))
        return state

    @property
    def _inputs(self) -> Inputs:
        """The rows with which others must agree."""
        return self._rows.inputs

    @property
    def _row_settings(self) -> RowSettings:
        return RowSettings.of(self, self._takes_parts)

    def _read(self, X: Any, y: Any, qid: Any, sample_weight: Any, **options: Any) -> Problem:
        """Check the arguments of `fit` in place of those of an earlier one."""
        self._forget()
        problem, self._rows = self._row_settings.read(X, y, qid, sample_weight, **options)
        return problem

    def _read_preferences(self, X: Any, pairs: Any, magnitude: Any, weight: Any) -> tuple[Matrix, Pairs]:
        """Check the arguments of `fit_preferences` in place of those of an earlier fit."""
        self._forget()
        rows, checked, self._rows = self._row_settings.read_preferences(X, pairs, magnitude, weight)
        return rows, checked

    def _become(self, model: Model) -> None:
        """Set the model that a fit found, with the parameters that it was found with."""
        # `get_params` would parse the signature of the class each time.
        names = sorted(self._schema.parameters)
        self._set_model(replace(model, parameters={name: getattr(self, name) for name in names}))

    def _set_model(self, model: Model) -> None:
        self.model_ = model
        _ = model.function  # formed now, so that the first request does not wait for it

    def _restore(self, model: Model) -> None:
        """Become the fitted ranker that has this model."""
        self._rows = self._row_settings.rows_of(model)
        self._set_model(model)

    def rank(self, X: Any, qid: ArrayLike | Iterable[Hashable] | None = None) -> Ints:
        """Return row numbers, query by query in order of appearance, best first; ties keep row order."""
        scores, (_, qid, _) = self.predict(X, qid=qid), taken_apart(X, None, qid)
        if scores.ndim != 1:
            raise DataError(f"rank needs one score per row; this model predicts {scores.shape[1]} targets.")
        query = group_rows(qid, len(scores)).query_of_row()
        return np.lexsort((-scores, query)).astype(np.int64)

    def explain(self, X: Any, i: int, j: int, *, qid: Any = None) -> Explanation:
        """Explain why row i of X is above row j: an exact sum of contributions to the score difference.

        As in `predict`, only models that compare the rows of a query need qid, of all rows.
        """
        rows = self._rows_to_score(X, qid=qid)
        return explain(self.model_.function, self._inputs, rows, (i, j), self.model_.calibration)

    @property
    def feature_importances_(self) -> Floats:
        """How much each column of X separates the rows of a query, if scores are sums over columns.

        The standard deviation within queries of the column's contribution, over a sample of the rows of the
        last fit to labels. Not saved in files.
        """
        check_fitted(self)
        return self._rows.effects(self.model_.of_features)

    def contributions(self, X: Any, *, qid: Any = None) -> Any:
        """Return the contribution of each column of X to the score of each row, shape (m, n).

        For linear rankers; the rows sum to `predict`. The contribution of an interaction is divided equally
        between its two columns. As in `predict`, only models that compare the rows of a query need qid.
        """
        rows = self._rows_to_score(X, qid=qid)
        return contributions(self.model_.function, self._inputs, rows)

    def predict_preference_proba(self, X: Any, pairs: Any) -> Floats:
        """Return the probability that the first row of each pair is judged above the second.

        It is conditional on different labels, and comes from `calibration_`: the model must have been fitted
        with rows or pairs left out (by a ...CV ranker) or with an `eval_set`.

        Parameters
        ----------
        X : array or CSR matrix, shape (m, n), or RankingData
            The rows to which the pairs refer.
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
        """Return the calibration with its curve and error on other judged rows, such as test data.

        Every pair counts once, whatever the weights of its rows.
        """
        calibration, scores = self._known_calibration(), self.predict(X, qid=qid)
        y, qid, _ = taken_apart(X, y, qid)
        if qid is None and self.model_.origin.fitted_with_qid:
            raise DataError("measure_calibration needs the qid of the rows: the model was fitted with qid.")
        return measured_on(calibration, scores, y, qid)

    def plot_calibration(self, title: str = "Calibration") -> Any:
        """Return a matplotlib figure of the probabilities observed against those predicted."""
        return draw_calibration(self._known_calibration(), title)

    def _known_calibration(self) -> Calibration:
        check_fitted(self)
        return known_calibration(self.model_.calibration, type(self).__name__)

    def plot_columns(self, X: Any, title: str = "Columns") -> Any:
        """Return a matplotlib figure of the contribution of each column to the score, over the values in X.

        Parameters
        ----------
        X : frame, array or RankingData
            Rows like those of training; the 12 columns with the largest effect on their scores are drawn.
        title : str, default="Columns"
            The title of the figure.
        """
        check_fitted(self)
        return draw_functions(self.model_.function, self._rows_to_score(X), title)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        self._row_settings.tag(tags.input_tags)
        return tags
