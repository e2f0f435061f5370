"""The squared loss on differences in a function space: one model per alpha, by a suitable solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from rankwise.errors import ParameterError
from rankwise.family import Family, OnAlpha
from rankwise.held_out import HeldOut
from rankwise.ridge.cg_result import RidgeSolutions
from rankwise.ridge.closed_form import DualFamily, PrimalFamily
from rankwise.ridge.conjugate_gradient import ConjugateGradientFamily, Iterations
from rankwise.ridge.signed import SignedFamily
from rankwise.ridge.spaces import Costs, LinearSpace, PrimalSpace, Space
from rankwise.ridge.squared import SquaredLoss
from rankwise.types import Floats, Matrix, Solver

# The largest matrix that "auto" may form: 2 GB.
MAX_ENTRIES = 1 << 28
# Closed forms are exact; conjugate gradient stops at a tolerance, so "auto" must gain this factor to use it.
CHEAPER = 10.0


class RidgeFamily(Family, Protocol):
    """RankRLS for every alpha, in closed form or by conjugate gradient."""

    @property
    def solver(self) -> Solver: ...

    @property
    def space(self) -> Any: ...

    def solve(
        self, alphas: Floats, held_out: HeldOut | None = None, on_alpha: OnAlpha | None = None
    ) -> RidgeSolutions: ...

    def decompose(self) -> None:
        """Compute now what alphas solved one by one can share."""
        ...


_FAMILIES: dict[Solver, Callable[[Any, SquaredLoss, Iterations], RidgeFamily]] = {
    Solver.PRIMAL: lambda space, loss, _: _primal_family(space, loss),
    Solver.DUAL: lambda space, loss, _: DualFamily(space, loss),
    Solver.CG: ConjugateGradientFamily,
}


def ridge_family(space: Space, loss: SquaredLoss, solver: Solver, iterations: Iterations) -> RidgeFamily:
    """Minimize ``‖F f − t‖² + α‖f‖²`` over a space, for every α.

    Parameters
    ----------
    space : Space
    loss : SquaredLoss
    solver : Solver
        As resolved by `choose_solver`.
    iterations : Iterations
        Options of conjugate gradient.
    """
    return _FAMILIES[solver](space, loss, iterations)


def _primal_family(space: PrimalSpace, loss: SquaredLoss) -> PrimalFamily:
    return PrimalFamily(space, loss) if space.signs is None else SignedFamily(space, loss)


def linear_family(X: Matrix, loss: SquaredLoss) -> PrimalFamily:
    """The weights of features, of any sign, in closed form."""
    return _primal_family(LinearSpace(X, loss.reference()), loss)


def choose_solver(wanted: Solver, costs: Costs, *, iterate: bool = False) -> Solver:
    """Resolve "auto" and "closed" to the cheapest solver that fits in memory.

    Parameters
    ----------
    wanted : Solver
    costs : Costs
        The costs of solving in the space.
    iterate : bool
        Whether the user requested something that only iterative solvers have (early stopping, a checkpoint);
        "auto" then chooses conjugate gradient.
    """
    cheapest = min(costs.closed, key=lambda form: costs.closed[form])
    if wanted is Solver.CLOSED:
        return cheapest
    if iterate and costs.iterative is None:
        raise ParameterError(
            f"early_stopping and checkpoint need solver='cg', which is not available for {costs.functions}."
        )
    if wanted is not Solver.AUTO:
        offered = [*costs.closed, *([] if costs.iterative is None else [Solver.CG])]
        if wanted not in offered:
            names = ", ".join(f"'{form}'" for form in offered)
            raise ParameterError(
                f"solver='{wanted}' is not available for {costs.functions}; choose from {names}."
            )
        return wanted
    if costs.iterative is None:
        return cheapest
    too_large = costs.n_unknowns**2 > MAX_ENTRIES
    if iterate or too_large or CHEAPER * costs.iterative < costs.closed[cheapest]:
        return Solver.CG
    return cheapest


def solve_targets(
    families: Sequence[RidgeFamily], alpha: float, held_out: HeldOut | None = None
) -> RidgeSolutions:
    """Solve families that differ in their target for one alpha; only the last may be interrupted."""
    solved: list[RidgeSolutions] = []
    for family in families:
        solved.append(family.solve(np.array([alpha]), held_out))
        if solved[-1].interrupted and len(solved) < len(families):
            raise KeyboardInterrupt
    if len(solved) == 1:
        return solved[0]
    coef = np.stack([one.coef for one in solved], axis=1)
    return replace(solved[0], coef=coef, runs=tuple(run for one in solved for run in one.runs))
