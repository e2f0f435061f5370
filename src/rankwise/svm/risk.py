"""The risk of RankSVM as a function of weights: all that its solvers know of the rows.

A solver adds and scales scores, multiplies them by gradients, and keeps some of each, but never looks inside:
the risk owns these vectors and says what they are. Where the rows are in this process, both are arrays
(`rows_risk`); where they are not, scores are handles and gradients are slopes (`cluster/parted_hinge.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from rankwise.errors import DataError
from rankwise.operators.spread import Spread
from rankwise.types import Floats

# What scores, and gradients with respect to scores, are.
S = TypeVar("S")
G = TypeVar("G")

# An allowance for the rounding of a sum, relative to its terms.
ROUNDING = 16.0 * float(np.finfo(np.float64).eps)
# Squares of rows are summed and scaled, for which this leaves some room.
LONGEST_ROW = 1e145


@dataclass(frozen=True)
class HingeValue(Generic[G]):
    """The risk at given scores, and the plane ``offset + gradient · f`` that touches it there."""

    risk: float
    gradient: G
    offset: float


@dataclass(frozen=True)
class SquaredHingeValue(Generic[S, G]):
    """The squared risk at given scores, its gradient, and its generalised Hessian as a product.

    `active` is the total weight of the active pairs, which determine all three; `gradient_sum` is the sum of
    the gradient's absolute values by row, which bounds its rounding errors.
    """

    risk: float
    gradient: G
    active: float
    gradient_sum: float
    curvature: Callable[[S], G]


class Explored(ABC, Generic[S, G]):
    """Scores of explored directions and gradients of planes, each in the order in which they were added."""

    @abstractmethod
    def add_direction(self, scores: S) -> Floats:
        """Add the scores of a direction; return the slopes of all planes along it."""

    @abstractmethod
    def add_plane(self, gradient: G) -> Floats:
        """Add the gradient of a plane; return its slopes along all directions."""

    @abstractmethod
    def scores(self, z: Floats) -> S:
        """``Σ z_k scores_k``."""

    @abstractmethod
    def gradient(self, shares: Floats) -> G:
        """``Σ share_k gradient_k``."""

    @abstractmethod
    def near_margin(self, scores: S) -> tuple[float, Floats, Floats]:
        """``Σ p``, ``Σ p v_k`` and ``Σ p v_k v_l`` over rows, for the scores v of all directions.

        p is the density of near-margin pairs at the given scores, `HingeLoss.margin_density`.
        """

    @abstractmethod
    def keep_planes(self, index: list[int]) -> None:
        """Drop all planes but these."""

    @abstractmethod
    def rotate(self, combinations: Floats) -> None:
        """Replace the directions by combinations of them."""


class Risk(ABC, Generic[S, G]):
    """``w ↦ R(Xw)``, the hinge or its square on differences of scores.

    Attributes
    ----------
    shape : tuple of int
        The number of rows and of features.
    """

    shape: tuple[int, int]

    @abstractmethod
    def zeros(self) -> S:
        """The scores of weights that are all 0."""

    @abstractmethod
    def scores(self, weights: Floats) -> S:
        """``Xw``; O(m s). An error if they overflow."""

    @abstractmethod
    def moved(self, scores: S, t: float, moves: S) -> S:
        """``scores + t moves``."""

    @abstractmethod
    def value(self, scores: S) -> HingeValue[G]: ...

    @abstractmethod
    def squared_value(self, scores: S) -> SquaredHingeValue[S, G]: ...

    @abstractmethod
    def along(self, gradient: G, moves: S) -> float:
        """``gradient · moves``: the slope along a line."""

    @abstractmethod
    def slope(self, gradient: G) -> Floats:
        """``Xᵀ gradient``: the slope for weights; O(m s). An error if it overflows."""

    @abstractmethod
    def explored(self) -> Explored[S, G]:
        """No directions, and one plane, whose gradient is 0."""

    @abstractmethod
    def row_length(self) -> float:
        """About the norm of the longest row: how much products magnify rounding errors."""

    @abstractmethod
    def spread(self) -> Spread:
        """The approximate spread of features over a sample of rows."""

    @abstractmethod
    def with_loss(self, loss: Any) -> Self:
        """The risk of another loss on the same rows."""


# For those who pass a risk on.
AnyRisk: TypeAlias = Risk[Any, Any]


class Hinge(Protocol):
    """The hinge on pairs of rows, wherever they are."""

    def risk(self, X: Any) -> AnyRisk:
        """The risk of linear functions of these rows."""
        ...


class CountedProducts(Generic[S, G]):
    """Counts products with X, and allows for their rounding."""

    def __init__(self, risk: Risk[S, G]) -> None:
        self.risk, self.n_products = risk, 0

    @cached_property
    def row_length(self) -> float:
        length = self.risk.row_length()
        if not length <= LONGEST_ROW:
            raise overflow("squares of the features")
        return length

    def rounding(self, w: Floats) -> float:
        """An allowance for the rounding of scores and of the risk, which they move by at most as much."""
        return ROUNDING * self.row_length * float(np.linalg.norm(w))

    def scores(self, w: Floats) -> S:
        self.n_products += 1
        return self.risk.scores(w)

    def slope(self, gradient: G) -> Floats:
        self.n_products += 1
        return self.risk.slope(gradient)

    def certified(self, gap: float) -> float:
        """A gap that is a number."""
        if not np.isfinite(gap):
            raise overflow("terms of the gap")
        return gap

    def spread(self) -> Spread:
        """Counted as one product."""
        self.n_products += 1
        return self.risk.spread()


def checked_slope(weights: Floats) -> Floats:
    """A slope whose square is a number."""
    with np.errstate(over="ignore"):
        if not np.isfinite(weights @ weights):
            raise overflow("gradients")
    return weights


def overflow(what: str) -> DataError:
    return DataError(f"The {what} overflow: X has entries too large to learn from; scale the features.")
