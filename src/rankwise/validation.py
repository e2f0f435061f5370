"""The one place that checks X, y, qid and weights given to an estimator."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError, ParameterError
from rankwise.preferences.queries import Queries, group_rows
from rankwise.types import Floats, Matrix

Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True)
class Problem:
    """Validated rows to learn from, in the caller's order."""

    X: Matrix
    y: Floats
    queries: Queries
    row_weight: Floats | None


def check_problem(
    estimator: Any,
    X: Any,
    y: Any,
    qid: ArrayLike | Iterable[Hashable] | None,
    sample_weight: ArrayLike | None,
    *,
    multi_output: bool = False,
) -> Problem:
    """Check what `fit` was given, and record the features on the estimator as scikit-learn expects."""
    from sklearn.utils.validation import validate_data

    X, y = validate_data(
        estimator,
        X,
        y,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        multi_output=multi_output,
        y_numeric=True,
        accept_large_sparse=True,
    )
    return Problem(
        X=X,
        y=np.ascontiguousarray(y, dtype=np.float64),
        queries=group_rows(qid, X.shape[0]),
        row_weight=check_row_weight(sample_weight, X.shape[0]),
    )


def check_rows(estimator: Any, X: Any) -> Matrix:
    """Check rows to score against the features that the estimator was fitted on."""
    from sklearn.utils.validation import check_is_fitted, validate_data

    check_is_fitted(estimator)
    rows: Matrix = validate_data(
        estimator, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
    )
    return rows


def check_row_weight(weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Non-negative finite weights, one per row, not all zero."""
    if weight is None:
        return None
    array = np.asarray(weight, dtype=np.float64)
    if array.ndim == 0:
        array = np.full(n_rows, float(array))
    if array.shape != (n_rows,):
        raise DataError(f"sample_weight must have shape ({n_rows},), one weight per row; got {array.shape}.")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise DataError(f"sample_weight must be finite and not negative; row {row} has {array[row]}.")
    if not array.any():
        raise DataError("sample_weight is zero for every row; at least two rows must weigh something.")
    return array


def check_choice(name: str, value: object, choices: type[Choice]) -> Choice:
    """The enum member that a string parameter names."""
    try:
        return choices(value)  # type: ignore[arg-type]
    except ValueError:
        expected = ", ".join(repr(str(choice)) for choice in choices)
        raise ParameterError(f"The '{name}' parameter must be one of {expected}; got {value!r}.") from None


def check_number(name: str, value: object, *, minimum: float = -math.inf, exclusive: bool = False) -> float:
    """A finite real number, at least (or, if `exclusive`, above) `minimum`."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    number = float(value) if is_number else math.nan  # type: ignore[arg-type]
    if not math.isfinite(number) or number < minimum or (exclusive and number == minimum):
        bound = "" if minimum == -math.inf else f" {'above' if exclusive else 'of at least'} {minimum:g}"
        raise ParameterError(f"The '{name}' parameter must be a finite number{bound}; got {value!r}.")
    return number
