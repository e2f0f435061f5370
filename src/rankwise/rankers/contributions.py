"""What each column adds to the scores of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.columns.inputs import Inputs
from rankwise.errors import DataError, ParameterError
from rankwise.rows.table import Table
from rankwise.scoring.additive import AdditiveFunction
from rankwise.scoring.functions import ScoringFunction
from rankwise.types import Floats, is_sparse


def contributions(function: ScoringFunction, inputs: Inputs, rows: Any) -> Any:
    """What each column of the rows adds to their scores; a matrix that is sparse if the rows are.

    What two columns add together is shared equally, as Shapley values are.
    """
    if isinstance(function, AdditiveFunction):
        return _of_columns(function, inputs, rows)
    weights = function.weights
    if weights is None:
        raise ParameterError(
            "contributions needs a model whose score is a sum over columns, such as a linear ranker; "
            "explain compares two rows by any model."
        )
    if weights.ndim != 1:
        raise DataError(f"contributions needs one score per row; this model predicts {len(weights)} targets.")
    if is_sparse(rows):
        return rows.multiply(weights).tocsr()
    return np.asarray(rows, dtype=np.float64) * weights


def _of_columns(function: AdditiveFunction, inputs: Inputs, rows: Table) -> Floats:
    assert inputs.encoding is not None
    parts, places = function.contributions(rows), inputs.encoding.places
    found = np.zeros((rows.n_rows, len(inputs.encoding.columns)))
    for part, columns in zip(parts.T, places, strict=True):
        for column in columns:
            found[:, column] += part / len(columns)
    return found
