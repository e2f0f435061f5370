"""RankRLS by conjugate gradient, using only products; no matrix is formed (paper C)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count
from typing import ClassVar, Protocol

import numpy as np

from rankwise.errors import DataError
from rankwise.family import AlphaStep, Family, OnAlpha
from rankwise.held_out import HeldOut
from rankwise.long_tasks import step
from rankwise.ridge.cg_result import RidgeSolutions, ShiftedCGResult, Stop
from rankwise.ridge.shifted_cg import shifted_cg
from rankwise.ridge.spaces import Equations, Space
from rankwise.ridge.squared import SquaredLoss
from rankwise.types import Floats, Matrix, Solver


class Runner(Protocol):
    """Calls `shifted_cg`, passed with its arguments: directly, or with checkpoints along the way."""

    def __call__(self, run: partial[ShiftedCGResult]) -> ShiftedCGResult: ...

    def for_run(self, name: str) -> Runner:
        """The runner for one run of several, such as that of a fold, with its own checkpoint."""
        ...


class RunAtOnce:
    """Calls `shifted_cg` directly."""

    def __call__(self, run: partial[ShiftedCGResult]) -> ShiftedCGResult:
        return run()

    def for_run(self, name: str) -> Runner:
        return self


@dataclass(frozen=True)
class Iterations:
    """How long to iterate.

    Attributes
    ----------
    tol : float
        The relative residual at which a system counts as solved.
    max_iter : int
    stop_early : bool
        With held-out rows, keep the iterate that is best on them and stop after `patience` iterations without
        improvement; otherwise continue to `tol`.
    patience : int
    run : Runner
    """

    tol: float
    max_iter: int
    stop_early: bool
    patience: int
    run: Runner


@dataclass(frozen=True)
class ConjugateGradientFamily(Family):
    """``(A + αI) z = b``, solved for all alphas with the products of a single run per target."""

    space: Space
    loss: SquaredLoss
    iterations: Iterations

    solver: ClassVar[Solver] = Solver.CG

    @cached_property
    def equations(self) -> Equations:
        return self.space.equations(self.loss)

    def scores(self, coef: Floats, X: Matrix) -> Floats:
        return self.space.scorer(X)(coef.T)

    def solve(
        self, alphas: Floats, held_out: HeldOut | None = None, on_alpha: OnAlpha | None = None
    ) -> RidgeSolutions:
        """Make one run per target; measure every iterate of every alpha on the held-out rows, if any."""
        right, to_coef = self.equations.right, self.equations.to_coef
        targets = right[:, None] if right.ndim == 1 else right
        runs: list[ShiftedCGResult] = []
        for target in targets.T:
            runs.append(self._run(np.ascontiguousarray(target), alphas, held_out, on_alpha))
            if runs[-1].stop is Stop.INTERRUPTED and len(runs) < targets.shape[1]:
                raise KeyboardInterrupt  # the other targets have nothing to keep
        early = self.iterations.stop_early and held_out is not None
        kept = [[run.early(k) if early else run.last(k) for run in runs] for k in range(len(alphas))]
        coef = np.array([[to_coef(point.solution) for point in points] for points in kept])
        interrupted = runs[-1].stop is Stop.INTERRUPTED
        values = None if held_out is None else np.array([points[0].value for points in kept])
        finished = np.logical_and.reduce([run.converged | (not interrupted) for run in runs])
        coef = coef[:, 0] if right.ndim == 1 else coef
        n_digits = self.space.n_digits(coef, self.loss.reference())
        return RidgeSolutions(alphas, coef, finished, values, interrupted, tuple(runs), n_digits)

    def _run(
        self, right: Floats, alphas: Floats, held_out: HeldOut | None, on_alpha: OnAlpha | None
    ) -> ShiftedCGResult:
        how, scores = self.iterations, None
        product = _reported(self.equations.product, how.max_iter, on_alpha)
        if held_out is not None:
            of_coef, to_coef = self.space.scorer(held_out.X), self.equations.to_coef
            scores = lambda z: of_coef(to_coef(z))  # noqa: E731
        run = partial(
            shifted_cg,
            product,
            right,
            alphas,
            held_out=held_out,
            scores=scores,
            patience=how.patience,
            stop_early=how.stop_early,
            tol=how.tol,
            max_iter=how.max_iter,
        )
        result = how.run(run)
        if result.stop is Stop.NOT_FINITE and result.n_iterations == 0:
            raise DataError(
                "The products of conjugate gradient overflow: X or the labels have entries too large to "
                "learn from; scale them."
            )
        return result

    def for_run(self, name: str) -> ConjugateGradientFamily:
        return replace(self, iterations=replace(self.iterations, run=self.iterations.run.for_run(name)))

    def decompose(self) -> None:
        """Do nothing: there is no decomposition, and each alpha takes a run."""


def _reported(
    product: Callable[[Floats], Floats], max_iter: int, on_alpha: OnAlpha | None
) -> Callable[[Floats], Floats]:
    """The product, which reports progress: each iteration takes one, and there are at most `max_iter`."""
    calls = count()

    def reporting(vector: Floats) -> Floats:
        number = next(calls)
        if on_alpha is None:
            step(f"iteration {number} of at most {max_iter}")
        else:
            on_alpha(AlphaStep(None, number / max_iter))
        return product(vector)

    return reporting
