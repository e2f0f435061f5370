"""The one place that checks X, y, qid and weights given to an estimator."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError, ParameterError
from rankwise.mapped import blocks_of, is_on_disk
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import Queries, group_rows
from rankwise.types import AnyArray, Floats, Matrix

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
    X, y = _validated(estimator, X, y, ensure_min_samples=2, multi_output=multi_output, y_numeric=True)
    return Problem(
        X=X,
        y=np.ascontiguousarray(y, dtype=np.float64),
        queries=group_rows(qid, X.shape[0]),
        row_weight=check_row_weight(sample_weight, X.shape[0]),
    )


def _validated(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Real, finite rows as CSR or in C order, and what scikit-learn's conventions ask for; y too if given."""
    from sklearn.utils.validation import validate_data

    on_disk = is_on_disk(X)
    try:
        checked = validate_data(
            estimator,
            X,
            *y,
            accept_sparse=_accepted_sparse(estimator),
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=not on_disk,
            **options,
        )
    except ValueError as error:
        raise _better(error, X, *y) from error
    _check_entries(checked[0] if y else checked, on_disk)
    return checked


def _better(error: ValueError, X: Any, *y: Any) -> DataError:
    """What scikit-learn found, with the place where it found it, and without the data printed behind it."""
    message = str(error)
    if re.match("Input [Xy] contains", message):
        try:
            check_matrix(X, getattr(X, "columns", None))
            if y and np.ndim(y[0]) == 1:
                check_labels(y[0])
        except DataError as located:
            return located
    if message.startswith("at least one array"):
        return DataError(f"X must have at least one row and one feature; got shape {np.shape(X)}.")
    if message.startswith("could not convert string"):
        return DataError(f"X and y must hold numbers only: {message}.")
    return DataError(message.split("\n")[0] if message.startswith(("Input", "Complex")) else message)


def _check_entries(X: Matrix, on_disk: bool) -> None:
    """What scikit-learn leaves unchecked: columns that X does not have, and files larger than memory."""
    if on_disk:
        for block in blocks_of(X if isinstance(X, np.ndarray) else X.data):
            if _first_not_finite(block) is not None:
                raise DataError("X contains NaN or infinity; its file must hold finite numbers only.")
    elif not isinstance(X, np.ndarray) and X.nnz:
        if X.indices.min() < 0 or X.indices.max() >= X.shape[1]:
            raise DataError(f"X is a damaged CSR matrix: an entry is outside its {X.shape[1]} columns.")
        if (np.diff(X.indptr) < 0).any() or X.indptr[0] != 0 or X.indptr[-1] > len(X.indices):
            raise DataError(
                "X is a damaged CSR matrix: its indptr does not lead through its entries in order."
            )


def _accepted_sparse(estimator: Any) -> str | bool:
    from sklearn.utils import get_tags

    return "csr" if get_tags(estimator).input_tags.sparse else False


def check_eval_set(estimator: Any, eval_set: Any) -> Problem:
    """Check rows to validate on, ``(X, y)`` or ``(X, y, qid)``, against the features of the estimator."""
    X, y, qid = check_eval_parts(eval_set, ("X", "y", "qid"))
    rows = check_eval_rows(estimator, X)
    return Problem(
        X=rows,
        y=check_labels(y, rows.shape[0], name="the y of eval_set"),
        queries=group_rows(qid, rows.shape[0]),
        row_weight=None,
    )


def check_eval_parts(eval_set: Any, names: tuple[str, str, str]) -> tuple[Any, Any, Any]:
    """The two or three parts of an eval_set; the third may be left out and is None then."""
    if not isinstance(eval_set, (tuple, list)) or len(eval_set) not in (2, 3):
        found = f" of {len(eval_set)}" if isinstance(eval_set, (tuple, list)) else ""
        raise DataError(
            f"eval_set must be ({', '.join(names[:2])}) or ({', '.join(names)}); "
            f"got a {type(eval_set).__name__}{found}."
        )
    first, second, *third = eval_set
    return first, second, third[0] if third else None


def check_eval_rows(estimator: Any, X: Any) -> Matrix:
    """Check the rows of an eval_set against the features that the estimator is being fitted on."""
    try:
        rows: Matrix = _validated(estimator, X, reset=False)
    except ValueError as error:
        raise DataError(f"eval_set: {error}") from error
    return rows


def check_rows(estimator: Any, X: Any) -> Matrix:
    """Check rows to score against the features that the estimator was fitted on."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    rows: Matrix = _validated(estimator, X, reset=False)
    return rows


def check_matrix(X: Any, feature_names: Sequence[str] | None = None) -> Matrix:
    """Finite features with at least one row, as CSR or C-ordered rows; float32 stays, the rest is float64."""
    from scipy import sparse

    is_sparse: bool = sparse.issparse(X)
    if is_sparse:
        X = X.tocsr(copy=X.format == "csr" and not X.has_canonical_format)
        X.sum_duplicates()
    else:
        X = _as_array("X", X)
    if X.ndim != 2:
        raise DataError(f"X must be two-dimensional, one row per document; got {X.ndim} dimension(s).")
    if 0 in X.shape:
        raise DataError(f"X must have at least one row and one feature; got shape {X.shape}.")
    matrix: Any = _as_real("X", X) if is_sparse else np.ascontiguousarray(_as_real("X", X))
    values: AnyArray = matrix.data if is_sparse else matrix.reshape(-1)
    at = _first_not_finite(values)
    if at is not None:
        row, column = divmod(at, matrix.shape[1])
        if is_sparse:
            row, column = int((matrix.indptr <= at).sum()) - 1, int(matrix.indices[at])
        name = (
            "" if feature_names is None or column >= len(feature_names) else f" ({feature_names[column]!r})"
        )
        shown = str(values[at]).replace("nan", "NaN")
        raise DataError(f"X must hold finite numbers; row {row}, column {column}{name} is {shown}.")
    checked: Matrix = matrix
    return checked


def check_labels(y: ArrayLike, n_rows: int | None = None, *, name: str = "y") -> Floats:
    """Finite labels (or, under another name, scores), one per row; None when y itself says how many."""
    labels = _as_real(name, check_column(name, y, n_rows))
    row = _first_not_finite(labels)
    if row is not None:
        raise DataError(f"{name} must hold finite numbers; row {row} has {labels[row]}.")
    return np.ascontiguousarray(labels, dtype=np.float64)


def check_vectors(scores: ArrayLike, n_rows: int) -> Floats:
    """Finite score vectors, one a row of the table, each with one score per row of the data."""
    table = _as_real("scores", np.asarray(scores))
    if table.ndim != 2 or table.shape[1] != n_rows:
        raise DataError(f"scores must have shape (vectors, {n_rows}), one vector a row; got {table.shape}.")
    at = _first_not_finite(table.reshape(-1))
    if at is not None:
        vector, row = divmod(at, n_rows)
        raise DataError(
            f"scores must hold finite numbers; vector {vector}, row {row} is {table[vector, row]}."
        )
    return np.asarray(table, dtype=np.float64)


def check_column(name: str, values: ArrayLike | Iterable[Hashable], n_rows: int | None = None) -> AnyArray:
    """A one-dimensional array with one entry per row."""
    array = _as_array(name, values)
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, one entry per row; got shape {array.shape}.")
    if n_rows is not None and len(array) != n_rows:
        raise DataError(f"{name} must have one entry per row of X: expected {n_rows}, got {len(array)}.")
    return array


def _as_array(name: str, values: Any) -> AnyArray:
    """An array of whatever is given; a list that mixes strings and numbers keeps them apart."""
    if hasattr(values, "__array__"):
        return np.asarray(values)
    try:
        entries = list(values)
        array = np.asarray(entries)
    except (ValueError, TypeError):
        raise DataError(f"{name} must be an array; got a {type(values).__name__} that is none.") from None
    mixed = array.dtype.kind in "US" and not all(isinstance(entry, (str, bytes)) for entry in entries)
    return np.asarray(entries, dtype=object) if mixed else array


def _as_real(name: str, array: Any) -> Any:
    """float32 and float64 as they are, other real numbers as float64; anything else is refused."""
    if array.dtype.kind not in "biuf":
        kinds = {"O": "Python objects", "U": "strings", "S": "strings", "c": "complex numbers"}
        held = kinds.get(array.dtype.kind, f"values of type {array.dtype}")
        raise DataError(f"{name} must hold real numbers; got an array of {held}.")
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _as_floats(name: str, values: ArrayLike) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise DataError(f"{name} must hold numbers: {error}.") from error


def _first_not_finite(values: AnyArray) -> int | None:
    """Where the first NaN or infinity is; a sum tells, without an array of flags, when there is none."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return None
    finite = np.isfinite(values)
    return None if finite.all() else int(finite.argmin())


def check_row_weight(weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Non-negative finite weights, one per row, not all zero."""
    if weight is None:
        return None
    array = _as_floats("sample_weight", weight)
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


def check_number(
    name: str,
    value: object,
    *,
    minimum: float = -math.inf,
    maximum: float = math.inf,
    exclusive: bool = False,
) -> float:
    """A finite real number in [minimum, maximum] or, if `exclusive`, strictly between them."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    number = float(value) if is_number else math.nan  # type: ignore[arg-type]
    inside = minimum < number < maximum if exclusive else minimum <= number <= maximum
    if not (inside and math.isfinite(number)):
        bounds = [
            (minimum, "above" if exclusive else "of at least"),
            (maximum, "below" if exclusive else "at most"),
        ]
        bound = " and ".join(f"{word} {limit:g}" for limit, word in bounds if math.isfinite(limit))
        raise ParameterError(
            f"The '{name}' parameter must be a finite number{bound and ' ' + bound}; got {value!r}."
        )
    return number


def check_count(name: str, value: object, *, minimum: int = 1) -> int:
    """A whole number, at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < minimum:
        raise ParameterError(
            f"The '{name}' parameter must be a whole number of at least {minimum}; got {value!r}."
        )
    return int(value)


def check_preferences(
    estimator: Any, X: Any, pairs: Any, magnitude: ArrayLike | None, weight: ArrayLike | None
) -> tuple[Matrix, Pairs]:
    """Check what `fit_preferences` was given, and record the features on the estimator."""
    rows: Matrix = _validated(estimator, X, ensure_min_samples=2)
    return rows, check_pairs(pairs, rows.shape[0], magnitude, weight)


def check_pairs(
    pairs: Any, n_rows: int, magnitude: ArrayLike | None = None, weight: ArrayLike | None = None
) -> Pairs:
    """Pairs of different, existing rows, the preferred one first; contradictions and cycles are allowed."""
    try:
        array = np.asarray(pairs)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.ndim != 2 or array.shape[1] != 2 or array.shape[0] == 0:
        raise DataError(
            f"pairs must have shape (n_pairs, 2) with at least one pair, the preferred row first; "
            f"got shape {array.shape}."
        )
    if array.dtype.kind not in "iu":
        if array.dtype.kind != "f" or not (array == np.floor(array)).all():
            raise DataError(f"pairs must hold whole row numbers; got values of type {array.dtype}.")
        array = array.astype(np.int64)
    outside = ((array < 0) | (array >= n_rows)).any(axis=1)
    if outside.any():
        e = int(outside.argmax())
        raise DataError(
            f"pairs[{e}] is ({array[e, 0]}, {array[e, 1]}), but X has rows 0 to {n_rows - 1} only."
        )
    same = array[:, 0] == array[:, 1]
    if same.any():
        e = int(same.argmax())
        raise DataError(f"pairs[{e}] compares row {array[e, 0]} with itself.")
    return Pairs(
        better=np.ascontiguousarray(array[:, 0], dtype=np.int64),
        worse=np.ascontiguousarray(array[:, 1], dtype=np.int64),
        magnitude=_check_per_pair("magnitude", 1.0 if magnitude is None else magnitude, len(array)),
        weight=None if weight is None else _check_per_pair("weight", weight, len(array), minimum=0.0),
    )


def _check_per_pair(name: str, values: ArrayLike, n_pairs: int, minimum: float = -math.inf) -> Floats:
    array = _as_floats(name, values)
    if array.ndim == 0:
        array = np.full(n_pairs, float(array))
    if array.shape != (n_pairs,):
        raise DataError(f"{name} must have shape ({n_pairs},), one value per pair; got {array.shape}.")
    bad = ~(np.isfinite(array) & (array >= minimum))
    if bad.any():
        e = int(bad.argmax())
        bound = "finite" if minimum == -math.inf else "finite and not negative"
        raise DataError(f"{name} must be {bound}; pair {e} has {array[e]}.")
    return array


def check_alphas(alphas: Any) -> Floats:
    """A non-empty grid of regularization parameters, ascending."""
    array = np.atleast_1d(np.asarray(alphas))
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iuf":
        raise ParameterError(f"The 'alphas' parameter must be a sequence of numbers; got {alphas!r}.")
    for alpha in array.tolist():
        check_number("alphas", alpha, minimum=0.0)
    return np.unique(array.astype(np.float64))
