"""Rankers whose scores are sums of kernel values, and the kernels that their parameters define."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwise.errors import DataError, ParameterError, warn_caller
from rankwise.estimators.base import Ranker
from rankwise.operators.design import MatrixDesign
from rankwise.operators.kernel import Kernel, KernelFunction, KernelName, row_blocks
from rankwise.persist.fields import Fields, RefusedError, array, check_within, rows, value
from rankwise.types import AnyArray, Floats, Ints, Matrix
from rankwise.validation import check_choice, check_number

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

    _fitted_state: Fields = (
        *Ranker._fitted_state,
        rows("basis_", "basis features", optional=True),
        array("basis_indices_", "basis", "i"),
        array("basis_reference_", "basis", "i", optional=True),
        array("dual_coef_", "targets? basis"),
        value("gamma_", float, minimum=0.0),
        value("degree_", float, minimum=0.0),
        value("coef0_", float, minimum=0.0),
        value("rank_", int),
    )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "dual_coef_")

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if self.kernel == KernelName.PRECOMPUTED:
            check_within("basis_indices_", self.basis_indices_, self.n_features_in_)
        elif not hasattr(self, "basis_"):
            raise RefusedError(f"the rows 'basis_' are missing, which the kernel {self.kernel!r} needs")

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

    def _scores(self, rows: Matrix) -> Floats:
        """With ``kernel="precomputed"``, each row holds its kernel values with all training rows."""
        return self._scores_with(self.dual_coef_, rows)

    def _scores_with(self, coefficients: Floats, rows: Matrix) -> Floats:
        """Scores from the coefficients of one target, or of several, one target per row.

        Computed in blocks, so memory use stays small for any number of rows. For one target, each row is
        computed separately: in a matrix product, rounding depends on the position of a row, so equal rows
        would not be tied.
        """
        if hasattr(self, "basis_reference_"):
            return MatrixDesign(rows).scores(self._linear_weights(coefficients).T)
        scores = np.empty((rows.shape[0], *coefficients.shape[:-1]))
        one = coefficients.ndim == 1
        for place, values in self._blocks_of_kernel_values(rows):
            scores[place] = np.vecdot(values, coefficients) if one else values @ coefficients.T
        return scores

    def _linear_weights(self, coefficients: Floats) -> Floats:
        """The weights of features that coefficients of basis rows stand for under the linear kernel."""
        design = MatrixDesign(self.basis_, reference=getattr(self, "basis_reference_", None))
        return np.ascontiguousarray(design.adjoint(np.ascontiguousarray(coefficients.T)).T)

    def _contributions(self, pair: Matrix) -> tuple[Floats, AnyArray]:
        if self.dual_coef_.ndim != 1:
            raise DataError(
                f"explain needs one score per row; this model predicts {len(self.dual_coef_)} targets."
            )
        values = self._kernel_values(pair)
        names = np.array([f"training row {row}" for row in self.basis_indices_], dtype=object)
        return self.dual_coef_ * (values[0] - values[1]), names

    def _kernel_values(self, X: Matrix) -> Floats:
        """Kernel values between rows and the basis rows, in C order."""
        kernel = self._fitted_kernel()
        if kernel.function is KernelName.PRECOMPUTED:
            return np.ascontiguousarray(X[:, self.basis_indices_], dtype=np.float64)
        basis = self.basis_
        movable = kernel.function is KernelName.LINEAR and getattr(self, "basis", None) is None
        if movable and isinstance(basis, np.ndarray):
            # The coefficients sum to 0, so scores do not depend on where the basis is measured from.
            basis = basis - basis.mean(axis=0, dtype=np.float64)
        return np.ascontiguousarray(kernel(X, basis))

    def _blocks_of_kernel_values(self, X: Matrix) -> Iterator[tuple[slice, Floats]]:
        """The same, some rows at a time; a product with a matrix may round by what else is in a block."""
        for place in row_blocks(X.shape[0], len(self.basis_indices_)):
            yield place, self._kernel_values(X[place])

    def _fitted_kernel(self) -> Kernel:
        return Kernel(_checked_function(self.kernel), self.gamma_, self.degree_, self.coef0_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


def checked_kernel(function: object, gamma: Any, degree: Any, coef0: Any, X: Matrix) -> Kernel:
    """The kernel defined by the parameters, for these training rows."""
    kernel = Kernel(
        _checked_function(function),
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


def _checked_function(kernel: object) -> KernelName | KernelFunction:
    return kernel if callable(kernel) else check_choice("kernel", kernel, KernelName)


def _warn_if_far_apart(X: Matrix, kernel: Kernel) -> None:
    """Warn if the kernel finds almost no two rows similar, judging by a sample."""
    rows = X[np.linspace(0, X.shape[0] - 1, min(X.shape[0], ROWS_SAMPLED)).astype(np.int64)]
    if float(np.median(kernel(rows, rows))) < FAR_APART:
        warn_caller(
            f"With gamma={kernel.gamma:g} the rbf kernel is below {FAR_APART:g} between most rows, so one "
            "row tells almost nothing about another: scale the features, or choose a smaller gamma.",
            UserWarning,
        )
