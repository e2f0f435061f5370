"""The hinge on rows in parts: the risk that the solvers minimize, with handles for scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from rankwise.cluster.engine import Parts
from rankwise.cluster.handles import Direction, ExploredParts, ScoreHandle
from rankwise.cluster.hinge_part import Outline, Request, outline_of, pair_part, query_part
from rankwise.cluster.hinge_work import (
    Reply,
    answered,
    column_sums_of,
    curved,
    density_products,
    longest_row,
    split_density_products,
    split_slope,
    squared_value_at,
    value_at,
)
from rankwise.cluster.parted_pairs import PartedPairs
from rankwise.cluster.parted_products import origins_of
from rankwise.cluster.problem import PartedProblem, PartedRows
from rankwise.operators.spread import Spread
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import group_rows
from rankwise.svm.hinge import QueryHinge, pair_total
from rankwise.svm.risk import HingeValue, Risk, SquaredHingeValue, checked_slope
from rankwise.types import Floats, Ties, Weighting


class SplitQueries:
    """The rows of split queries, as far as their pairs are concerned: labels and weights.

    Parameters
    ----------
    outlines : sequence of Outline
        Of all parts.
    weighting : Weighting
    """

    def __init__(self, outlines: Sequence[Outline], weighting: Weighting) -> None:
        query, y, weight = (
            np.concatenate([getattr(one, name) for one in outlines]) for name in ("query", "y", "weight")
        )
        self._ends = np.cumsum([len(one.y) for one in outlines])[:-1]
        self._differences = QueryDifferences(
            group_rows(query, len(y)), y, ties=Ties.DROP, weighting=weighting, row_weight=weight
        )
        self.total = pair_total(self._differences)
        self.loss: QueryHinge

    def weigh(self, total: float) -> None:
        """Create the loss, given the weight of the pairs of all queries."""
        self.loss = QueryHinge(self._differences, total=total)

    def gathered(self, parts: Sequence[Floats]) -> Floats:
        """The scores of all parts in the order of the loss."""
        return self.loss.arranged(np.concatenate(parts))

    def returned(self, rows: Floats) -> list[Floats]:
        """What each part gets back."""
        return np.split(self.loss.restored(rows), self._ends)


class PartedHinge(Risk[ScoreHandle, Floats]):
    """The hinge on rows in parts, a loss and its risk in one; gradients are slopes for weights.

    Parameters
    ----------
    parts : Parts of HingePart
    shape : tuple of int
        The number of rows and features of all parts.
    split : SplitQueries or None

    Notes
    -----
    A value takes one message to each process, and n numbers in each direction. If queries are split, their
    scores come back as well, and a second message takes the gradient there: 16 bytes per row.
    """

    def __init__(self, parts: Parts, shape: tuple[int, int], split: SplitQueries | None) -> None:
        self.parts, self.shape = parts, shape
        self._split = split
        self._known: WeakValueDictionary[int, Direction] = WeakValueDictionary()

    def risk(self, X: PartedRows) -> PartedHinge:
        """Itself: the parts hold their rows."""
        return self

    def with_loss(self, loss: PartedHinge) -> PartedHinge:
        return loss

    def zeros(self) -> ScoreHandle:
        return ScoreHandle(self.shape[1])

    def scores(self, weights: Floats) -> ScoreHandle:
        """A handle; processes check the scores when they compute them."""
        return ScoreHandle.of(weights)

    def moved(self, scores: ScoreHandle, t: float, moves: ScoreHandle) -> ScoreHandle:
        return scores + moves * t

    def along(self, gradient: Floats, moves: ScoreHandle) -> float:
        return float(gradient @ moves.weights)

    def slope(self, gradient: Floats) -> Floats:
        return checked_slope(gradient)

    def explored(self) -> ExploredParts:
        return ExploredParts(self.shape[1], self._density_products)

    def value(self, scores: ScoreHandle) -> HingeValue[Floats]:
        found = self._ask(value_at, [scores], scores.recipe, self.shape[1])
        risk, offset, slope = float(found.total[0]), float(found.total[1]), found.total[2:]
        if self._split is not None:
            split = self._split.loss.value(self._split.gathered(found.notes))
            risk, offset = risk + split.risk, offset + split.offset
            slope = slope + self._slope_of_split(split.gradient)
        return HingeValue(risk, slope, offset)

    def squared_value(self, scores: ScoreHandle) -> SquaredHingeValue[ScoreHandle, Floats]:
        found, split = self._ask(squared_value_at, [scores], scores.recipe, self.shape[1]), None
        risk, active, size = map(float, found.total[:3])
        slope = found.total[3:]
        if self._split is not None:
            split = self._split.loss.squared_value(self._split.gathered(found.notes))
            risk, active, size = risk + split.risk, active + split.active, size + split.gradient_sum
            slope = slope + self._slope_of_split(split.gradient)

        def curvature(other: ScoreHandle) -> Floats:
            found = self._ask(curved, [scores, other], scores.recipe, other.recipe, self.shape[1])
            if self._split is None or split is None:
                return np.asarray(found.total)
            rows = split.curvature(self._split.gathered(found.notes))
            return np.asarray(found.total + self._slope_of_split(rows))

        return SquaredHingeValue(risk, slope, active, size, curvature)

    def _density_products(self, scores: ScoreHandle, directions: Sequence[Direction]) -> Floats:
        """Products of ones and scores of directions, weighted by the density of near-margin pairs."""
        keys = [one.key for one in directions]
        needed = [scores, *(ScoreHandle(self.shape[1], [(1.0, one)]) for one in directions)]
        found = self._ask(density_products, needed, scores.recipe, keys)
        if self._split is None:
            return np.asarray(found.total)
        density = self._split.loss.margin_density(self._split.gathered(found.notes))
        own = self._split.returned(density)
        return np.asarray(found.total + self._ask(split_density_products, needed, keys, own=own).total)

    def spread(self) -> Spread:
        """The spread of columns over a sample of the rows."""
        weights: list[Any] = [None] * self.parts.n_parts
        if self._split is not None:
            weights = self._split.returned(self._split.loss.row_weights())
        return self.parts.total(column_sums_of, self.shape, own=weights).spread()

    def row_length(self) -> float:
        return self._row_length

    @cached_property
    def _row_length(self) -> float:
        return max(self.parts.each(longest_row))

    def _slope_of_split(self, gradient: Floats) -> Floats:
        assert self._split is not None
        own = self._split.returned(gradient)
        return self.parts.total(split_slope, self.shape[1], own=own)

    def _ask(
        self,
        work: Callable[..., Reply],
        needed: Sequence[ScoreHandle],
        *arguments: Any,
        own: Sequence[Any] | None = None,
    ) -> Reply:
        """The sum of some work over the parts, which need the scores of these handles.

        The weights of new directions go along. A process that was not there when older ones were sent lacks
        them, and asks.
        """
        directions = {one.key: one for handle in needed for _, one in handle.terms}
        own = [None] * self.parts.n_parts if own is None else own
        sent = {key: one.weights for key, one in directions.items() if key not in self._known}
        while True:
            self._known.update(directions)
            request = Request(sent, frozenset(self._known))
            reply = self.parts.total(answered, request, set(directions), work, *arguments, own=own)
            if not reply.missing:
                return reply
            sent = {key: directions[key].weights for key in reply.missing}


def parted_query_hinge(problem: PartedProblem, weighting: Weighting) -> PartedHinge:
    problem.check_labels_differ()
    positions = problem.queries.positions
    outlines = problem.parts.each(outline_of, weighting, own=positions)
    split, origins = None, [None] * len(positions)
    total = sum(one.total for one in outlines)
    if any(len(one.y) for one in outlines):
        split = SplitQueries(outlines, weighting)
        total += split.total
        split.weigh(total)
        if any(one.leaves_out for one in outlines):
            origins = origins_of(problem)  # type: ignore[assignment]
    own = list(zip(positions, origins, strict=True))
    return PartedHinge(problem.parts.derived(query_part, weighting, total, own=own), problem.X.shape, split)


def parted_pair_hinge(pairs: PartedPairs, n_rows: int) -> PartedHinge:
    parts = pairs.parts.derived(pair_part, pairs.total_weight(), own=pairs.by_part)
    return PartedHinge(parts, (n_rows, pairs.n_features), None)
