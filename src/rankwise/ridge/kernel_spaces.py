"""Functions of kernel values, on all rows or on basis vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankwise.family import LinearMap
from rankwise.operators.basis import BasisDesign, BasisFeatures, features_of_basis
from rankwise.operators.design import MatrixDesign
from rankwise.operators.kernel import Kernel, KernelName, check_kernel_fits
from rankwise.operators.kernel_products import KernelProducts, kernel_matrix, kernel_norms
from rankwise.ridge.digits import EPS, ROWS_SAMPLED, digits_of, surviving_digits
from rankwise.ridge.spaces import Costs, Equations, normal_equations
from rankwise.ridge.squared import SquaredLoss
from rankwise.scoring.functions import KernelExpansion
from rankwise.types import Floats, Ints, Matrix, Solver
from rankwise.validation import check_products


@dataclass(frozen=True)
class KernelSpace:
    """``f = Σ_i a_i k(x_i, ·)`` over all training rows; the coefficients are the a_i."""

    X: Matrix
    kernel: Kernel
    # Where the rows of each query may be measured from, if the kernel allows it.
    reference: Ints | None = None

    @property
    def costs(self) -> Costs:
        return kernel_costs(self.X.shape[0])

    @property
    def basis(self) -> Matrix:
        return self.X

    @property
    def basis_indices(self) -> Ints:
        return np.arange(self.X.shape[0], dtype=np.int64)

    @cached_property
    def kernel_matrix(self) -> Floats:
        return kernel_matrix(self.X, self.kernel)

    @property
    def features(self) -> None:
        return None

    def from_rows(self, rows: Floats) -> Floats:
        return rows

    @property
    def precise_weights(self) -> None:
        return None

    def n_digits(self, coef: Floats, reference: Ints) -> Floats:
        return surviving_digits(self, coef, reference)

    def norms(self, rows: Ints) -> Floats:
        return kernel_norms(self.X, self.kernel, rows)

    def equations(self, loss: SquaredLoss) -> Equations:
        """``(F K Fᵀ + αI) z = t`` with ``a = Fᵀz``: one product with K, which is never entirely in memory."""
        F, product = loss.differences, self.scorer(self.X)
        return Equations(lambda z: F.apply(product(F.adjoint(z))), loss.target, F.adjoint)

    def scorer(self, X: Matrix) -> LinearMap:
        return KernelProducts(self.kernel, X, self.X)

    def function(self, coef: Floats) -> KernelExpansion:
        return expansion(self, coef, over_all_rows=True)


@dataclass(frozen=True)
class LinearKernelSpace(KernelSpace):
    """`KernelSpace` for the linear kernel, whose products go through weights of features."""

    @cached_property
    def _design(self) -> MatrixDesign:
        return MatrixDesign(self.X, reference=self.reference)

    @cached_property
    def kernel_matrix(self) -> Floats:
        check_kernel_fits(self.X.shape[0])
        K = self._design.inner_products()
        check_products(K)
        return K

    def norms(self, rows: Ints) -> Floats:
        """Of the rows as they are measured, from a row of their query."""
        if self.reference is None:
            return super().norms(rows)
        moved = self.X[rows] - self.X[self.reference[rows]]
        return kernel_norms(moved, self.kernel, np.arange(len(rows)))

    def scorer(self, X: Matrix) -> LinearMap:
        """The coefficients of a query sum to 0, so it does not matter what its rows are measured from."""
        rows = self._design if X is self.X else MatrixDesign(X)
        return lambda coefficients: rows.scores(self._design.adjoint(coefficients))


class BasisSpace:
    """``f = Σ_r a_r k(x_r, ·)`` over chosen training rows (paper B); the coefficients are the a_r.

    With features ``Z = K_MR C⁻ᵀ``, where ``K_RR = C Cᵀ``, the norm of f is that of its weights. Rows spanned
    by the others are left out.
    """

    reference = None
    signs = None

    def __init__(self, X: Matrix, kernel: Kernel, chosen: Ints, compared_with: Ints | None = None) -> None:
        self.X, self.kernel = X, kernel
        self._chosen, self._compared_with = chosen, compared_with

    @cached_property
    def _mapped(self) -> BasisFeatures:
        return features_of_basis(self.X, self.kernel, self._chosen)

    @property
    def costs(self) -> Costs:
        m, r = self.X.shape[0], len(self._chosen)
        return Costs({Solver.PRIMAL: m * float(r) ** 2}, r)

    @cached_property
    def basis_indices(self) -> Ints:
        return self._chosen[self._mapped.kept]

    @cached_property
    def basis(self) -> Matrix:
        return self.X[self.basis_indices]

    @cached_property
    def features(self) -> BasisDesign:
        return BasisDesign(self._mapped)

    def from_weights(self, weights: Floats) -> Floats:
        return np.asarray(self._mapped.transform @ weights)

    def n_digits(self, coef: Floats, reference: Ints) -> Floats:
        """Also counts what is lost with basis vectors that rounding errors make linearly dependent."""
        digits = surviving_digits(self, coef, reference)
        if self._mapped.rank == len(self._chosen):
            return digits
        # A vector is dropped if less of its squared norm than this is its own.
        dropped = len(self._chosen) * EPS * self.norms(self._chosen).max() ** 2
        sample = self._mapped[np.unique(np.linspace(0, len(reference) - 1, ROWS_SAMPLED).astype(np.int64))]
        varies = np.square(sample - sample.mean(axis=0)).sum(axis=1).max()
        return np.minimum(digits, digits_of(np.sqrt(dropped / varies)) if varies > 0.0 else 0.0)

    def norms(self, rows: Ints) -> Floats:
        return kernel_norms(self.X, self.kernel, rows)

    def equations(self, loss: SquaredLoss) -> Equations:
        """Holds all features, O(m r) memory: every iteration would have to compute them again."""
        features = self._mapped[:]
        check_products(features)
        design = MatrixDesign(features, reference=self._compared_with)
        return normal_equations(design, loss, self.from_weights)

    def scorer(self, X: Matrix) -> LinearMap:
        if self.kernel.function is KernelName.PRECOMPUTED:
            X = X[:, self.basis_indices]
        return KernelProducts(self.kernel, X, self.basis)

    def function(self, coef: Floats) -> KernelExpansion:
        return expansion(self, coef, over_all_rows=False)


def expansion(space: KernelSpace | BasisSpace, coef: Floats, *, over_all_rows: bool) -> KernelExpansion:
    """The sum of kernel values with the basis rows of a space."""
    precomputed = space.kernel.function is KernelName.PRECOMPUTED
    return KernelExpansion(
        kernel=space.kernel,
        coefficients=np.ascontiguousarray(coef),
        indices=space.basis_indices,
        basis=None if precomputed else space.basis,
        reference=space.reference,
        over_all_rows=over_all_rows,
    )


def kernel_space(X: Matrix, kernel: Kernel, reference: Ints) -> KernelSpace:
    """Functions on all rows; see `operators.reference` for `reference`."""
    if kernel.function is KernelName.LINEAR:
        return LinearKernelSpace(X, kernel, reference)
    return KernelSpace(X, kernel)


def kernel_costs(n_rows: int) -> Costs:
    """Conjugate gradient recomputes the kernel in every iteration, so it saves only memory."""
    return Costs({Solver.DUAL: float(n_rows) ** 3 / 3}, n_rows)
