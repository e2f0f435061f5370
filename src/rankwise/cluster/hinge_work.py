"""What a process does for the hinge on its part of the rows.

The pairs of whole queries, and explicit pairs, are counted here. The rows of split queries send their scores
and get the gradient back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.cluster.handles import Recipe
from rankwise.cluster.hinge_part import HingePart, Request
from rankwise.operators.spread import ColumnSums
from rankwise.types import Floats


@dataclass(frozen=True)
class Reply:
    """A sum over parts and what each part has to say or, instead of both, the directions that some lack."""

    total: Any
    notes: tuple[Any, ...] = ()
    missing: frozenset[int] = frozenset()

    def __add__(self, other: Reply) -> Reply:
        missing = self.missing | other.missing
        if missing:
            return Reply(None, (), missing)
        return Reply(self.total + other.total, self.notes + other.notes)


def answered(
    part: HingePart, own: Any, request: Request, keys: set[int], work: Callable[..., Reply], *arguments: Any
) -> Reply:
    """The reply of some work that needs the scores of directions, or which of those it lacks."""
    missing = part.learn(request, keys)
    return Reply(None, (), missing) if missing else work(part, own, *arguments)


def value_at(part: HingePart, own: None, recipe: Recipe, n_features: int) -> Reply:
    """Risk, offset and slope of whole queries; the scores of split ones."""
    scores, packed = part.scores(recipe), np.zeros(2 + n_features)
    if part.loss is not None:
        value = part.loss.value(scores.whole)
        packed[:2] = value.risk, value.offset
        packed[2:] = part.whole.slope(value.gradient)
    return Reply(packed, (scores.split,))


def squared_value_at(part: HingePart, own: None, recipe: Recipe, n_features: int) -> Reply:
    """Risk, weight of active pairs, sum of the gradient's sizes, and slope; the scores of split queries."""
    packed = np.zeros(3 + n_features)
    if part.loss is not None:
        value = part.squared_value(recipe)
        packed[:3] = value.risk, value.active, value.gradient_sum
        packed[3:] = part.whole.slope(value.gradient)
    return Reply(packed, (part.scores(recipe).split,))


def curved(part: HingePart, own: None, at: Recipe, recipe: Recipe, n_features: int) -> Reply:
    """The product of the squared hinge's Hessian at some scores with others, for whole queries; the other
    scores of split ones."""
    scores, slope = part.scores(recipe), np.zeros(n_features)
    if part.loss is not None:
        slope = part.whole.slope(part.squared_value(at).curvature(scores.whole))
    return Reply(slope, (scores.split,))


def density_products(part: HingePart, own: None, at: Recipe, keys: Sequence[int]) -> Reply:
    """Products of ones and scores of directions, weighted by the density of near-margin pairs."""
    scores, table = part.scores(at), part.table(keys, 0)
    density = np.zeros(table.shape[1]) if part.loss is None else part.loss.margin_density(scores.whole)
    return Reply((table * density) @ table.T, (scores.split,))


def split_density_products(part: HingePart, density: Floats, keys: Sequence[int]) -> Reply:
    """The same for the rows of split queries, whose density is known."""
    table = part.table(keys, 1)
    return Reply((table * density) @ table.T)


def split_slope(part: HingePart, gradient: Floats, n_features: int) -> Floats:
    """What the rows of split queries add to a slope."""
    return np.zeros(n_features) if part.split is None else part.split.adjoint(gradient)


def column_sums_of(part: HingePart, split_weight: Floats, shape: tuple[int, int]) -> ColumnSums:
    """What the rows of a part add to the sums behind the spread of columns."""
    total = ColumnSums.none(shape)
    if part.loss is not None:
        weight = part.loss.restored(part.loss.row_weights())
        total = total + part.whole.design.column_sums(weight, shape)
    return total if part.split is None else total + part.split.design.column_sums(split_weight, shape)


def longest_row(part: HingePart) -> float:
    """About the norm of the longest row that is compared with others."""
    whole = 0.0 if part.loss is None else part.whole.row_length()
    return whole if part.split is None else max(whole, part.split.design.row_length())
