"""What linear and kernel RankRLS with built-in choice of alpha share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import ParameterError, warn_caller
from rankwise.estimators.chosen import ChoosingRanker
from rankwise.estimators.held_out import HeldOut, judged_eval_pairs, judged_eval_set
from rankwise.estimators.least_squares import LeastSquaresRanker
from rankwise.losses.squared import SquaredLoss, loss_on_pairs, losses_on_scores
from rankwise.metrics.measure import Measure, get_measure
from rankwise.persist.fields import Fields, array, value
from rankwise.preferences.pairs import Pairs
from rankwise.selection.criteria import (
    Criterion,
    HoldOutPairs,
    Validation,
    best_alpha,
    choose_criterion,
)
from rankwise.selection.folds import draw_pair_folds, measure_of_pairs
from rankwise.solvers.krylov import KrylovSpace
from rankwise.solvers.spaces import Space
from rankwise.types import Floats, Matrix
from rankwise.validation import Problem, check_alphas, check_flag, check_preferences, check_problem

# Paper A's grid: wide, because alpha grows with the sums over pairs or rows, and free, because one
# decomposition gives every value.
DEFAULT_ALPHAS = tuple(2.0**k for k in range(-15, 16))


class SelectingRanker(ChoosingRanker):
    """Fits one candidate for each setting, values all its alphas at once, and becomes the best."""

    alphas: Any
    cv: Any
    measure: str | Measure
    surface_: Floats
    readings_: dict[str, dict[str, Any]]

    _selection_state: Fields = (
        *ChoosingRanker._choice_state,
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
        measure, problem = get_measure(self.measure), check_problem(self, X, y, qid, sample_weight)
        self._check_judges(eval_set)
        if eval_set is None:
            criterion, held_out = choose_criterion(self.cv, problem, measure), None
        else:
            held_out = judged_eval_set(self, eval_set, problem, measure)
            criterion = Validation(held_out.X, held_out.measure)
        self._choose(problem.X, problem, _loss_on_rows, criterion, held_out, measure)
        self.fitted_with_qid_ = qid is not None
        return self

    def fit_preferences(
        self,
        X: Any,
        pairs: Any,
        magnitude: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        *,
        eval_set: Any = None,
    ) -> Self:
        """Choose alpha (and the other settings on offer) by explicit pairs, and learn from all of them.

        Parameters
        ----------
        X, pairs, magnitude, weight
            As in `RankRLS.fit_preferences`.
        eval_set : (X, pairs) or (X, pairs, weight), optional
            Pairs to choose on: by the part of them that is contradicted. Otherwise `cv` must be a number of
            folds or a splitter, of pairs that share no row with those of other folds or, where all pairs hang
            together, of any pairs.
        """
        measure = measure_of_pairs(self.measure)
        rows, checked = check_preferences(self, X, pairs, magnitude, weight)
        self._check_judges(eval_set)
        criterion: Criterion
        if eval_set is None:
            criterion, held_out = (
                HoldOutPairs(rows, checked, draw_pair_folds(self.cv, checked, rows.shape[0])),
                None,
            )
        else:
            held_out = judged_eval_pairs(self, eval_set)
            criterion = Validation(held_out.X, held_out.measure)
        self._choose(rows, checked, partial(_loss_on_pairs, rows.shape[0]), criterion, held_out, measure)
        self.fitted_with_qid_ = False
        return self

    def _check_judges(self, eval_set: Any) -> None:
        if eval_set is None and check_flag("early_stopping", getattr(self, "early_stopping", False)):
            raise ParameterError("early_stopping needs an eval_set, on which alpha is chosen as well.")

    def _choose(
        self,
        X: Matrix,
        stated: Problem | Pairs,
        loss_on: Callable[[LeastSquaresRanker, Any], SquaredLoss],
        criterion: Criterion,
        held_out: HeldOut | None,
        measure: Measure,
    ) -> None:
        """Become the best of all settings and alphas for what the labels or pairs say of the rows."""
        alphas = check_alphas(self.alphas)
        candidates = list(self._candidates())
        settings, values, best = [], [], None
        for setting, candidate in candidates:
            # Only conjugate gradient has use for the rows that judge iterates.
            judges = held_out if candidate.solver == "cg" else None
            try:
                (space,) = candidate._spaces_for(X, [loss_on(candidate, stated)], judges)
                found = criterion.values(
                    space, alphas, candidate._scores_for_all, partial(loss_on, candidate)
                )
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
                if len(settings) < len(candidates):
                    warn_caller(f"Interrupted from the keyboard; no setting after {settings[-1]} is tried.")
                break
        assert best is not None
        self._become(best, settings, np.stack(values), alphas, measure)
        self.cv_ = criterion.name

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

    @abstractmethod
    def _candidates(self) -> Iterator[tuple[dict[str, Any], LeastSquaresRanker]]:
        """Each setting besides alpha, and an unfitted model with it."""


def _loss_on_rows(candidate: LeastSquaresRanker, problem: Problem) -> SquaredLoss:
    (loss,) = losses_on_scores(problem, *candidate._checked_choices())
    return loss


def _loss_on_pairs(n_rows: int, candidate: LeastSquaresRanker, pairs: Pairs) -> SquaredLoss:
    candidate._checked_choices()
    return loss_on_pairs(pairs, n_rows)


def grid_of(options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All combinations of options, each of which is one value or a list or tuple of values."""
    axes = {}
    for name, option in options.items():
        axes[name] = list(option) if isinstance(option, (list, tuple, np.ndarray)) else [option]
        if not axes[name]:
            raise ParameterError(f"The '{name}' parameter offers no value to choose from.")
    for combination in product(*axes.values()):
        yield dict(zip(axes, combination, strict=True))
