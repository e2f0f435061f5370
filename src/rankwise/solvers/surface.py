"""What conjugate gradient saw on the way: a measure for every alpha and iteration, and how to read it.

Paper C's three methods are three readings of one surface: Tikhonov regularization takes the best alpha at
convergence, regularization by iteration the best iteration at the smallest alpha, the hybrid both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from rankwise.types import Bools, Floats, Ints


class Stop(StrEnum):
    """Why the iterations ended."""

    CONVERGED = "converged"
    MAX_ITER = "the iteration limit was reached"
    NO_IMPROVEMENT = "the validation data saw no improvement"
    BREAKDOWN = "the matrix is singular to working precision"
    NOT_FINITE = "a product was not finite"
    INTERRUPTED = "interrupted from the keyboard"


@dataclass(frozen=True)
class Validation:
    """How iterates are judged.

    Attributes
    ----------
    scores : callable
        The linear map from a solution z to the scores of the validation rows.
    measure : callable
        From scores to a number.
    higher_is_better : bool
    """

    scores: Callable[[Floats], Floats]
    measure: Callable[[Floats], float]
    higher_is_better: bool = False

    def improves(self, value: float, best: float) -> bool:
        """Whether a value beats the best so far; any number beats NaN."""
        if np.isnan(best):
            return not np.isnan(value)
        return value > best if self.higher_is_better else value < best

    def argbest(self, values: Floats) -> int:
        """The first of the best values; NaN is the worst."""
        if np.isnan(values).all():
            return 0
        return int(np.nanargmax(values) if self.higher_is_better else np.nanargmin(values))


@dataclass(frozen=True)
class Reading:
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
    validation : Validation
    values : Floats, shape (n_alphas, n_iterations)
        Constant once a system has converged.
    best : Floats, shape (n_alphas, n)
        For each alpha, the iterate that early stopping keeps: the best before `patience` iterations without a
        better one.
    best_value : Floats, shape (n_alphas,)
    best_iter : Ints, shape (n_alphas,)
        Counted from 1.
    """

    validation: Validation
    values: Floats
    best: Floats
    best_value: Floats
    best_iter: Ints


@dataclass(frozen=True)
class ShiftedCGResult:
    """Solutions of all systems, and how they fared on the way.

    Attributes
    ----------
    alphas : Floats, shape (n_alphas,)
        Ascending.
    solutions : Floats, shape (n_alphas, n)
        The last iterates.
    n_iter : Ints, shape (n_alphas,)
    converged : array of bool, shape (n_alphas,)
    residual : Floats, shape (n_alphas,)
        Norms of the residuals relative to that of b.
    stop : Stop
    surface : Surface or None
        None without validation data.
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
        """Iterations of the whole run: its number of products with A."""
        return int(self.n_iter.max())

    def last(self, k: int) -> Reading:
        """The last iterate of the k-th alpha."""
        values = np.empty(0) if self.surface is None else self.surface.values[k]
        value = float(values[-1]) if len(values) else float("nan")
        return Reading(float(self.alphas[k]), int(self.n_iter[k]), value, self.solutions[k].copy())

    def early(self, k: int) -> Reading:
        """The iterate of the k-th alpha that early stopping keeps."""
        surface = self._surface()
        value, iteration = float(surface.best_value[k]), int(surface.best_iter[k])
        return Reading(float(self.alphas[k]), iteration, value, surface.best[k].copy())

    def tikhonov(self) -> Reading:
        """The best alpha, each at its last iterate (paper C, method 1)."""
        last = np.array([self.last(k).value for k in range(len(self.alphas))])
        return self.last(self._surface().validation.argbest(last))

    def by_iteration(self) -> Reading:
        """The best iteration at the smallest alpha, usually 0 (paper C, method 2)."""
        return self.early(0)

    def hybrid(self) -> Reading:
        """The best alpha, each at its best iteration (paper C, method 3)."""
        surface = self._surface()
        return self.early(surface.validation.argbest(surface.best_value))

    def _surface(self) -> Surface:
        if self.surface is None:
            raise ValueError("There is no surface to read: the run had no validation data.")
        return self.surface
