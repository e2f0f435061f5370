"""Calibration: how sure a model is that one row is judged above another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.errors import DataError, RankwiseError
from rankwise.rendering import Cell, html_table, text_table
from rankwise.types import Floats, Ints
from rankwise.validation.explicit_pairs import check_pairs

CURVE_HEADER = ("predicted", "observed", "error", "pairs")


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """The probability that one row is judged above another, from the difference of their scores.

    If the labels of two rows of a query differ, the first is above the second with probability
    ``1 / (1 + exp(−slope · difference))``. The slope maximizes the likelihood of pairs that the scoring
    models were not trained on. The curve and its error show how well these probabilities agree with the
    labels; those of a query come from a slope fitted without it.

    Attributes
    ----------
    slope : float
        The slope of the logistic function.
    slope_error : float
        Its standard error over queries.
    expected_calibration_error : float
        The mean distance between predicted and observed probabilities, over the pairs of the curve.
    predicted : Floats, shape (n_bins,)
        The mean probability, from 0.5 to 1, that the row preferred by the model is judged above the other,
        for pairs in bins of equal size.
    observed : Floats, shape (n_bins,)
        The fraction of these pairs for which it was.
    observed_error : Floats, shape (n_bins,)
        The standard error of that fraction, over queries.
    n_pairs_in_bin : Ints, shape (n_bins,)
        The number of pairs in each bin.
    source : str
        The pairs it comes from, such as "leave-query-out", "5 folds of queries" or "eval_set".

    See Also
    --------
    rankwise.RankRLSCV : Sets `calibration_`, as every ranker does that leaves rows out.

    Examples
    --------
    >>> import rankwise
    >>> found = rankwise.RankRLSCV().fit(rankwise.load_movies()).calibration_
    >>> found.source
    'leave-query-out'
    >>> round(found.expected_calibration_error, 2), round(float(found.probability(1.0)), 2)
    (0.01, 0.91)
    """

    slope: float
    slope_error: float
    expected_calibration_error: float
    predicted: Floats
    observed: Floats
    observed_error: Floats
    n_pairs_in_bin: Ints
    source: str

    @property
    def n_pairs(self) -> int:
        """The number of pairs it comes from."""
        return int(self.n_pairs_in_bin.sum())

    @property
    def curve(self) -> list[tuple[Cell, ...]]:
        """The rows of the curve: predicted and observed probability, standard error, number of pairs."""
        columns = (self.predicted, self.observed, self.observed_error, self.n_pairs_in_bin)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def probability(self, difference: Floats) -> Floats:
        """The probability that the first of two rows is judged above the second, given that labels differ.

        `difference` is the score of the first minus that of the second.
        """
        return logistic(self.slope * np.asarray(difference, dtype=np.float64))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists: ready for JSON."""
        return {
            "slope": self.slope,
            "slope_error": self.slope_error,
            "expected_calibration_error": self.expected_calibration_error,
            "n_pairs": self.n_pairs,
            "source": self.source,
            "curve": [dict(zip(CURVE_HEADER, row, strict=True)) for row in self.curve],
        }

    def __repr__(self) -> str:
        return (
            f"Calibration(slope {self.slope:.4g} ± {self.slope_error:.2g}, expected calibration error "
            f"{self.expected_calibration_error:.3f}, {self.n_pairs:,} pairs by {self.source})"
        )

    def __str__(self) -> str:
        return f"{self!r}\n{text_table(CURVE_HEADER, self.curve)}"

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>{html_table(CURVE_HEADER, self.curve)}"


def logistic(x: Floats) -> Floats:
    """``1 / (1 + exp(−x))`` without overflow, and without importing SciPy."""
    return np.exp(-np.logaddexp(0.0, -x))


def known_calibration(calibration: Calibration | None, class_name: str) -> Calibration:
    """The calibration of a model, or the error that says how to get one."""
    if calibration is None:
        raise RankwiseError(
            f"This {class_name} has no calibration, and so no probabilities. Calibration uses pairs that the "
            f"model was not trained on. Fit a ...CV ranker by leave-query-out or on folds, or pass an "
            f"eval_set to fit (RankSVMPath: call select); updates discard it."
        )
    return calibration


def preference_probabilities(calibration: Calibration, scores: Floats, pairs: Any) -> Floats:
    """The probability of each pair of rows, given their scores; see `Calibration`."""
    if scores.ndim != 1:
        raise DataError(
            f"Probabilities need one score per row; this model predicts {scores.shape[1]} targets."
        )
    checked = check_pairs(pairs, len(scores))
    return calibration.probability(scores[checked.better] - scores[checked.worse])
