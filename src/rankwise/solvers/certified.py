"""What the solvers of ``R(Xw) + alpha ‖w‖²`` have in common: a model with a proof of how good it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rankwise.errors import DataError
from rankwise.losses.hinge import HingeLoss
from rankwise.operators.design import Design
from rankwise.types import Floats


@dataclass(frozen=True)
class Progress:
    """What a solver knows after an iteration."""

    n_iter: int
    objective: float
    gap: float
    n_products: int


OnIteration: TypeAlias = Callable[[Progress], object]


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

    def variances(self) -> Floats:
        """About how much each feature varies, over a sample of rows; counted as one product all the same."""
        self.n_products += 1
        return self.design.variances(self.loss.restored(self.loss.row_weights()))


def _overflow(what: str) -> DataError:
    return DataError(f"The {what} overflow: X has entries too large to learn from; scale its features.")
