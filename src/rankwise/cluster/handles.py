"""Scores of rows that other processes hold, as handles.

Scores are linear in weights, so a handle is a combination of *directions*: weights here, whose scores the
processes keep for as long as the direction exists. Adding and scaling handles moves no data. A process that
lacks the scores of a direction, because it is new there, asks for the weights and computes them again with
the same bits: what it keeps is a cache.

A gradient over rows is needed only in products with scores, ``g · Xw = (Xᵀg) · w``. So ``Xᵀg``, n numbers,
stands for it, and a product of the two is one of weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwise.operators.spread import Spread
from rankwise.svm.row_vectors import ArrayStack
from rankwise.types import Floats

if TYPE_CHECKING:
    from rankwise.cluster.hinge import PartedHinge

# A combination of more directions becomes a direction of its own: processes keep one array for each.
MOST_TERMS = 8

_keys = count()


class Direction:
    """Weights whose scores the processes keep."""

    def __init__(self, weights: Floats) -> None:
        self.key, self.weights = next(_keys), weights


@dataclass(frozen=True)
class Recipe:
    """What travels in place of a handle: factors of directions, by their keys."""

    terms: tuple[tuple[float, int], ...]

    @property
    def keys(self) -> set[int]:
        return {key for _, key in self.terms}


class ScoreHandle:
    """The scores of some weights.

    Parameters
    ----------
    n_features : int
    terms : iterable of (float, Direction)
        No terms are the scores of weights that are all 0.
    """

    # NumPy leaves products with arrays and its own numbers to this class.
    __array_ufunc__: ClassVar[None] = None

    def __init__(self, n_features: int, terms: Iterable[tuple[float, Direction]] = ()) -> None:
        self.n_features, self.terms = n_features, tuple(terms)

    @classmethod
    def of(cls, weights: Floats) -> ScoreHandle:
        return cls(len(weights), [(1.0, Direction(weights))])

    @property
    def weights(self) -> Floats:
        return sum((factor * one.weights for factor, one in self.terms), start=np.zeros(self.n_features))

    @property
    def recipe(self) -> Recipe:
        return Recipe(tuple((factor, one.key) for factor, one in self.terms))

    def __add__(self, other: ScoreHandle) -> ScoreHandle:
        factors: dict[Direction, float] = {}
        for factor, one in (*self.terms, *other.terms):
            factors[one] = factors.get(one, 0.0) + factor
        total = ScoreHandle(self.n_features, ((factor, one) for one, factor in factors.items()))
        return total if len(factors) <= MOST_TERMS else ScoreHandle.of(total.weights)

    def __mul__(self, factor: float) -> ScoreHandle:
        return ScoreHandle(self.n_features, ((float(factor) * own, one) for own, one in self.terms))

    __rmul__ = __mul__

    def __rmatmul__(self, slopes: Floats) -> Floats:
        """The product with a gradient, or with each of several."""
        return np.asarray(slopes @ self.weights)


@dataclass(frozen=True)
class Density:
    """The density of near-margin pairs at some scores, which is computed where it is needed."""

    scores: ScoreHandle


@dataclass(frozen=True)
class RowWeights:
    """The total weight of the pairs of each row."""

    loss: PartedHinge


class HandleVectors:
    """The row vectors of a loss on rows in parts."""

    def __init__(self, loss: PartedHinge) -> None:
        self._loss = loss
        self.n_rows, self._n_features = loss.shape

    def zeros(self) -> ScoreHandle:
        return ScoreHandle(self._n_features)

    def are_finite(self, scores: ScoreHandle) -> bool:
        return True  # checked where they are computed

    def score_stack(self) -> DirectionStack:
        return DirectionStack(self._loss)

    def gradient_stack(self) -> ArrayStack:
        return ArrayStack.of_zeros(self._n_features)


class DirectionStack:
    """A stack of directions."""

    def __init__(self, loss: PartedHinge) -> None:
        self._loss, self._directions = loss, list[Direction]()
        self._weights = ArrayStack(loss.shape[1])

    def append(self, vector: ScoreHandle) -> None:
        ((_, direction),) = vector.terms
        self._directions.append(direction)
        self._weights.append(direction.weights)

    def combination(self, shares: Floats) -> ScoreHandle:
        return ScoreHandle.of(self._weights.combination(shares))

    def products(self, vector: Floats) -> Floats:
        return self._weights.products(vector)

    def moments(self, weight: Density) -> tuple[float, Floats, Floats]:
        table = self._loss.density_products(weight.scores, self._directions)
        return float(table[0, 0]), table[0, 1:], table[1:, 1:]

    def keep(self, index: list[int]) -> None:
        self._directions = [self._directions[place] for place in index]
        self._weights.keep(index)

    def rotate(self, combinations: Floats) -> None:
        self._weights.rotate(combinations)
        self._directions = [Direction(weights) for weights in self._weights.rows.copy()]


class HandleDesign:
    """Products of rows in parts, which the loss computes where their results are needed.

    Parameters
    ----------
    loss : PartedHinge
    """

    def __init__(self, loss: PartedHinge) -> None:
        self._loss = loss
        self.shape = loss.shape

    def scores(self, weights: Floats) -> ScoreHandle:
        return ScoreHandle.of(weights)

    def adjoint(self, rows: Floats) -> Floats:
        return rows

    def row_length(self) -> float:
        return self._loss.row_length()

    def spread(self, weight: RowWeights) -> Spread:
        return weight.loss.spread()
