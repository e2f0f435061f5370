"""Checks for matrices and columns."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.preferences.queries import Queries
from rankwise.types import AnyArray, Floats, Matrix, is_sparse
from rankwise.validation.csr import check_sparse

# Nonzero weights must lie in this range: losses sum products of two weights and squared features.
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100


def check_matrix(X: Any, feature_names: Sequence[str] | None = None) -> Matrix:
    """Return X as a finite, non-empty CSR or C-ordered matrix of float32 (kept) or float64 (all else)."""
    stored = is_sparse(X)
    if stored:
        check_sparse(X)
        X = X.tocsr(copy=X.format == "csr" and not X.has_canonical_format)
        X.sum_duplicates()
    else:
        X = _as_array("X", X)
    if X.ndim != 2:
        hint = (
            " Reshape your data using X.reshape(-1, 1) if it has a single feature "
            "or X.reshape(1, -1) if it is a single row."
        )
        raise DataError(
            f"X must be two-dimensional, one row per document; got {X.ndim} dimension(s)."
            f"{hint if X.ndim == 1 else ''}"
        )
    if 0 in X.shape:
        raise DataError(f"X must have at least one row and one feature; got shape {X.shape}.")
    matrix: Any = _as_real("X", X) if stored else np.ascontiguousarray(_as_real("X", X))
    values: AnyArray = matrix.data if stored else matrix.reshape(-1)
    at = first_not_finite(values)
    if at is not None:
        row, column = divmod(at, matrix.shape[1])
        if stored:
            row, column = int((matrix.indptr <= at).sum()) - 1, int(matrix.indices[at])
        shown = str(values[at]).replace("nan", "NaN")
        raise DataError(f"X must hold finite numbers; {place_of((row, column), feature_names)} is {shown}.")
    checked: Matrix = matrix
    return checked


def place_of(at: tuple[int, ...], feature_names: Sequence[str] | None = None) -> str:
    """Describe where an entry is: its row and, in a matrix, its column and the column's name if known."""
    words = ", ".join(f"{axis} {index}" for axis, index in zip(("row", "column"), at, strict=False))
    if feature_names is None or len(at) != 2 or at[1] >= len(feature_names):
        return words
    return f"{words} ({feature_names[at[1]]!r})"


def check_labels(y: ArrayLike, n_rows: int | None = None, *, name: str = "y") -> Floats:
    """Return finite labels (or scores, if so named), one per row; if `n_rows` is None, any number of them."""
    return check_targets(check_column(name, y, n_rows), name=name)


def check_scores(scores: ArrayLike, n_rows: int) -> Floats:
    """Return finite scores, one per row; −∞ where a masked array says that there is none."""
    if not isinstance(scores, np.ma.MaskedArray):
        return check_labels(scores, n_rows, name="scores")
    given = check_labels(np.ma.filled(scores, 0), n_rows, name="scores")
    return np.where(np.ma.getmaskarray(scores), -np.inf, given)


def check_targets(y: AnyArray, *, name: str = "y") -> Floats:
    """Return finite labels for one target or, as columns, several."""
    labels = exact_floats(name, y) if y.dtype.kind in "iu" else _as_real(name, y)
    at = first_not_finite(labels.reshape(-1))
    if at is not None:
        row, label = at // (labels.size // len(labels)), labels.reshape(-1)[at]
        raise DataError(f"{name} must hold finite numbers; row {row} has {label}.")
    return np.ascontiguousarray(labels, dtype=np.float64)


def check_vectors(scores: ArrayLike, n_rows: int) -> Floats:
    """Return finite score vectors, one per row of the table, each with one score per row of the data."""
    refuse_masked("scores", scores)
    table = _as_real("scores", np.asarray(scores))
    if table.ndim != 2 or table.shape[1] != n_rows:
        raise DataError(f"scores must have shape (vectors, {n_rows}), one vector per row; got {table.shape}.")
    at = first_not_finite(table.reshape(-1))
    if at is not None:
        vector, row = divmod(at, n_rows)
        raise DataError(
            f"scores must hold finite numbers; vector {vector}, row {row} is {table[vector, row]}."
        )
    return np.asarray(table, dtype=np.float64)


def check_column(name: str, values: ArrayLike | Iterable[Hashable], n_rows: int | None = None) -> AnyArray:
    """Return a one-dimensional array with one entry per row."""
    array = _as_array(name, values)
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, one entry per row; got shape {array.shape}.")
    if n_rows is not None and len(array) != n_rows:
        raise DataError(f"{name} must have one entry per row of X: expected {n_rows}, got {len(array)}.")
    return array


def check_row_weight(weight: ArrayLike | None, n_rows: int, *, may_be_zero: bool = False) -> Floats | None:
    """Return finite, non-negative weights, one per row; `may_be_zero` says whether all of them may be 0."""
    if weight is None:
        return None
    array = as_floats("sample_weight", weight)
    if array.ndim == 0:
        array = np.full(n_rows, float(array))
    if array.shape != (n_rows,):
        raise DataError(f"sample_weight must have shape ({n_rows},), one weight per row; got {array.shape}.")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise DataError(f"sample_weight must be finite and non-negative; row {row} has {array[row]}.")
    if not may_be_zero and not array.any():
        raise DataError("sample_weight is zero for every row; at least two rows must have a positive weight.")
    return array


def check_query_weight(weight: Any, queries: Queries) -> Floats | None:
    """Return positive weights, one per query; given in order of first appearance, or by label."""
    if weight is None:
        return None
    if isinstance(weight, Mapping):
        labels = [] if queries.labels is None else queries.labels.tolist()
        missing = [label for label in labels if label not in weight]
        if missing or not labels:
            what = f"query {missing[0]!r}" if missing else "the one ranking of rows without a qid"
            raise DataError(f"query_weight has no weight for {what}.")
        weight = [weight[label] for label in labels]
    array = as_floats("query_weight", weight)
    if array.shape != (queries.n_queries,):
        raise DataError(
            f"query_weight must have shape ({queries.n_queries},), one weight per query in order of first "
            f"appearance; got {array.shape}."
        )
    bad = ~(np.isfinite(array) & (array > 0))
    if bad.any():
        at = int(bad.argmax())
        raise DataError(f"query_weight must be finite and above 0; query {at} has {array[at]}.")
    check_weight_range("query_weight", "query", array)
    return array


def check_weight_range(name: str, item: str, weights: Floats | None) -> None:
    """Reject weights so large or small that their products would overflow or underflow."""
    if weights is None:
        return
    outside = (weights > 0) & ((weights < LEAST_WEIGHT) | (weights > LARGEST_WEIGHT))
    if outside.any():
        at = int(outside.argmax())
        raise DataError(
            f"{name} must be 0 or between {LEAST_WEIGHT:g} and {LARGEST_WEIGHT:g}; "
            f"{item} {at} has {weights[at]}."
        )


def _as_array(name: str, values: Any) -> AnyArray:
    """Convert to an array; a list that mixes strings and numbers becomes an array of objects."""
    refuse_masked(name, values)
    if hasattr(values, "__array__"):
        return np.asarray(values)
    try:
        entries = list(values)
        array = np.asarray(entries)
    except OverflowError:  # integers too large for float64, among floats
        return np.asarray(entries, dtype=object)
    except (ValueError, TypeError):
        raise DataError(
            f"{name} must be an array; got {type(values).__name__}, which cannot be converted to one."
        ) from None
    # A NumPy string array would turn numbers into strings and drop trailing null characters.
    kept = array.dtype.kind not in "US" or all(
        isinstance(entry, (str, bytes)) and entry[-1:] not in ("\0", b"\0") for entry in entries
    )
    return array if kept else np.asarray(entries, dtype=object)


def refuse_masked(name: str, values: Any) -> None:
    """Reject arrays with masked entries: `np.asarray` would silently drop the mask."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        at = np.unravel_index(int(np.ma.getmaskarray(values).argmax()), values.shape)
        place = place_of(tuple(int(index) for index in at))
        raise DataError(f"{name} has a missing value: {place} is masked.")


def exact_floats(name: str, whole: AnyArray) -> Floats:
    """Convert integers to float64, rejecting any that would be rounded, which could create ties."""
    floats = whole.astype(np.float64)
    if whole.itemsize < 8 or not (np.abs(floats) >= 2.0**53).any():
        return floats
    with np.errstate(invalid="ignore"):
        rounded = (floats.astype(whole.dtype) != whole).reshape(len(whole), -1)
    if rounded.any():
        row, column = divmod(int(rounded.argmax()), rounded.shape[1])
        held = whole.reshape(len(whole), -1)[row, column]
        raise DataError(
            f"{name} has {held} in row {row}, which float64 cannot represent exactly; convert it to float "
            "yourself if rounding is acceptable."
        )
    return floats


def _as_real(name: str, array: Any) -> Any:
    """Return float32 and float64 unchanged and other real numbers as float64; reject anything else."""
    if array.dtype.kind not in "biuf":
        kinds = {"O": "Python objects", "U": "strings", "S": "strings", "c": "complex numbers"}
        held = kinds.get(array.dtype.kind, f"values of type {array.dtype}")
        raise DataError(f"{name} must hold real numbers; got an array of {held}.")
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def as_floats(name: str, values: ArrayLike) -> Floats:
    refuse_masked(name, values)
    try:
        return np.asarray(values, dtype=np.float64, order="C")
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"{name} must hold numbers: {error}.") from error


@np.errstate(over="ignore", invalid="ignore")
def first_not_finite(values: AnyArray) -> int | None:
    """Return the index of the first NaN or infinity, or None.

    If all values are finite, a sum shows it without an array of flags. A BLAS product would too, but its
    threads would stay awake and compete with ours.
    """
    if math.isfinite(np.add.reduce(values, axis=None, dtype=np.float64)):
        return None
    finite = np.isfinite(values)
    return None if finite.all() else int(finite.argmin())


def check_products(products: Floats) -> None:
    """Reject products of features that overflowed."""
    if first_not_finite(products) is not None:
        raise DataError("X has entries so large that their products overflow; scale its features.")
