"""Options and results of the RankRLS solvers, as parameters of rankers and outcomes of fits."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from sklearn.exceptions import ConvergenceWarning

from rankwise.errors import ParameterError, warn_caller
from rankwise.model.outcome import Outcome
from rankwise.ridge.cg_result import RidgeSolutions
from rankwise.ridge.checkpoint import Checkpoint
from rankwise.ridge.conjugate_gradient import Iterations, RunAtOnce
from rankwise.ridge.ridge_family import RidgeFamily, choose_solver
from rankwise.ridge.spaces import Space
from rankwise.types import Solver
from rankwise.validation import check_choice, check_count, check_flag, check_folder, check_number

# Models whose scores have fewer correct digits come with a warning.
LEAST_DIGITS = 6.0


class SolverParameters(Protocol):
    """The parameters that all RankRLS rankers share."""

    solver: str
    tol: float
    max_iter: int
    early_stopping: bool
    patience: int
    checkpoint: str | None
    checkpoint_seconds: float


def checked_solver(given: SolverParameters, space: Space) -> tuple[Solver, Iterations]:
    """The solver for a space, and the options of conjugate gradient, checked even if it is not used."""
    seconds = check_number("checkpoint_seconds", given.checkpoint_seconds, minimum=0.0)
    folder = None if given.checkpoint is None else check_folder("checkpoint", given.checkpoint)
    iterations = Iterations(
        tol=check_number("tol", given.tol, minimum=0.0),
        max_iter=check_count("max_iter", given.max_iter),
        stop_early=check_flag("early_stopping", given.early_stopping),
        patience=check_count("patience", given.patience),
        run=RunAtOnce() if folder is None else Checkpoint(folder, seconds),
    )
    wanted = check_choice("solver", given.solver, Solver)
    iterate = iterations.stop_early or folder is not None
    chosen = choose_solver(wanted, space.costs, iterate=iterate)
    if iterate and chosen is not Solver.CG:
        name = "early_stopping" if iterations.stop_early else "checkpoint"
        raise ParameterError(f"{name} needs solver='cg' or 'auto'; solver={given.solver!r} is not iterative.")
    return chosen, iterations


def solver_outcome(
    family: RidgeFamily, found: RidgeSolutions, place: int, *, early_stopping: bool
) -> Outcome:
    """How the model at this position among the solved alphas was found, with warnings if it is flawed."""
    outcome = Outcome(
        solver=str(family.solver),
        n_iter=max((run.n_iterations for run in found.runs), default=None),
        validation_score=None if found.values is None else float(found.values[place]),
    )
    for run in found.runs:
        if run.surface is not None:
            curve, best_iter = run.surface.values[place], int(run.surface.best_iter[place])
            outcome = replace(outcome, validation_curve=curve, best_iter=best_iter)
        if run.complaint is not None:
            warn_caller(run.complaint, ConvergenceWarning)
    if found.n_digits is not None and found.n_digits[place] < LEAST_DIGITS:
        warn_caller(
            f"Rounding errors leave only about {int(found.n_digits[place])} digits of the scores at alpha = "
            f"{found.alphas[place]:g} correct; bring the features nearer to zero and to one scale, or choose "
            "a larger alpha."
        )
    if found.runs and found.alphas[place] == 0.0 and not early_stopping:
        warn_caller("alpha is 0 and early_stopping is off, so nothing regularizes the model.")
    return outcome
