"""The kernels that the parameters of rankers define."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.columns.encoding import Encoding
from rankwise.errors import DataError, ParameterError, warn_caller
from rankwise.operators.kernel import Kernel, KernelName, checked_function
from rankwise.types import Matrix
from rankwise.validation import check_number

# Rows whose kernel value is below this are unrelated; this many rows are sampled.
FAR_APART = 1e-6
ROWS_SAMPLED = 64


def checked_kernel(
    function: object, gamma: Any, degree: Any, coef0: Any, X: Matrix, encoding: Encoding | None
) -> Kernel:
    """The kernel defined by the parameters, for these training rows.

    A column of a table varies about as much as a standardized number, however many features it becomes; so
    the number of columns, and not that of categories, determines the default of gamma.
    """
    n_varying = X.shape[1] if encoding is None else len(encoding.codes)
    kernel = Kernel(
        checked_function(function),
        1.0 / n_varying if gamma is None else check_number("gamma", gamma, minimum=0.0),
        check_number("degree", degree, minimum=0.0),
        check_number("coef0", coef0, minimum=0.0),
    )
    if kernel.function is KernelName.POLYNOMIAL and not kernel.degree.is_integer():
        raise ParameterError(
            "The 'degree' parameter must be an integer, because other powers of inner products are not "
            f"positive semi-definite; got {degree!r}."
        )
    if kernel.function is KernelName.PRECOMPUTED and X.shape[0] != X.shape[1]:
        raise DataError(
            f"With kernel='precomputed', X must be the square matrix of kernel values between the "
            f"training rows; got shape {X.shape}."
        )
    if kernel.function is KernelName.RBF:
        _warn_if_far_apart(X, kernel)
    return kernel


def _warn_if_far_apart(X: Matrix, kernel: Kernel) -> None:
    """Warn if the kernel finds almost no two rows similar, judging by a sample."""
    rows = X[np.linspace(0, X.shape[0] - 1, min(X.shape[0], ROWS_SAMPLED)).astype(np.int64)]
    if float(np.median(kernel(rows, rows))) < FAR_APART:
        warn_caller(
            f"With gamma={kernel.gamma:g} the rbf kernel is below {FAR_APART:g} between most rows, so one "
            "row tells almost nothing about another: scale the features, or choose a smaller gamma.",
            UserWarning,
        )
