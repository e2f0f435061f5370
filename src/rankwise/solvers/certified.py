"""What the solvers of ``R(Xw) + alpha ‖w‖²`` have in common: a model with a proof of how good it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from rankwise.errors import DataError
from rankwise.losses.hinge import HingeLoss
from rankwise.operators.design import Design
from rankwise.operators.spread import Spread
from rankwise.solvers.surface import Validation
from rankwise.types import Floats


@dataclass(frozen=True)
class Progress:
    """What a solver knows after an iteration."""

    n_iter: int
    coef: Floats
    objective: float
    gap: float
    n_products: int


# Called after every iteration; whether to stop.
OnIteration: TypeAlias = Callable[[Progress], bool | None]


@dataclass(frozen=True)
class Certified:
    """A model and the proof of how good it is.

    Attributes
    ----------
    coef : Floats, shape (n,)
    objective : float
        ``R(Xw) + alpha ‖w‖²`` at `coef`.
    gap : float
        `objective` minus a proven lower bound of the minimum, with an allowance for rounding.
    resolution : float
        That allowance: a smaller gap cannot be certified in double precision.
    n_iter : int
    n_products : int
        Products with X or its transpose.
    converged : bool
        Whether the gap is at most the tolerance.
    interrupted : bool
        Whether the user stopped it (KeyboardInterrupt); `coef` is the best so far.
    """

    coef: Floats
    objective: float
    gap: float
    resolution: float
    n_iter: int
    n_products: int
    converged: bool
    interrupted: bool


class Judge:
    """Judges the iterates of a solver on held-out rows, as its `on_iteration`.

    Parameters
    ----------
    validation : Validation
    patience : int or None
        After how many iterates without a better one to stop; None never does.

    Attributes
    ----------
    curve : list of float
        The measure of each iterate.
    best_iter : int
        The first of the best, counted from 1.
    stopped : bool
    """

    def __init__(self, validation: Validation, patience: int | None) -> None:
        self._validation, self._patience = validation, patience
        self._best: Progress | None = None
        self.curve: list[float] = []
        self.best_iter = 0
        self.stopped = False

    def __call__(self, progress: Progress) -> bool:
        self.curve.append(self._validation.measure(self._validation.scores(progress.coef)))
        if self._best is None or self._validation.improves(self.curve[-1], self.curve[self.best_iter - 1]):
            self._best, self.best_iter = progress, len(self.curve)
        self.stopped = self._patience is not None and len(self.curve) - self.best_iter >= self._patience
        return self.stopped

    def kept(self, result: Certified) -> Certified:
        """The best iterate, with the bound of the minimum that was proven by the end."""
        if self._best is None:
            return result
        bound = result.objective - result.gap
        best = self._best
        return replace(result, coef=best.coef, objective=best.objective, gap=best.objective - bound)


class LossRows:
    """Products with X for a loss that keeps rows in its own order, counted."""

    def __init__(self, design: Design, loss: HingeLoss) -> None:
        self.design, self.loss = design, loss
        self.n_products = 0

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape

    def scores(self, w: Floats) -> Floats:
        self.n_products += 1
        scores = self.loss.arranged(self.design.scores(w))
        if not np.isfinite(scores).all():
            raise _overflow("scores")
        return scores

    def adjoint(self, rows: Floats) -> Floats:
        self.n_products += 1
        weights = self.design.adjoint(self.loss.restored(rows))
        with np.errstate(over="ignore"):
            if not np.isfinite(weights @ weights):
                raise _overflow("gradients")
        return weights

    def spread(self) -> Spread:
        """About how features vary, over a sample of rows; counted as one product."""
        self.n_products += 1
        return self.design.spread(self.loss.restored(self.loss.row_weights()))


def _overflow(what: str) -> DataError:
    return DataError(f"The {what} overflow: X has entries too large to learn from; scale its features.")
