"""The squared loss on differences in a space of functions: one model per alpha, by the solver that fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from rankwise.errors import ParameterError
from rankwise.losses.squared import SquaredLoss
from rankwise.solvers.cg_result import RidgeSolutions
from rankwise.solvers.closed_form import DualFamily, PrimalFamily
from rankwise.solvers.conjugate_gradient import ConjugateGradientFamily, Iterations
from rankwise.solvers.family import Family, OnAlpha
from rankwise.solvers.held_out import HeldOut
from rankwise.solvers.spaces import Costs, Space
from rankwise.types import Floats, Solver

# The largest matrix that "auto" may form: 2 GB.
MAX_ENTRIES = 1 << 28
# A closed form is exact and conjugate gradient stops at a tolerance, so "auto" takes it only for this factor.
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
        """Do now what alphas asked for one by one can share."""
        ...


_FAMILIES: dict[Solver, Callable[[Any, SquaredLoss, Iterations], RidgeFamily]] = {
    Solver.PRIMAL: lambda space, loss, _: PrimalFamily(space, loss),
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
        As `choose_solver` resolved it.
    iterations : Iterations
        For conjugate gradient.
    """
    return _FAMILIES[solver](space, loss, iterations)


def choose_solver(wanted: Solver, costs: Costs, *, iterate: bool = False) -> Solver:
    """Resolve "auto" and "closed": the cheapest solver that memory can hold.

    Parameters
    ----------
    wanted : Solver
    costs : Costs
        Of the space to solve in.
    iterate : bool
        Whether something that only iterations have was asked for (early stopping, a checkpoint): "auto" is
        conjugate gradient then.
    """
    cheapest = min(costs.closed, key=lambda form: costs.closed[form])
    if wanted is Solver.CLOSED:
        return cheapest
    if wanted is not Solver.AUTO:
        if wanted is not Solver.CG and wanted not in costs.closed:
            offered = ", ".join(f"'{form}'" for form in (*costs.closed, Solver.CG))
            raise ParameterError(
                f"solver='{wanted}' is not one of those for this kernel and basis: {offered}."
            )
        return wanted
    too_large = costs.n_unknowns**2 > MAX_ENTRIES
    if iterate or too_large or CHEAPER * costs.iterative < costs.closed[cheapest]:
        return Solver.CG
    return cheapest


def solve_targets(
    families: Sequence[RidgeFamily], alpha: float, held_out: HeldOut | None = None
) -> RidgeSolutions:
    """Solve families that differ in their target for one alpha; an interrupt ends them all but the last."""
    solved: list[RidgeSolutions] = []
    for family in families:
        solved.append(family.solve(np.array([alpha]), held_out))
        if solved[-1].interrupted and len(solved) < len(families):
            raise KeyboardInterrupt
    if len(solved) == 1:
        return solved[0]
    coef = np.stack([one.coef for one in solved], axis=1)
    return replace(solved[0], coef=coef, runs=tuple(run for one in solved for run in one.runs))
