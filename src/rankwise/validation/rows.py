"""Rows in the forms that users have them, checked by the conventions of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.errors import DataError, warn_caller
from rankwise.features import Features, features_of, matrix_of, refuse_parts
from rankwise.mapped import blocks_of, is_on_disk
from rankwise.types import Matrix, is_sparse
from rankwise.validation.arrays import check_matrix, first_not_finite, refuse_masked
from rankwise.validation.csr import check_sparse, check_width
from rankwise.validation.refusals import fault_of

# As dtypes, because comparing a dtype with a type takes as long as the rest of `_is_plain`.
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))

# Names that a message lists at most.
SHOWN_NAMES = 5


def check_fitted(estimator: Any) -> None:
    """Raise scikit-learn's error unless the estimator was fitted."""
    if not estimator.__sklearn_is_fitted__():
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)


def check_rows(
    X: Any,
    *,
    who: str,
    like: Features | None = None,
    sparse: bool = True,
    finite: bool = True,
    least: int = 1,
) -> Matrix:
    """Return rows, CSR or C-ordered.

    Parameters
    ----------
    X : array, sparse matrix, frame or data set
    who : str
        The class that asks, which messages name.
    like : Features, optional
        Those of the rows of a fit, which must be the same.
    sparse : bool
        Whether rows may be sparse.
    finite : bool
        Whether to refuse NaN and infinity.
    least : int
        The least number of rows.
    """
    _check_features(X, like, who)
    rows: Matrix
    (rows,) = _checked(matrix_of(X), who=who, like=like, sparse=sparse, finite=finite, least=least)
    return rows


def check_judged_rows(
    X: Any,
    y: Any,
    *,
    who: str,
    like: Features | None = None,
    sparse: bool = True,
    least: int = 1,
    multi_output: bool = False,
) -> tuple[Matrix, Any]:
    """Return rows as `check_rows` does, and their labels."""
    _check_features(X, like, who)
    of_y = {"multi_output": multi_output, "y_numeric": True}
    rows, labels = _checked(
        matrix_of(X), y, who=who, like=like, sparse=sparse, finite=True, least=least, **of_y
    )
    return rows, labels


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


def _check_features(X: Any, like: Features | None, who: str) -> None:
    """Reject rows elsewhere, and rows whose features are not called and scaled like those of a fit.

    Plain arrays have no names, and may have been taken from a data set; only if a fit saw a frame, rows
    without names are worth a warning. About frames, these are the words of scikit-learn.
    """
    refuse_parts(X)
    if like is None:
        return
    given = features_of(X)
    if given.names is None or not given.of_frame:
        like.check(given)
        if like.of_frame and given.names is None:
            warn_caller(f"X does not have valid feature names, but {who} was fitted with feature names")
    elif like.names is None:
        warn_caller(f"X has feature names, but {who} was fitted without feature names")
    elif like.difference(given, "the model", "X") is not None:
        raise _other_names(given.names, like.names)


def _other_names(given: Sequence[str], like: Sequence[str]) -> DataError:
    """How the names of a frame differ from those that a model was fitted to, in the words of scikit-learn."""
    lines = ["The feature names should match those that were passed during fit."]
    unseen, missing = sorted(set(given) - set(like)), sorted(set(like) - set(given))
    for what, names in (("unseen at fit time:", unseen), ("seen at fit time, yet now missing:", missing)):
        if names:
            more = ["- ..."] if len(names) > SHOWN_NAMES else []
            lines += [f"Feature names {what}", *(f"- {name}" for name in names[:SHOWN_NAMES]), *more]
    if not unseen and not missing:
        lines.append("Feature names must be in the same order as they were in fit.")
    return DataError("\n".join(lines) + "\n")


def _checked(
    X: Any, *y: Any, who: str, like: Features | None, sparse: bool, finite: bool, least: int, **of_y: Any
) -> tuple[Any, ...]:
    if isinstance(X, np.ndarray) and not X.flags.aligned:
        X = X.copy()  # here once, instead of for every kernel
    plain = _array_of(X)
    if _is_plain(plain, *y, finite=finite) and plain.shape[0] >= least:
        check_count_of_features(plain, like, who)
        return (plain, *y)
    from sklearn.utils.validation import check_array, check_X_y

    if is_sparse(X):
        check_sparse(X)
    for name, array in zip(("X", "y"), (X, *y), strict=False):
        refuse_masked(name, array)
    on_disk = is_on_disk(X)
    options: dict[str, Any] = {
        "accept_sparse": "csr" if sparse else False,
        "dtype": [np.float64, np.float32],
        "order": "C",
        "ensure_all_finite": finite and not on_disk,
        "ensure_min_samples": least,
        "estimator": who,
    }
    try:
        checked = check_X_y(X, *y, **options, **of_y) if y else (check_array(X, input_name="X", **options),)
    except (ValueError, TypeError, OverflowError) as error:
        raise fault_of(X, *y) or DataError(str(error)) from error
    check_width(checked[0].shape[1])
    check_count_of_features(checked[0], like, who)
    if on_disk and finite:
        _check_file_is_finite(checked[0])
    return tuple(checked)


def check_count_of_features(X: Matrix, like: Features | None, who: str) -> None:
    """Reject rows with more or fewer features than those of a fit."""
    if like is not None and X.shape[1] != like.count:
        raise DataError(
            f"X has {X.shape[1]} features, but {who} is expecting {like.count} features as input."
        )


def _array_of(X: Any) -> Any:
    """A pandas frame whose columns are NumPy's numbers as the array that scikit-learn makes of it.

    scikit-learn looks at each column several times, which takes longer than scoring 100 rows.
    """
    dtypes = list(X.dtypes) if hasattr(X, "iloc") and hasattr(X, "columns") else []
    if not dtypes or not all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in dtypes):
        return X
    common = np.result_type(*dtypes)
    return np.asarray(X, dtype=common if common in _FLOATS else np.float64, order="C")


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
