"""Scores of rows that other processes hold, as handles.

Scores are linear in weights, so a handle is a combination of *directions*: weights here, whose scores the
processes keep for as long as the direction exists. Adding and scaling handles moves no data. A process that
lacks the scores of a direction, because it is new there, asks for the weights and computes them again with
the same bits: what it keeps is a cache.

A gradient over rows is needed only in products with scores, ``g · Xw = (Xᵀg) · w``. So ``Xᵀg``, n numbers,
stands for it, and a product of the two is one of weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

import numpy as np

from rankwise.svm.risk import Explored
from rankwise.svm.rows_risk import ArrayStack
from rankwise.types import Floats

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


# Products of ones and scores of directions, weighted by the density of near-margin pairs at some scores.
DensityProducts: TypeAlias = Callable[[ScoreHandle, Sequence[Direction]], Floats]


class ExploredParts(Explored[ScoreHandle, Floats]):
    """Directions whose scores processes keep, and slopes of planes.

    Parameters
    ----------
    n_features : int
    density_products : callable
    """

    def __init__(self, n_features: int, density_products: DensityProducts) -> None:
        self._density_products, self._directions = density_products, list[Direction]()
        self._weights, self._slopes = ArrayStack(n_features), ArrayStack.of_zeros(n_features)

    def add_direction(self, scores: ScoreHandle) -> Floats:
        ((_, direction),) = scores.terms
        self._directions.append(direction)
        self._weights.append(direction.weights)
        return self._slopes.products(direction.weights)

    def add_plane(self, gradient: Floats) -> Floats:
        self._slopes.append(gradient)
        return self._weights.products(gradient)

    def scores(self, z: Floats) -> ScoreHandle:
        return ScoreHandle.of(self._weights.combination(z))

    def gradient(self, shares: Floats) -> Floats:
        return self._slopes.combination(shares)

    def near_margin(self, scores: ScoreHandle) -> tuple[float, Floats, Floats]:
        table = self._density_products(scores, self._directions)
        return float(table[0, 0]), table[0, 1:], table[1:, 1:]

    def keep_planes(self, index: list[int]) -> None:
        self._slopes.keep(index)

    def rotate(self, combinations: Floats) -> None:
        self._weights.rotate(combinations)
        self._directions = [Direction(weights) for weights in self._weights.rows.copy()]
