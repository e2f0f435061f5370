"""The models that the parameters of a RankRLS ranker ask for, and how the one that it uses was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from typing import Any, Protocol, TypeAlias

from sklearn.exceptions import ConvergenceWarning

from rankwise.errors import ParameterError, warn_caller
from rankwise.model.outcome import Outcome
from rankwise.preferences.pairs import Pairs
from rankwise.ridge.cg_result import RidgeSolutions
from rankwise.ridge.checkpoint import Checkpoint
from rankwise.ridge.conjugate_gradient import Iterations, RunAtOnce
from rankwise.ridge.ridge_family import RidgeFamily, choose_solver, ridge_family
from rankwise.ridge.spaces import Space
from rankwise.ridge.squared import loss_on_pairs, losses_on_scores
from rankwise.selection.criteria import LossOf
from rankwise.selection.search import Candidate, Choice, grid_of
from rankwise.types import Solver, Ties, Weighting
from rankwise.validation import Problem, check_choice, check_count, check_flag, check_folder, check_number

# Models whose scores have fewer correct digits come with a warning.
LEAST_DIGITS = 6.0

# The setting of a space, and a function that creates it.
SpaceToTry: TypeAlias = tuple[dict[str, Any], Callable[[], Space]]


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


def settings_of_loss(ties: Any, weighting: Any) -> list[dict[str, Any]]:
    """All combinations of two parameters, each of which may hold several values."""
    settings = grid_of({"ties": ties, "weighting": weighting})
    for setting in settings:
        check_choice("ties", setting["ties"], Ties)
        check_choice("weighting", setting["weighting"], Weighting)
    return settings


def ridge_candidates(
    given: SolverParameters,
    spaces: Sequence[SpaceToTry],
    losses: Sequence[dict[str, Any]],
    statements: Problem | Pairs,
    loss_on: Callable[[dict[str, Any]], LossOf],
) -> tuple[list[Candidate], bool]:
    """Every space with every loss, and whether they leave out queries exactly, without refitting.

    Settings of the same space share it; only one space at a time keeps its matrices in memory.
    """
    space_of = lru_cache(maxsize=1)(lambda number: spaces[number][1]())
    solver, iterations = checked_solver(given, space_of(0))

    def family(space: int, loss_of: LossOf, number: int) -> RidgeFamily:
        made = ridge_family(space_of(space), loss_of(statements), solver, iterations)
        return made.for_run(f"setting-{number}")

    candidates: list[Candidate] = []
    for number, loss in product(range(len(spaces)), losses):
        loss_of = loss_on(loss)
        make = partial(family, number, loss_of, len(candidates))
        candidates.append(Candidate(spaces[number][0] | loss, make, loss_of))
    return candidates, _leaves_out_exactly(solver, losses, statements)


def _leaves_out_exactly(
    solver: Solver, losses: Sequence[dict[str, Any]], statements: Problem | Pairs
) -> bool:
    """Whether queries are left out without a fit for each; see `BatchAcross` of pairs across queries."""
    if not getattr(statements, "across_queries", 0.0):
        return solver is not Solver.CG
    centring = {"ties": Ties.KEEP, "weighting": Weighting.EXAMPLE}
    return solver is Solver.PRIMAL and all(loss == centring for loss in losses)


def row_loss(setting: dict[str, Any], problem: Problem) -> Any:
    (loss,) = losses_on_scores(problem, Ties(setting["ties"]), Weighting(setting["weighting"]))
    return loss


def pair_loss(setting: dict[str, Any], n_rows: int, pairs: Pairs) -> Any:
    return loss_on_pairs(pairs, n_rows)


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


def choice_outcome(choice: Choice, *, early_stopping: bool) -> Outcome:
    """How the chosen model was found."""
    outcome = solver_outcome(choice.family, choice.solutions, choice.place, early_stopping=early_stopping)
    for run in choice.solutions.runs:
        if run.surface is not None:
            readings = run.readings(early_stopping)
            outcome = replace(outcome, surface=run.surface.values, readings=readings)
    return outcome
