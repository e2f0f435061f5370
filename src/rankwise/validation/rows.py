"""Rows checked against an estimator, by the conventions of scikit-learn."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.errors import DataError
from rankwise.features import features_of, matrix_of
from rankwise.mapped import blocks_of, is_on_disk
from rankwise.types import Matrix, is_sparse
from rankwise.validation.arrays import check_matrix, first_not_finite, refuse_masked
from rankwise.validation.csr import check_sparse, check_width
from rankwise.validation.judgments import check_scaling
from rankwise.validation.refusals import fault_of

# As dtypes, because comparing a dtype with a type takes as long as the rest of `_is_plain`.
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def check_fitted(estimator: Any) -> None:
    """Raise scikit-learn's error unless the estimator was fitted."""
    if not estimator.__sklearn_is_fitted__():
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)


def check_rows(estimator: Any, X: Any, finite: bool = True, *, reset: bool = False) -> Matrix:
    """Check rows against the features seen in `fit` or, if `reset`, record their features."""
    if not reset:
        check_fitted(estimator)
    check_scaling(estimator, X)
    rows: Matrix = validated(estimator, X, reset=reset, finite=finite)
    return rows


def check_read_rows(X: Matrix, finite: bool = True) -> Matrix:
    """Check rows of a data set, which are CSR or C-ordered but may be a file that was only mapped."""
    if is_sparse(X):
        check_sparse(X)
    check_width(X.shape[1])
    if finite and is_on_disk(X):
        _check_file_is_finite(X)
    elif finite:
        check_matrix(X)
    return X


def check_eval_rows(estimator: Any, X: Any) -> Matrix:
    """Check the rows of an eval_set against the features of the current fit."""
    try:
        check_scaling(estimator, X)
        rows: Matrix = validated(estimator, X, reset=False)
    except ValueError as error:
        raise DataError(f"eval_set: {error}") from error
    return rows


def validated(
    estimator: Any,
    X: Any,
    *y: Any,
    reset: bool = True,
    finite: bool = True,
    **options: Any,
) -> Any:
    """Return real rows, CSR or C-ordered, and y if given, checked by scikit-learn's conventions.

    X may be a data set, whose features are those of the rows. Unless `finite`, rows may hold NaN and
    infinity. If `reset`, the features of X become those of the estimator; otherwise, they must match. Rankers
    with the parameter `columns` encode X.
    """
    encoded = estimator._encode(X, reset=reset) if hasattr(estimator, "_encode") else None
    if encoded is not None:
        options |= {"multi_output": False} if y else {}
        return _checked_rows(_taking_features(estimator), encoded, *y, reset=True, finite=finite, **options)
    features, X = features_of(X), matrix_of(X)
    if not (reset or hasattr(X, "columns") or hasattr(X, "__dataframe__")):
        estimator = _without_learned_names(estimator, features.names)
    checked = _checked_rows(estimator, X, *y, reset=reset, finite=finite, **options)
    if reset:
        # Names that scikit-learn found are those of a frame: other rows without names are worth its warning.
        estimator._fitted_to_frame = hasattr(estimator, "feature_names_in_")
        if features.names is not None:
            estimator.feature_names_in_ = np.array(features.names, dtype=object)
        if features.numbered_from is not None:
            estimator.numbered_from_ = features.numbered_from
    return checked


def _taking_features(estimator: Any) -> Any:
    """The estimator to check encoded columns against, as one that was never given columns."""
    bare = copy.copy(estimator)
    bare.columns = None
    vars(bare).pop("feature_names_in_", None)
    return bare


def _without_learned_names(estimator: Any, names: Sequence[str] | None) -> Any:
    """The estimator to check rows against, without names that scikit-learn could not find in X.

    Names from a data set or a file are compared with those of another data set. Plain arrays have none, and
    were probably taken from such a data set.
    """
    known = getattr(estimator, "feature_names_in_", None)
    if known is None or getattr(estimator, "_fitted_to_frame", False):
        return estimator
    if names is not None and list(names) != known.tolist():
        raise DataError(f"The data does not match the model: {difference_of(known.tolist(), names)}.")
    bare = copy.copy(estimator)
    del bare.feature_names_in_
    return bare


def difference_of(known: Sequence[str], names: Sequence[str]) -> str:
    """How the names of features differ from those that a model was fitted to."""
    missing = [name for name in known if name not in names]
    return f"the feature '{missing[0]}' is missing" if missing else "the order of the features differs"


def _checked_rows(
    estimator: Any, X: Any, *y: Any, reset: bool, finite: bool, ensure_min_samples: int = 1, **options: Any
) -> Any:
    if isinstance(X, np.ndarray) and not X.flags.aligned:
        X = X.copy()  # here once, instead of for every kernel
    if (
        not hasattr(estimator, "feature_names_in_")
        and _is_plain(X, *y, finite=finite)
        and X.shape[0] >= ensure_min_samples
        and (reset or X.shape[1] == estimator.n_features_in_)
    ):
        estimator.n_features_in_ = X.shape[1]
        return (X, *y) if y else X
    from sklearn.utils.validation import validate_data

    if is_sparse(X):
        check_sparse(X)
    for name, array in zip(("X", "y"), (X, *y), strict=False):
        refuse_masked(name, array)
    on_disk = is_on_disk(X)
    try:
        checked = validate_data(
            estimator,
            X,
            *y,
            reset=reset,
            accept_sparse=_accepted_sparse(estimator),
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=finite and not on_disk,
            ensure_min_samples=ensure_min_samples,
            **options,
        )
    except (ValueError, TypeError, OverflowError) as error:
        raise fault_of(X, *y) or DataError(str(error)) from error
    rows: Matrix = checked[0] if y else checked
    check_width(rows.shape[1])
    if on_disk and finite:
        _check_file_is_finite(rows)
    return checked


def _is_plain(X: Any, *y: Any, finite: bool) -> bool:
    """Whether these are arrays, finite if they must be, already in the form required of rows and labels.

    Such arrays need no further checks. scikit-learn takes a third of a millisecond to find this out, longer
    than a small model takes to score them; anything else is left to scikit-learn to convert or reject.
    """
    if type(X) is not np.ndarray or any(type(column) is not np.ndarray for column in y):
        return False
    if X.ndim != 2 or 0 in X.shape or X.dtype not in _FLOATS or not X.flags.c_contiguous:
        return False
    if any(column.shape != X.shape[:1] or column.dtype.kind not in "iuf" for column in y):
        return False
    return not finite or all(first_not_finite(array) is None for array in (X, *y))


def _check_file_is_finite(X: Matrix) -> None:
    """Look block by block, because the file may be larger than memory."""
    for block in blocks_of(X if isinstance(X, np.ndarray) else X.data):
        if first_not_finite(block) is not None:
            raise DataError("X contains NaN or infinity; its file must hold finite numbers only.")


def _accepted_sparse(estimator: Any) -> str | bool:
    from sklearn.utils import get_tags

    return "csr" if get_tags(estimator).input_tags.sparse else False
