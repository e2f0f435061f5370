"""RankSVM for every alpha of a grid, from the largest down, each starting where the previous one ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np

from rankwise.family import AlphaStep, Descending, OnAlpha, Solutions
from rankwise.held_out import HeldOut, Patience
from rankwise.operators.design import MatrixDesign
from rankwise.svm.bundle import Bundle, minimize_bundle
from rankwise.svm.hinge_result import HingeResult
from rankwise.svm.newton import minimize_newton
from rankwise.svm.risk import AnyRisk, G, Risk, S
from rankwise.types import Floats, Matrix

# Solves for each alpha in the given order, up to an interrupted one.
SolveEach: TypeAlias = Callable[..., Iterator[HingeResult]]


@dataclass(frozen=True)
class HingeSolutions(Solutions):
    """RankSVM models, each with its certificate; None for alphas that were not reached."""

    results: tuple[HingeResult | None, ...] = ()


@dataclass(frozen=True)
class HingeFamily(Descending):
    """``R(Xw) + alpha ‖w‖²`` for every alpha.

    Attributes
    ----------
    risk : Risk
    solve_each : callable
        `bundle_grid` for the hinge, `newton_grid` for its square.
    tol : float
    max_iter : int
    patience : int or None
        See `Descending`.
    """

    risk: AnyRisk
    solve_each: SolveEach
    tol: float = 1e-3
    max_iter: int = 1000
    patience: int | None = None

    def with_loss(self, loss: Any) -> Self:
        return replace(self, risk=self.risk.with_loss(loss))

    def scores(self, coef: Floats, X: Matrix) -> Floats:
        return MatrixDesign(X).scores(coef.T)

    def solve(
        self, alphas: Floats, held_out: HeldOut | None = None, on_alpha: OnAlpha | None = None
    ) -> HingeSolutions:
        """Solve from the largest alpha down, until the grid or the patience is exhausted, or an interrupt."""
        found: list[HingeResult] = []
        values = np.full(len(alphas), np.nan)
        judge = None if held_out is None else _Judge(held_out, self.patience)
        interrupted = False
        try:
            for k, step in zip(reversed(range(len(alphas))), self.descend(alphas), strict=False):
                found.insert(0, step.result)
                if judge is not None:
                    values[k] = judge.measure(step.result.coef)
                    step = replace(step, value=float(values[k]))
                interrupted = step.result.interrupted
                if on_alpha is not None and not (interrupted and judge is None):
                    on_alpha(step)
                if judge is not None and judge.patience.exhausted_by(values[k]):
                    break
        except KeyboardInterrupt:
            interrupted = True
        missing = len(alphas) - len(found)
        coef = np.full((len(alphas), self.risk.shape[1]), np.nan)
        for k, result in enumerate(found, start=missing):
            coef[k] = result.coef
        finished = np.arange(len(alphas)) >= missing
        if found and found[0].interrupted:
            finished[missing] = False
        results = (*[None] * missing, *found)
        return HingeSolutions(
            alphas, coef, finished, None if held_out is None else values, interrupted, results
        )

    def descend(self, alphas: Floats) -> Iterator[AlphaStep]:
        found = self.solve_each(self.risk, alphas[::-1], tol=self.tol, max_iter=self.max_iter)
        for number, (alpha, result) in enumerate(zip(alphas[::-1].tolist(), found, strict=False), start=1):
            yield AlphaStep(alpha, number / len(alphas), result=result)


class _Judge:
    """Measures models on held-out rows, and loses patience with them."""

    def __init__(self, held_out: HeldOut, patience: int | None) -> None:
        self._measure, self._scores = held_out.measure, MatrixDesign(held_out.X).scores
        self.patience = Patience(patience, held_out.higher_is_better)

    def measure(self, coef: Floats) -> float:
        return self._measure(self._scores(coef))


def bundle_grid(risk: Risk[S, G], alphas: Floats, *, tol: float, max_iter: int) -> Iterator[HingeResult]:
    """Minimize the hinge for each alpha in turn, up to an interrupted one; descending alphas are cheapest.

    Planes below the risk and scores of directions do not depend on alpha and are kept, so a grid costs little
    more than its smallest alpha alone.
    """
    known, start = Bundle(risk), None
    for alpha in alphas:
        result = minimize_bundle(risk, float(alpha), tol=tol, max_iter=max_iter, start=start, known=known)
        yield result
        if result.interrupted:
            return  # an interrupt may have left `known` half updated
        start = result.coef


def newton_grid(risk: Risk[S, G], alphas: Floats, *, tol: float, max_iter: int) -> Iterator[HingeResult]:
    """Minimize the squared hinge for each alpha in turn, up to an interrupted one, from the last weights."""
    start = None
    for alpha in alphas:
        result = minimize_newton(risk, float(alpha), tol=tol, max_iter=max_iter, start=start)
        yield result
        if result.interrupted:
            return
        start = result.coef
