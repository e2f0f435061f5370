"""Results of conjugate gradient: solutions, and the surface of the measure over alphas and iterations.

Paper C's three methods are three readings of one surface: Tikhonov regularization picks the best alpha at
convergence, regularization by iteration the best iteration at the smallest alpha, the hybrid both.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from rankwise.family import Solutions
from rankwise.held_out import HeldOut
from rankwise.types import Bools, Floats, Ints


class Stop(StrEnum):
    """Why the iterations ended."""

    CONVERGED = "converged"
    MAX_ITER = "the iteration limit was reached"
    NO_IMPROVEMENT = "no improvement on the held-out rows"
    BREAKDOWN = "the matrix is singular to working precision"
    NOT_FINITE = "a product was not finite"
    INTERRUPTED = "interrupted from the keyboard"


@dataclass(frozen=True)
class SurfacePoint:
    """One point of the surface."""

    alpha: float
    n_iter: int
    value: float
    solution: Floats


@dataclass(frozen=True)
class Surface:
    """The measure of every iterate of every alpha.

    Attributes
    ----------
    held_out : HeldOut
    values : Floats, shape (n_alphas, n_iterations)
        Constant after a system has converged.
    best : Floats, shape (n_alphas, n)
        For each alpha, the iterate that early stopping keeps: the best one before `patience` iterations
        without improvement.
    best_value : Floats, shape (n_alphas,)
    best_iter : Ints, shape (n_alphas,)
        Counting from 1.
    """

    held_out: HeldOut
    values: Floats
    best: Floats
    best_value: Floats
    best_iter: Ints


@dataclass(frozen=True)
class ShiftedCGResult:
    """The solutions of all systems, and the measures along the way.

    Attributes
    ----------
    alphas : Floats, shape (n_alphas,)
        In ascending order.
    solutions : Floats, shape (n_alphas, n)
        The last iterates.
    n_iter : Ints, shape (n_alphas,)
    converged : array of bool, shape (n_alphas,)
    residual : Floats, shape (n_alphas,)
        Norms of the residuals, relative to the norm of b.
    stop : Stop
    surface : Surface or None
        None without held-out rows.
    """

    alphas: Floats
    solutions: Floats
    n_iter: Ints
    converged: Bools
    residual: Floats
    stop: Stop
    surface: Surface | None = None

    @property
    def n_iterations(self) -> int:
        """Iterations of the whole run, which is also its number of products with A."""
        return int(self.n_iter.max())

    @property
    def complaint(self) -> str | None:
        """A message for the user if the run ended unexpectedly."""
        if self.stop in (Stop.CONVERGED, Stop.NO_IMPROVEMENT):
            return None
        return (
            f"Conjugate gradient ended after {self.n_iterations} iterations: {self.stop}. The largest "
            f"relative residual is {self.residual.max():.1e}; the best iterate so far is kept."
        )

    def last(self, k: int) -> SurfacePoint:
        """The last iterate of the k-th alpha."""
        values = np.empty(0) if self.surface is None else self.surface.values[k]
        value = float(values[-1]) if len(values) else float("nan")
        return SurfacePoint(float(self.alphas[k]), int(self.n_iter[k]), value, self.solutions[k].copy())

    def early(self, k: int) -> SurfacePoint:
        """The iterate of the k-th alpha that early stopping keeps."""
        surface = self._surface()
        value, iteration = float(surface.best_value[k]), int(surface.best_iter[k])
        return SurfacePoint(float(self.alphas[k]), iteration, value, surface.best[k].copy())

    def tikhonov(self) -> SurfacePoint:
        """The best alpha, each at its last iterate (paper C, method 1)."""
        last = np.array([self.last(k).value for k in range(len(self.alphas))])
        return self.last(self._surface().held_out.argbest(last))

    def by_iteration(self) -> SurfacePoint:
        """The best iteration at the smallest alpha, usually 0 (paper C, method 2)."""
        return self.early(0)

    def hybrid(self) -> SurfacePoint:
        """The best alpha, each at its best iteration (paper C, method 3)."""
        surface = self._surface()
        return self.early(surface.held_out.argbest(surface.best_value))

    def readings(self, stopped_early: bool) -> dict[str, dict[str, float]]:
        """The choice of each method, except "tikhonov" if the systems were not run to convergence."""
        points = {"iteration": self.by_iteration(), "hybrid": self.hybrid()}
        if not stopped_early:
            points["tikhonov"] = self.tikhonov()
        return {
            method: {"alpha": point.alpha, "n_iter": point.n_iter, "score": point.value}
            for method, point in points.items()
        }

    def _surface(self) -> Surface:
        if self.surface is None:
            raise ValueError("The run measured no iterates, because it had no held-out rows.")
        return self.surface


@dataclass(frozen=True)
class RidgeSolutions(Solutions):
    """RankRLS models.

    Attributes
    ----------
    runs : tuple of ShiftedCGResult
        The conjugate gradient runs that found them, if any, one per target.
    n_digits : Floats, shape (n_alphas,), or None
        About how many digits of the scores survive in double precision; None if all that matter do.
    """

    runs: tuple[ShiftedCGResult, ...] = ()
    n_digits: Floats | None = None
