"""Shared by the solvers of ``R(Xw) + alpha ‖w‖²``: results and early stopping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from rankwise.held_out import HeldOut
from rankwise.types import Floats


@dataclass(frozen=True)
class Iterate:
    """The state of a solver after an iteration."""

    n_iter: int
    coef: Floats
    objective: float
    gap: float
    n_products: int


# Called after every iteration; returns whether to stop.
OnIteration: TypeAlias = Callable[[Iterate], bool | None]


@dataclass(frozen=True)
class HingeResult:
    """A model with a certificate of its quality.

    Attributes
    ----------
    coef : Floats, shape (n,)
    objective : float
        ``R(Xw) + alpha ‖w‖²`` at `coef`.
    gap : float
        `objective` minus a proven lower bound on the minimum, with an allowance for rounding.
    resolution : float
        That allowance: a smaller gap cannot be certified in double precision.
    n_iter : int
    n_products : int
        The number of products with X or its transpose.
    converged : bool
        Whether the gap is at most the tolerance.
    interrupted : bool
        Whether the user interrupted the solver (KeyboardInterrupt); `coef` is the best so far.
    stalled : bool
        Whether rounding errors left no direction of descent.
    """

    coef: Floats
    objective: float
    gap: float
    resolution: float
    n_iter: int
    n_products: int
    converged: bool
    interrupted: bool
    stalled: bool = False

    @property
    def complaint(self) -> str | None:
        """A message for the user if the tolerance was not reached."""
        if self.converged:
            return None
        if self.interrupted:
            reason = "Interrupted"
        elif self.gap <= 2.0 * self.resolution:
            reason = "The tolerance 'tol' is below what double precision can certify here"
        elif self.stalled:
            reason = f"Rounding errors stopped the solver after {self.n_iter} iterations"
        else:
            reason = f"Stopped after max_iter={self.n_iter} iterations"
        return f"{reason}: the model is the best so far, within gap_={self.gap:.3g} of the minimum."


class EarlyStopping:
    """Measures the iterates of a solver on held-out rows (as its `on_iteration`) and keeps the best.

    Parameters
    ----------
    held_out : HeldOut
    scores : callable
        Maps weights to the scores of these rows.
    patience : int or None
        Stop after this many iterates without improvement; None never stops.

    Attributes
    ----------
    curve : list of float
        The measure of each iterate.
    best_iter : int
        The first best iterate, counting from 1.
    stopped : bool
    """

    def __init__(self, held_out: HeldOut, scores: Callable[[Floats], Floats], patience: int | None) -> None:
        self._held_out, self._scores, self._patience = held_out, scores, patience
        self._best: Iterate | None = None
        self.curve: list[float] = []
        self.best_iter = 0
        self.stopped = False

    def __call__(self, iterate: Iterate) -> bool:
        self.curve.append(self._held_out.measure(self._scores(iterate.coef)))
        if self._best is None or self._held_out.improves(self.curve[-1], self.curve[self.best_iter - 1]):
            self._best, self.best_iter = iterate, len(self.curve)
        self.stopped = self._patience is not None and len(self.curve) - self.best_iter >= self._patience
        return self.stopped

    def kept(self, result: HingeResult) -> HingeResult:
        """The best iterate, with the final proven bound on the minimum."""
        if self._best is None:
            return result
        bound = result.objective - result.gap
        best = self._best
        return replace(result, coef=best.coef, objective=best.objective, gap=best.objective - bound)
