"""RankRLS models to choose from, in any space: what the searching rankers of the squared loss share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from typing import Any, TypeAlias

from rankwise.model.outcome import Outcome
from rankwise.preferences.pairs import Pairs
from rankwise.rankers.ridge_solvers import SolverParameters, checked_solver, solver_outcome
from rankwise.ridge.ridge_family import RidgeFamily, ridge_family
from rankwise.ridge.spaces import Space
from rankwise.ridge.squared import loss_on_pairs, losses_on_scores
from rankwise.selection.criteria import LossOf
from rankwise.selection.search import Candidate, Choice, grid_of
from rankwise.types import Solver, Ties, Weighting
from rankwise.validation import Problem, check_choice

# The setting of a space, and a function that creates it.
SpaceToTry: TypeAlias = tuple[dict[str, Any], Callable[[], Space]]


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
        return made.part(f"setting-{number}")

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


def choice_outcome(choice: Choice, *, early_stopping: bool) -> Outcome:
    """How the chosen model was found."""
    outcome = solver_outcome(choice.family, choice.solutions, choice.place, early_stopping=early_stopping)
    for run in choice.solutions.runs:
        if run.surface is not None:
            readings = run.readings(early_stopping)
            outcome = replace(outcome, surface=run.surface.values, readings=readings)
    return outcome
