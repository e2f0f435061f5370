"""The function spaces of RankRLS: linear in features, in kernel values, or on basis vectors.

A space holds the training rows as operators and knows the cost of solving in it. `closed_form` and
`conjugate_gradient` do the actual solving.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import sparse

from rankwise.losses.squared import SquaredLoss
from rankwise.operators.basis import BasisDesign, BasisFeatures, features_of_basis
from rankwise.operators.design import Design, MatrixDesign
from rankwise.operators.kernel import Kernel, KernelName, check_kernel_fits
from rankwise.operators.kernel_products import KernelProducts, kernel_matrix, kernel_norms
from rankwise.solvers.digits import EPS, ROWS_SAMPLED, digits_of, surviving_digits
from rankwise.solvers.family import LinearMap
from rankwise.solvers.spectrum import precise_spectrum
from rankwise.types import Floats, Ints, Matrix, Solver
from rankwise.validation import check_products

# The cost of an entry in a sparse product, in multiply-adds of dense linear algebra, and the expected number
# of conjugate gradient iterations.
ENTRY_COST, EXPECTED_ITERATIONS = 40.0, 100


@dataclass(frozen=True)
class Costs:
    """The costs of solving, in multiply-adds.

    Attributes
    ----------
    closed : dict of Solver to float
        The cost of each available closed form.
    n_unknowns : int
        The size of the smallest system that they form.
    iterative : float
        The cost of conjugate gradient; infinite if it never saves time, only memory.
    """

    closed: dict[Solver, float]
    n_unknowns: int
    iterative: float = float("inf")


@dataclass(frozen=True)
class Equations:
    """``(A + αI) z = b`` in the form needed by conjugate gradient.

    Attributes
    ----------
    product : callable
        ``z ↦ A z``, symmetric and positive semi-definite.
    right : Floats, shape (p,) or (p, n_targets)
    to_coef : callable
        Maps z to the coefficients of the space.
    """

    product: LinearMap
    right: Floats
    to_coef: LinearMap


class Space(Protocol):
    """Functions over the rows X; the coefficients are the numbers that a fitted model keeps."""

    @property
    def costs(self) -> Costs: ...

    def equations(self, loss: SquaredLoss) -> Equations:
        """The system for which a conjugate gradient iteration is cheapest."""
        ...

    def scorer(self, X: Matrix) -> LinearMap:
        """The map from coefficients to the scores of any rows."""
        ...

    def n_digits(self, coef: Floats, reference: Ints) -> Floats | None:
        """About how many digits of the scores survive; None for all that matter. See `solvers.digits`."""
        ...


class PrimalSpace(Space, Protocol):
    """A space with explicit features; the unknowns are their weights."""

    @property
    def features(self) -> Design: ...

    def from_weights(self, weights: Floats) -> Floats:
        """Coefficients from feature weights."""
        ...


class DualSpace(Space, Protocol):
    """A space with a kernel matrix; the unknowns are coefficients of the training rows."""

    @property
    def kernel_matrix(self) -> Floats: ...

    def from_rows(self, rows: Floats) -> Floats:
        """Coefficients from those of the training rows."""
        ...

    @property
    def precise_weights(self) -> Callable[[SquaredLoss, Floats], Floats] | None:
        """The models for some alphas where the kernel matrix is too ill-conditioned; None for real kernels.

        Coefficients of rows in double precision cannot tell more than the kernel matrix does; weights can.
        """
        ...


class LinearSpace:
    """``f(x) = x · w``; the coefficients are the weights."""

    def __init__(self, X: Matrix, reference: Ints | None = None) -> None:
        self.X = X
        self.features = MatrixDesign(X, reference=reference)

    @property
    def costs(self) -> Costs:
        n_entries = self.X.nnz if sparse.issparse(self.X) else self.X.size
        return linear_costs(*self.features.shape, n_entries)

    @cached_property
    def kernel_matrix(self) -> Floats:
        return self.features.inner_products()

    def from_weights(self, weights: Floats) -> Floats:
        return weights

    def from_rows(self, rows: Floats) -> Floats:
        return self.features.adjoint(rows)

    def n_digits(self, coef: Floats, reference: Ints) -> None:
        return None

    def precise_weights(self, loss: SquaredLoss, alphas: Floats) -> Floats:
        return np.moveaxis(precise_spectrum(self.features, loss).solve_all(alphas), 1, -1)

    def equations(self, loss: SquaredLoss) -> Equations:
        """``(XᵀLX + αI) w = XᵀFᵀt`` (paper C, equation 8): O(m s + l) per product, O(n) memory."""
        return _normal_equations(self.features, loss, self.from_weights)

    def scorer(self, X: Matrix) -> LinearMap:
        return MatrixDesign(X).scores


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
        features = MatrixDesign(self._mapped[:], reference=self._compared_with)
        return _normal_equations(features, loss, self.from_weights)

    def scorer(self, X: Matrix) -> LinearMap:
        if self.kernel.function is KernelName.PRECOMPUTED:
            X = X[:, self.basis_indices]
        return KernelProducts(self.kernel, X, self.basis)


def kernel_space(X: Matrix, kernel: Kernel, reference: Ints) -> KernelSpace:
    """Functions on all rows; see `operators.reference` for `reference`."""
    if kernel.function is KernelName.LINEAR:
        return LinearKernelSpace(X, kernel, reference)
    return KernelSpace(X, kernel)


def _normal_equations(design: MatrixDesign, loss: SquaredLoss, to_coef: LinearMap) -> Equations:
    F = loss.differences
    right = design.adjoint(F.adjoint(loss.target))
    return Equations(design.normal_operator(F), right, to_coef)


def linear_costs(n_rows: int, n_features: int, n_entries: int) -> Costs:
    """O(m n²) or O(m² n) to form the system of a closed form, cubic to solve it; less for sparse rows."""
    m, n, density = float(n_rows), float(n_features), n_entries / max(1, n_rows * n_features)
    share = min(1.0, ENTRY_COST * density)
    closed = {
        Solver.PRIMAL: m * n**2 * share**2 + n**3 / 3,
        Solver.DUAL: m**2 * n * share + m**3 / 3,
    }
    return Costs(closed, min(n_rows, n_features), EXPECTED_ITERATIONS * ENTRY_COST * n_entries)


def kernel_costs(n_rows: int) -> Costs:
    """Conjugate gradient recomputes the kernel in every iteration, so it saves only memory."""
    return Costs({Solver.DUAL: float(n_rows) ** 3 / 3}, n_rows)
