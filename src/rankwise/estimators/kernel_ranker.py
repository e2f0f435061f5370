"""Rankers whose scores are sums of kernel values, and the kernels that their parameters define."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.errors import DataError, ParameterError, warn_caller
from rankwise.estimators.base import Ranker
from rankwise.operators.kernel import Kernel, KernelFunction, KernelName, checked_function
from rankwise.scoring.functions import KernelExpansion, kernel_expansion
from rankwise.types import AnyArray, Floats, Ints, Matrix
from rankwise.validation import check_fitted, check_number

# Rows whose kernel value is below this are unrelated; this many rows are sampled.
FAR_APART = 1e-6
ROWS_SAMPLED = 64


class KernelRanker(Ranker):
    """A ranker whose scores are ``Σ_b a_b k(x, b)`` over basis rows b."""

    kernel: str | KernelFunction
    gamma: Any
    degree: Any
    coef0: Any
    gamma_: float
    degree_: float
    coef0_: float
    basis_: Matrix
    basis_indices_: Ints
    dual_coef_: Floats

    @property
    def _takes(self) -> dict[str, Any]:
        return {**super()._takes, "sparse": self.kernel != "precomputed"}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "dual_coef_")

    def _function(self) -> KernelExpansion:
        check_fitted(self)
        return kernel_expansion(vars(self))

    def _function_of_features(self) -> KernelExpansion:
        return self._function()

    def _set_function(self, space: Any, coef: Floats) -> None:
        self.basis_indices_ = space.basis_indices
        self.rank_ = len(self.basis_indices_)
        kernel = space.kernel
        self.gamma_, self.degree_, self.coef0_ = kernel.gamma, kernel.degree, kernel.coef0
        if kernel.function is not KernelName.PRECOMPUTED:
            self.basis_ = space.basis
        if space.reference is not None:
            self.basis_reference_ = space.reference
        self.dual_coef_ = np.ascontiguousarray(coef)

    def _contributions(self, pair: Matrix) -> tuple[Floats, AnyArray]:
        if self.dual_coef_.ndim != 1:
            raise DataError(
                f"explain needs one score per row; this model predicts {len(self.dual_coef_)} targets."
            )
        values = self._function().kernel_values(pair)
        names = np.array([f"training row {row}" for row in self.basis_indices_], dtype=object)
        return self.dual_coef_ * (values[0] - values[1]), names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


def checked_kernel(function: object, gamma: Any, degree: Any, coef0: Any, X: Matrix) -> Kernel:
    """The kernel defined by the parameters, for these training rows."""
    kernel = Kernel(
        checked_function(function),
        1.0 / X.shape[1] if gamma is None else check_number("gamma", gamma, minimum=0.0),
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
