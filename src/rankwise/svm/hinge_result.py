"""Shared by the solvers of ``R(Xw) + alpha ‖w‖²``: results, early stopping, and counted products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from typing import Any, TypeAlias

import numpy as np

from rankwise.errors import DataError
from rankwise.held_out import HeldOut
from rankwise.operators.design import MatrixDesign, ProductDesign
from rankwise.operators.spread import Spread
from rankwise.svm.hinge import HingeLoss
from rankwise.svm.row_vectors import RowVector
from rankwise.types import Floats

# An allowance for the rounding of a sum, relative to its terms.
ROUNDING = 16.0 * float(np.finfo(np.float64).eps)
# Squares of rows are summed and scaled, for which this leaves some room.
LONGEST_ROW = 1e145


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
            reason = f"Rounding errors kept it from going on after {self.n_iter} iterations"
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


class CountedProducts:
    """Counts products with X, for a loss that keeps rows in its own order."""

    def __init__(self, design: ProductDesign, loss: HingeLoss) -> None:
        self.design, self.loss = design, loss
        self.n_products = 0

    @cached_property
    def row_length(self) -> float:
        length = self.design.row_length()
        if not length <= LONGEST_ROW:
            raise overflow("squares of the features")
        return length

    def rounding(self, w: Floats) -> float:
        """An allowance for the rounding of scores and of the risk, which they move by at most as much."""
        return ROUNDING * self.row_length * float(np.linalg.norm(w))

    def scores(self, w: Floats) -> RowVector:
        self.n_products += 1
        scores = self.loss.arranged(self.design.scores(w))
        if not self.loss.vectors.are_finite(scores):
            raise overflow("scores")
        return scores

    def adjoint(self, rows: RowVector) -> Floats:
        self.n_products += 1
        weights = self.design.adjoint(self.loss.restored(rows))
        with np.errstate(over="ignore"):
            if not np.isfinite(weights @ weights):
                raise overflow("gradients")
        return weights

    def certified(self, gap: float) -> float:
        """A gap that is a number."""
        if not np.isfinite(gap):
            raise overflow("terms of the gap")
        return gap

    def spread(self) -> Spread:
        """The approximate spread of features over a sample of rows; counted as one product."""
        self.n_products += 1
        return self.design.spread(self.loss.restored(self.loss.row_weights()))


@singledispatch
def hinge_design(X: Any, loss: HingeLoss) -> ProductDesign:
    """The products with X that suit a loss; rows in parts register a design of their own."""
    return MatrixDesign(X, reference=loss.reference())


def overflow(what: str) -> DataError:
    return DataError(f"The {what} overflow: X has entries too large to learn from; scale the features.")
