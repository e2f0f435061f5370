"""Find out what is wrong with data that scikit-learn rejected, and where.

scikit-learn's messages do not say where, print whole arrays and vary between versions, so they are ignored
and the data are inspected instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.errors import DataError, DataTypeError
from rankwise.features import column_names
from rankwise.mapped import is_on_disk
from rankwise.types import AnyArray, Floats, is_sparse
from rankwise.validation.arrays import check_matrix, check_targets, place_of


def fault_of(X: Any, *y: Any) -> DataError | None:
    """Return the first fault in the rows or, if given, the labels; None if there is none in either."""
    try:
        _check_rows(X)
        for labels in y:
            if labels is not None:
                check_targets(_numbers("y", labels))
    except DataError as fault:
        return fault
    return None


def _check_rows(X: Any) -> None:
    if is_on_disk(X):  # and may be larger than memory
        return
    names = column_names(X)
    rows: Any = X if is_sparse(X) else _numbers("X", X, names)
    if rows.ndim == 2 and rows.shape[0] > 0 and rows.shape[1] == 0:
        return  # scikit-learn's estimator checks require its own message
    check_matrix(rows, names)


def _numbers(name: str, given: Any, feature_names: Any = None) -> Floats:
    try:
        array = np.asarray(given)
    except DataError:  # of a table, which says itself what it is
        raise
    except OverflowError:  # integers too large for float64, among floats
        array = np.asarray(given, dtype=object)
    except ValueError:
        raise DataError(f"{name} must hold numbers only, in rows of equal length.") from None
    if array.ndim == 0:
        raise DataError(f"{name} must be an array of numbers; got {type(given).__name__}.")
    if array.dtype.kind == "c":  # scikit-learn's estimator checks require these words
        raise DataError(f"Complex data not supported: {name} must hold real numbers.")
    try:
        return array.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        raise _no_number(name, array, feature_names) from None


def _no_number(name: str, array: AnyArray, feature_names: Any) -> DataError:
    """Return an error for the first entry that is not a number, with Python's explanation."""
    for at in np.ndindex(array.shape):
        try:
            float(array.item(at))
        except (ValueError, TypeError, OverflowError) as error:
            kind = DataTypeError if isinstance(error, TypeError) else DataError
            return kind(f"{name} must hold numbers only; {place_of(at, feature_names)}: {error}.")
    return DataError(f"{name} must hold numbers only; got values of type {array.dtype}.")
