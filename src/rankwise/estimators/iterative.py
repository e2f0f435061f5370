"""What ``solver="cg"`` adds to RankRLS: its options, held-out data, and what the iterations report."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.errors import ParameterError, warn_caller
from rankwise.estimators.held_out import CURVE_STATE, HeldOut, JudgedMixin
from rankwise.persist.checkpoint import Checkpoint
from rankwise.persist.fields import Fields, value
from rankwise.solvers.krylov import Iterations, KrylovSpace, LinearMap
from rankwise.solvers.spaces import Space
from rankwise.solvers.surface import ShiftedCGResult, Stop, Validation
from rankwise.types import Matrix
from rankwise.validation import Problem, check_count, check_folder, check_number

# The largest matrix that a closed form may make when nobody asked for it: 2 GB.
MAX_ENTRIES = 1 << 28

ITERATION_STATE: Fields = (value("n_iter_", int, type(None)), *CURVE_STATE)


class IterativeMixin(JudgedMixin):
    """Parameters of conjugate gradient, checked and turned into what the solvers take."""

    tol: float
    max_iter: int
    solver: str
    checkpoint: str | None
    checkpoint_seconds: float

    n_iter_: int | None

    @property
    def _wants_iterations(self) -> bool:
        return self._stops_early or self.checkpoint is not None

    def _iterations(self) -> Iterations:
        """The options of conjugate gradient, which are checked even if a closed form has no use for them."""
        seconds = check_number("checkpoint_seconds", self.checkpoint_seconds, minimum=0.0)
        return Iterations(
            tol=check_number("tol", self.tol, minimum=0.0),
            max_iter=check_count("max_iter", self.max_iter),
            stop_early=self._stops_early,
            patience=check_count("patience", self.patience),
            run=operator.call
            if self.checkpoint is None
            else Checkpoint(check_folder("checkpoint", self.checkpoint), seconds),
        )

    def _hold_out(self, problem: Problem, eval_set: Any) -> tuple[Problem, HeldOut | None]:
        if self.checkpoint is not None and problem.y.ndim != 1:
            raise ParameterError(f"A checkpoint holds the run of one target; y has {problem.y.shape[1]}.")
        if eval_set is None and self._stops_early and getattr(self, "kernel", None) == "precomputed":
            raise ParameterError("early_stopping with kernel='precomputed' needs an eval_set.")
        return super()._hold_out(problem, eval_set)

    def _report(self, spaces: Sequence[Space], alpha: float) -> None:
        """Record what the iterations did; warn when they did not do what they should."""
        runs = [run for space in spaces if isinstance(space, KrylovSpace) for run in space.runs]
        self.n_iter_ = max((run.n_iterations for run in runs), default=None)
        if runs and runs[0].surface is not None:
            k = int(np.searchsorted(runs[0].alphas, alpha))
            self.validation_curve_ = runs[0].surface.values[k]
            self.best_iter_ = int(runs[0].surface.best_iter[k])
        if runs and alpha == 0.0 and not self._stops_early:
            warn_caller("alpha is 0 and there is no early stopping, so nothing regularizes the model.")
        for run in runs:
            warn_unless_done(run)


def warn_unless_done(run: ShiftedCGResult) -> None:
    """A ConvergenceWarning when conjugate gradient ended for a reason that its caller did not ask for."""
    if run.stop in (Stop.CONVERGED, Stop.NO_IMPROVEMENT):
        return
    from sklearn.exceptions import ConvergenceWarning

    warn_caller(
        f"Conjugate gradient ended after {run.n_iterations} iterations: {run.stop}. The largest relative "
        f"residual is {run.residual.max():.1e}; the best iterate so far is kept.",
        ConvergenceWarning,
    )


@dataclass(frozen=True)
class How:
    """How to iterate, and on which held-out rows."""

    iterations: Iterations
    held_out: HeldOut | None

    def validation(self, scores: Callable[[Matrix], LinearMap]) -> Validation | None:
        """Judge a model given how it scores rows."""
        return None if self.held_out is None else self.held_out.validation(scores(self.held_out.X))

    def refuse(self, ranker: IterativeMixin) -> None:
        """Closed forms have no iterates to judge or to save."""
        for name, given in (
            ("eval_set", self.held_out is not None and not self.iterations.stop_early),
            ("early_stopping", self.iterations.stop_early),
            ("checkpoint", ranker.checkpoint is not None),
        ):
            if given:
                raise ParameterError(
                    f"{name} needs solver='cg' or 'auto'; solver={ranker.solver!r} has no iterations."
                )
