"""What ``solver="cg"`` adds to RankRLS: its options, held-out data, and what the iterations report."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.errors import ParameterError
from rankwise.estimators.held_out import (
    HeldOut,
    judged_eval_pairs,
    judged_eval_set,
    split_pairs,
    split_problem,
)
from rankwise.persist.checkpoint import Checkpoint
from rankwise.persist.fields import Fields, array, value
from rankwise.preferences.pairs import Pairs
from rankwise.solvers.krylov import Iterations, KrylovSpace
from rankwise.solvers.spaces import Space
from rankwise.solvers.surface import ShiftedCGResult, Stop
from rankwise.types import Floats, Matrix
from rankwise.validation import Problem, check_count, check_number

# The largest matrix that a closed form may make when nobody asked for it: 2 GB.
MAX_ENTRIES = 1 << 28

ITERATION_STATE: Fields = (
    value("n_iter_", int, type(None)),
    value("best_iter_", int, optional=True),
    array("validation_curve_", "iterations", optional=True),
)


class IterativeMixin:
    """Parameters of conjugate gradient, checked and turned into what the solvers take."""

    tol: float
    max_iter: int
    solver: str
    early_stopping: bool
    patience: int
    validation_fraction: float
    measure: str
    checkpoint: str | None
    checkpoint_seconds: float
    random_state: Any

    n_iter_: int | None
    best_iter_: int
    validation_curve_: Floats

    @property
    def _wants_iterations(self) -> bool:
        return bool(self.early_stopping) or self.checkpoint is not None

    def _iterations(self) -> Iterations:
        if not isinstance(self.checkpoint, str | PathLike | None):
            raise ParameterError(f"The 'checkpoint' parameter must be a folder; got {self.checkpoint!r}.")
        return Iterations(
            tol=check_number("tol", self.tol, minimum=0.0),
            max_iter=check_count("max_iter", self.max_iter),
            stop_early=bool(self.early_stopping),
            patience=check_count("patience", self.patience),
            run=operator.call
            if self.checkpoint is None
            else Checkpoint(
                Path(self.checkpoint), check_number("checkpoint_seconds", self.checkpoint_seconds)
            ),
        )

    def _hold_out(self, problem: Problem, eval_set: Any) -> tuple[Problem, HeldOut | None]:
        """The rows to train on, and those that judge: `eval_set`, or a part of the rows to stop early."""
        if self.checkpoint is not None and problem.y.ndim != 1:
            raise ParameterError(f"A checkpoint holds the run of one target; y has {problem.y.shape[1]}.")
        if eval_set is None and not self.early_stopping:
            return problem, None
        if problem.y.ndim != 1:
            raise ParameterError(f"Held-out rows judge one target; y has {problem.y.shape[1]}.")
        if eval_set is not None:
            return problem, judged_eval_set(self, eval_set, problem, self.measure)
        if getattr(self, "kernel", None) == "precomputed":
            raise ParameterError("early_stopping with kernel='precomputed' needs an eval_set.")
        return split_problem(problem, self._checked_fraction(), self.measure, self.random_state)

    def _hold_out_pairs(self, X: Matrix, pairs: Pairs, eval_set: Any) -> tuple[Pairs, HeldOut | None]:
        """The pairs to train on, and those that judge."""
        if eval_set is not None:
            return pairs, judged_eval_pairs(self, eval_set)
        if not self.early_stopping:
            return pairs, None
        return split_pairs(X, pairs, self._checked_fraction(), self.random_state)

    def _checked_fraction(self) -> float:
        fraction = check_number("validation_fraction", self.validation_fraction, minimum=0.0, exclusive=True)
        if fraction >= 1.0:
            raise ParameterError(f"The 'validation_fraction' parameter must be below 1; got {fraction:g}.")
        return fraction

    def _report(self, spaces: Sequence[Space], alpha: float) -> None:
        """Record what the iterations did; warn when they did not do what they should."""
        runs = [run for space in spaces if isinstance(space, KrylovSpace) for run in space.runs]
        self.n_iter_ = max((run.n_iterations for run in runs), default=None)
        for name in ("best_iter_", "validation_curve_"):
            vars(self).pop(name, None)
        if runs and runs[0].surface is not None:
            k = int(np.searchsorted(runs[0].alphas, alpha))
            self.validation_curve_ = runs[0].surface.values[k]
            self.best_iter_ = int(runs[0].surface.best_iter[k])
        if runs and alpha == 0.0 and runs[0].surface is None:
            warnings.warn(
                "alpha is 0 and there is no early stopping, so nothing regularizes the model.", stacklevel=4
            )
        for run in runs:
            warn_unless_done(run, stacklevel=5)


def warn_unless_done(run: ShiftedCGResult, stacklevel: int) -> None:
    """A ConvergenceWarning when conjugate gradient ended for a reason that its caller did not ask for."""
    if run.stop in (Stop.CONVERGED, Stop.NO_IMPROVEMENT):
        return
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"Conjugate gradient ended after {run.n_iterations} iterations: {run.stop}. The largest relative "
        f"residual is {run.residual.max():.1e}; the best iterate so far is kept.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )


def refuse_held_out(solver: str, held_out: HeldOut | None, mixin: IterativeMixin) -> None:
    """Closed forms have no iterates to judge or to save."""
    for name, given in (
        ("eval_set", held_out is not None and not mixin.early_stopping),
        ("early_stopping", bool(mixin.early_stopping)),
        ("checkpoint", mixin.checkpoint is not None),
    ):
        if given:
            raise ParameterError(f"{name} needs solver='cg' or 'auto'; solver={solver!r} has no iterations.")
