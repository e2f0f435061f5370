"""What linear and kernel RankRLS with built-in choice of alpha share."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import ParameterError
from rankwise.estimators.base import Ranker
from rankwise.estimators.held_out import HeldOut, judged_rows
from rankwise.estimators.least_squares import LeastSquaresRanker
from rankwise.losses.squared import SquaredLoss, losses_on_scores
from rankwise.metrics.measure import Measure, get_measure
from rankwise.persist.fields import Fields, array, value
from rankwise.selection.criteria import (
    Criterion,
    Validation,
    Values,
    best_alpha,
    choose_criterion,
)
from rankwise.solvers.krylov import KrylovSpace
from rankwise.solvers.spaces import Space
from rankwise.types import Floats
from rankwise.validation import Problem, check_alphas, check_eval_set, check_flag, check_problem

# Paper A's grid: wide, because alpha grows with the sums over pairs or rows, and free, because one
# decomposition gives every value.
DEFAULT_ALPHAS = tuple(2.0**k for k in range(-15, 16))


class SelectingRanker(Ranker):
    """Fits one candidate for each setting, values all its alphas at once, and becomes the best."""

    alphas: Any
    cv: Any
    measure: str | Measure
    alphas_: Floats
    scores_: Floats
    settings_: list[dict[str, Any]]
    best_: dict[str, Any]
    cv_: str
    surface_: Floats
    readings_: dict[str, dict[str, Any]]

    _selection_state: Fields = (
        array("alphas_", "alphas"),
        array("scores_", "settings alphas"),
        value("settings_", list),
        value("best_", dict),
        value("cv_", str),
        array("surface_", "alphas iterations", optional=True),
        value("readings_", dict, optional=True),
    )

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
        eval_set: Sequence[Any] | None = None,
    ) -> Self:
        """Choose alpha (and the other settings on offer), and learn with the choice from all rows.

        Parameters
        ----------
        X : array or CSR matrix, shape (m, n)
        y : array, shape (m,)
        qid : sequence of hashables, optional
            The query of each row, in any order; None means one global ranking.
        sample_weight : array, shape (m,), optional
            Weight 2 means the same as the row given twice; the measure does not use it.
        eval_set : (X, y) or (X, y, qid), optional
            Rows to choose on; `cv` is not used then.
        """
        measure, alphas = get_measure(self.measure), check_alphas(self.alphas)
        problem = check_problem(self, X, y, qid, sample_weight)
        criterion, held_out = self._criterion(problem, eval_set, measure)
        settings, values, best = [], [], None
        for setting, candidate in self._candidates():
            try:
                space, found = _values_of(candidate, problem, held_out, criterion, alphas)
                interrupted = found.interrupted
            except KeyboardInterrupt:
                if best is None:
                    raise
                interrupted = True
            if best is None or not interrupted:
                settings.append(setting)
                values.append(found.values)
                if best_alpha(np.stack(values), measure)[0] == len(values) - 1:
                    best = candidate, space
            if interrupted:
                warnings.warn(
                    f"Interrupted from the keyboard; no setting after {settings[-1]} is tried.", stacklevel=2
                )
                break
        assert best is not None
        self._become(best, settings, np.stack(values), alphas, measure)
        self.cv_, self.fitted_with_qid_ = criterion.name, qid is not None
        return self

    def _criterion(
        self, problem: Problem, eval_set: Any, measure: Measure
    ) -> tuple[Criterion, HeldOut | None]:
        """What the choice rests on, and the rows that judge the iterates of conjugate gradient."""
        if eval_set is None and check_flag("early_stopping", getattr(self, "early_stopping", False)):
            raise ParameterError("early_stopping needs an eval_set, on which alpha is chosen as well.")
        if eval_set is None:
            return choose_criterion(self.cv, problem, measure), None
        checked = check_eval_set(self, eval_set, problem)
        return Validation(checked, measure), judged_rows(checked, measure, "eval_set")

    def _become(
        self,
        best: tuple[LeastSquaresRanker, Any],
        settings: list[dict[str, Any]],
        values: Floats,
        alphas: Floats,
        measure: Measure,
    ) -> None:
        """Take the fitted attributes of the best candidate, and record the choice."""
        row, column = best_alpha(values, measure)
        candidate, space = best
        candidate._accept([space.solve_all(alphas[[column]])[0]])
        candidate._report([space], float(alphas[column]))
        for name, fitted in vars(candidate).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, fitted)
        self.alphas_, self.scores_, self.settings_ = alphas, values, settings
        chosen = {"alpha": float(alphas[column]), "score": float(values[row, column])}
        self.best_ = chosen | settings[row]
        self._read_surface(space)

    def _read_surface(self, space: Space) -> None:
        """What conjugate gradient saw on the eval_set: the whole surface, and paper C's methods on it."""
        for name in ("surface_", "readings_"):
            self.__dict__.pop(name, None)
        if not isinstance(space, KrylovSpace) or space.runs[0].surface is None:
            return
        (run,) = space.runs
        readings = {"iteration": run.by_iteration(), "hybrid": run.hybrid()}
        if not space.iterations.stop_early:
            readings["tikhonov"] = run.tikhonov()
        self.surface_ = space.runs[0].surface.values
        self.readings_ = {
            method: {"alpha": one.alpha, "n_iter": one.n_iter, "score": one.value}
            for method, one in readings.items()
        }

    def _candidates(self) -> Iterator[tuple[dict[str, Any], LeastSquaresRanker]]:
        """Each setting besides alpha, and an unfitted model with it."""
        raise NotImplementedError


def _values_of(
    candidate: LeastSquaresRanker,
    problem: Problem,
    held_out: HeldOut | None,
    criterion: Criterion,
    alphas: Floats,
) -> tuple[Space, Values]:
    """Where a candidate learns, and the measure for all its alphas."""

    def loss_on(problem: Problem) -> SquaredLoss:
        (loss,) = losses_on_scores(problem, *candidate._checked_choices())
        return loss

    # Only conjugate gradient has use for the rows that judge iterates.
    judges = held_out if candidate.solver == "cg" else None
    (space,) = candidate._spaces_for(problem.X, [loss_on(problem)], judges)
    return space, criterion.values(space, alphas, candidate._scores_for_all, loss_on)


def grid_of(options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All combinations of options, each of which is one value or a list or tuple of values."""
    axes = {}
    for name, option in options.items():
        axes[name] = list(option) if isinstance(option, (list, tuple, np.ndarray)) else [option]
        if not axes[name]:
            raise ParameterError(f"The '{name}' parameter offers no value to choose from.")
    for combination in product(*axes.values()):
        yield dict(zip(axes, combination, strict=True))
