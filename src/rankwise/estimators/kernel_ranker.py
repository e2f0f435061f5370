"""Rankers whose scores are sums of kernel values, and what their parameters stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwise.errors import DataError, ParameterError, warn_caller
from rankwise.estimators.base import Ranker
from rankwise.operators.kernel import (
    BasisFeatures,
    Kernel,
    KernelFunction,
    KernelName,
    basis_features,
    check_kernel_fits,
    check_kernel_matrix,
    row_blocks,
)
from rankwise.persist.fields import Fields, array, rows, value
from rankwise.types import AnyArray, Floats, Ints, Matrix
from rankwise.validation import check_choice, check_number, check_products

# Rows with smaller kernel values than this are strangers to each other; so many rows are asked.
FAR_APART = 1e-6
ROWS_ASKED = 64


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

    _fitted_state: Fields = (
        *Ranker._fitted_state,
        rows("basis_", "basis features", optional=True),
        array("basis_indices_", "basis", "i"),
        array("dual_coef_", "targets? basis"),
        value("gamma_", float),
        value("degree_", float),
        value("coef0_", float),
        value("rank_", int),
    )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "dual_coef_")

    def _scores(self, rows: Matrix) -> Floats:
        """With ``kernel="precomputed"``, a row holds its kernel values against all training rows."""
        return self._scores_with(self.dual_coef_, rows)

    def _scores_with(self, coefficients: Floats, rows: Matrix) -> Floats:
        """Scores from the coefficients of one target or several, one a row.

        Computed in blocks, so that memory stays small for any number of rows. Those of one target row by row:
        products with a matrix round by the place of a row, and equal rows would not be tied.
        """
        scores = np.empty((rows.shape[0], *coefficients.shape[:-1]))
        for place in row_blocks(rows.shape[0], len(self.basis_indices_)):
            values = self._kernel_values(rows[place])
            one = coefficients.ndim == 1
            scores[place] = np.vecdot(values, coefficients) if one else values @ coefficients.T
        return scores

    def _contributions(self, pair: Matrix) -> tuple[Floats, AnyArray]:
        if self.dual_coef_.ndim != 1:
            raise DataError(
                f"explain needs one score a row; this model predicts {len(self.dual_coef_)} targets."
            )
        values = self._kernel_values(pair)
        names = np.array([f"training row {row}" for row in self.basis_indices_], dtype=object)
        return self.dual_coef_ * (values[0] - values[1]), names

    def _kernel_values(self, X: Matrix) -> Floats:
        """Kernel values between rows and the basis rows."""
        kernel = self._fitted_kernel()
        if kernel.function is KernelName.PRECOMPUTED:
            return np.asarray(X[:, self.basis_indices_], dtype=np.float64)
        return kernel(X, self.basis_)

    def _kernel_columns(self, X: Matrix) -> Floats:
        """The same values the other way round, basis rows by rows, in C order."""
        kernel = self._fitted_kernel()
        if kernel.function is KernelName.PRECOMPUTED:
            return np.ascontiguousarray(self._kernel_values(X).T)
        return np.ascontiguousarray(kernel(self.basis_, X))

    def _checked_kernel(self, X: Matrix) -> Kernel:
        """The kernel that the parameters name, for these training rows; sets the parameters used."""
        function = check_kernel(self.kernel)
        self.gamma_ = (
            1.0 / X.shape[1] if self.gamma is None else check_number("gamma", self.gamma, minimum=0.0)
        )
        self.degree_ = check_number("degree", self.degree, minimum=0.0)
        if function is KernelName.POLYNOMIAL and not self.degree_.is_integer():
            raise ParameterError(
                "The 'degree' parameter must be a whole number, since other powers of inner products are not "
                f"positive semi-definite; got {self.degree!r}."
            )
        self.coef0_ = check_number("coef0", self.coef0, minimum=0.0)
        if function is KernelName.PRECOMPUTED and X.shape[0] != X.shape[1]:
            raise DataError(
                f"With kernel='precomputed', X must be the square matrix of kernel values between the "
                f"training rows; got shape {X.shape}."
            )
        kernel = Kernel(function, self.gamma_, self.degree_, self.coef0_)
        if function is KernelName.RBF:
            _warn_if_far_apart(X, kernel)
        return kernel

    def _fitted_kernel(self) -> Kernel:
        return Kernel(check_kernel(self.kernel), self.gamma_, self.degree_, self.coef0_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


def features_of_basis(X: Matrix, kernel: Kernel, chosen: Ints) -> BasisFeatures:
    """The features of paper B: those whose inner products are the kernel's on the span of the chosen rows."""
    precomputed = kernel.function is KernelName.PRECOMPUTED
    basis = X[chosen]
    K_RR = np.asarray(basis[:, chosen], dtype=np.float64) if precomputed else kernel(basis, basis)
    if _needs_check(kernel):
        check_kernel_matrix(K_RR, _matrix_name(kernel))

    def against(place: slice, kept: Ints) -> Floats:
        return np.asarray(X[place][:, chosen[kept]]) if precomputed else kernel(X[place], basis[kept])

    return basis_features(K_RR, against, X.shape[0])


def kernel_matrix(X: Matrix, kernel: Kernel, remedy: str) -> Floats:
    """The kernel values between all rows, checked if they are the user's; `remedy` if they do not fit."""
    if kernel.function is not KernelName.PRECOMPUTED:
        check_kernel_fits(X.shape[0], remedy)
    K = np.ascontiguousarray(kernel(X, X))
    if _needs_check(kernel):
        check_kernel_matrix(K, _matrix_name(kernel))
        K = (K + K.T) / 2  # rounding may have left it a little off symmetry
    check_products(K)
    return K


def _warn_if_far_apart(X: Matrix, kernel: Kernel) -> None:
    """Say so if hardly any row is near another in the kernel's eyes; a few rows from all over X tell."""
    rows = X[np.linspace(0, X.shape[0] - 1, min(X.shape[0], ROWS_ASKED)).astype(np.int64)]
    if float(np.median(kernel(rows, rows))) < FAR_APART:
        warn_caller(
            f"With gamma={kernel.gamma:g} the rbf kernel is below {FAR_APART:g} between most rows, so hardly "
            "any row says something about another: scale the features, or choose a smaller gamma.",
            UserWarning,
        )


def _needs_check(kernel: Kernel) -> bool:
    """Whether a kernel's values come from the user; the others are positive semi-definite by construction."""
    return kernel.function is KernelName.PRECOMPUTED or not isinstance(kernel.function, KernelName)


def _matrix_name(kernel: Kernel) -> str:
    return "The precomputed kernel" if kernel.function is KernelName.PRECOMPUTED else "The kernel function"


def check_kernel(kernel: object) -> KernelName | KernelFunction:
    if callable(kernel):
        function: Callable[[Any, Any], Any] = kernel
        return function
    return check_choice("kernel", kernel, KernelName)


def check_basis(basis: object, n_rows: int, random: Any) -> Ints:
    """The training rows that a `basis` parameter stands for."""
    if isinstance(basis, (int, np.integer)) and not isinstance(basis, bool):
        if not 1 <= basis <= n_rows:
            raise ParameterError(f"The 'basis' parameter must be between 1 and {n_rows} rows; got {basis}.")
        drawn = random.choice(n_rows, int(basis), replace=False)
        return np.sort(drawn).astype(np.int64)
    indices = np.asarray(basis)
    if indices.ndim != 1 or len(indices) == 0 or indices.dtype.kind not in "iu":
        raise ParameterError(f"The 'basis' parameter must be None, an int or row numbers; got {basis!r}.")
    outside = (indices < 0) | (indices >= n_rows)
    if outside.any():
        raise ParameterError(
            f"The 'basis' parameter must hold rows 0 to {n_rows - 1}; got {indices[outside.argmax()]}."
        )
    values, counts = np.unique(indices, return_counts=True)
    if (counts > 1).any():
        raise ParameterError(f"The 'basis' parameter must not repeat rows; {values[counts.argmax()]} does.")
    return indices.astype(np.int64)
