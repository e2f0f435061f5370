"""A fitted ranker reduced to its scoring function and its features, which needs no scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from rankwise.errors import DataError
from rankwise.features import matrix_of
from rankwise.rows.table import table_of
from rankwise.scoring.additive import AdditiveFunction
from rankwise.scoring.calibration import Calibration, known_calibration, preference_probabilities
from rankwise.scoring.functions import ScoringFunction, checked_scores, scoring_function
from rankwise.types import Floats, is_sparse
from rankwise.validation import check_read_rows


@dataclass(frozen=True, eq=False)
class ScoringModel:
    """What a fitted ranker computes, and from which features.

    Attributes
    ----------
    class_name : str
        The class of the ranker.
    function : LinearFunction, KernelExpansion or AdditiveFunction
    n_features : int
    feature_names : list of str or None
    scaled_per_query : bool or None
        Whether it was trained on features scaled within each query; None if that is not known.
    calibration : Calibration or None
    """

    class_name: str
    function: ScoringFunction
    n_features: int
    feature_names: list[str] | None = None
    scaled_per_query: bool | None = None
    calibration: Calibration | None = None

    @classmethod
    def of(cls, class_name: str, attributes: Mapping[str, Any]) -> Self:
        """From the parameters and attributes of a fitted ranker, of an estimator or read from a file."""
        names = attributes.get("feature_names_in_")
        return cls(
            class_name=class_name,
            function=scoring_function(attributes),
            n_features=int(attributes["n_features_in_"]),
            feature_names=None if names is None else [str(name) for name in names],
            scaled_per_query=attributes.get("scaled_per_query_"),
            calibration=attributes.get("calibration_"),
        )

    def predict(self, X: Any) -> Floats:
        """Return the scores of rows as `rankwise.readers` reads them, bit for bit those of the estimator.

        X may be a data set, which is scored as it is; `score_data` checks its features as well.
        """
        if isinstance(self.function, AdditiveFunction):
            return self.function.scores(table_of(X))
        X = matrix_of(X)
        if is_sparse(X) and not self.function.takes_sparse:
            # In scikit-learn's words, which the estimators pass on.
            raise DataError(
                "Sparse data was passed for X, but dense data is required. Use '.toarray()' to convert to a "
                "dense numpy array."
            )
        return checked_scores(self.function, partial(check_read_rows, X))

    def predict_preference_proba(self, X: Any, pairs: Any) -> Floats:
        """Return the probability that the first row of each pair is judged above the second."""
        calibration = known_calibration(self.calibration, self.class_name)
        return preference_probabilities(calibration, self.predict(X), pairs)
