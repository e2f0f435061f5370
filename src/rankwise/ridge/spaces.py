"""The function spaces of RankRLS: linear in features (here), or in kernel values (`kernel_spaces`).

A space holds the training rows as operators and knows the cost of solving in it. `closed_form` and
`conjugate_gradient` do the actual solving.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import Protocol

import numpy as np
from scipy import sparse

from rankwise.family import LinearMap
from rankwise.operators.design import Design, MatrixDesign
from rankwise.ridge.spectrum import precise_spectrum
from rankwise.ridge.squared import SquaredLoss
from rankwise.scoring.functions import FeatureFunction, LinearFunction
from rankwise.types import Floats, Ints, Matrix, Solver

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
    iterative : float or None
        The cost of conjugate gradient; infinite if it never saves time, only memory, None if it is not
        available.
    functions : str
        The functions of the space in words, for messages about solvers that it does not have.
    """

    closed: dict[Solver, float]
    n_unknowns: int
    iterative: float | None = float("inf")
    functions: str = "this kernel and basis"


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

    def function(self, coef: Floats) -> FeatureFunction:
        """The function with these coefficients, one row per target, without the training rows."""
        ...

    def n_digits(self, coef: Floats, reference: Ints) -> Floats | None:
        """About how many digits of the scores survive; None for all that matter. See `solvers.digits`."""
        ...


class PrimalSpace(Space, Protocol):
    """A space with explicit features; the unknowns are their weights."""

    @property
    def features(self) -> Design: ...

    @property
    def signs(self) -> Ints | None:
        """The sign of each weight, −1, 0 (any) or 1; None for weights of any sign."""
        ...

    def from_weights(self, weights: Floats) -> Floats:
        """Coefficients from feature weights."""
        ...


class DualSpace(Space, Protocol):
    """A space with a kernel matrix; the unknowns are coefficients of the training rows."""

    @property
    def kernel_matrix(self) -> Floats: ...

    @property
    def features(self) -> Design | None:
        """Features whose inner products are the kernel, if there are any at hand."""
        ...

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
    """``f(x) = x · w``; the coefficients are the weights, whose signs may be given."""

    def __init__(self, X: Matrix, reference: Ints | None = None, signs: Ints | None = None) -> None:
        self.X, self.signs = X, signs
        self.features = MatrixDesign(X, reference=reference)

    @property
    def costs(self) -> Costs:
        n_entries = self.X.nnz if sparse.issparse(self.X) else self.X.size
        costs = linear_costs(*self.features.shape, n_entries)
        if self.signs is None:
            return costs
        primal = {Solver.PRIMAL: costs.closed[Solver.PRIMAL]}
        return Costs(primal, self.features.shape[1], None, "weights with given signs (monotonic_cst)")

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
        return normal_equations(self.features, loss, self.from_weights)

    def scorer(self, X: Matrix) -> LinearMap:
        return MatrixDesign(X).scores

    def function(self, coef: Floats) -> LinearFunction:
        return LinearFunction(np.ascontiguousarray(coef))


@singledispatch
def linear_space(X: Matrix, reference: Ints | None, signs: Ints | None = None) -> Space:
    """Linear functions of rows, with weights of given signs; `cluster/variants.py` names that of parts."""
    return LinearSpace(X, reference, signs)


def normal_equations(design: MatrixDesign, loss: SquaredLoss, to_coef: LinearMap) -> Equations:
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
