"""A part of the rows, prepared for the hinge by the process that holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankwise.cluster.handles import Recipe
from rankwise.cluster.parted_products import difference
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import group_rows
from rankwise.svm.hinge import QueryHinge, label_differences, pair_total
from rankwise.svm.pair_hinge import PairHinge
from rankwise.svm.risk import SquaredHingeValue, overflow
from rankwise.svm.rows_risk import HingeLoss, RowsRisk
from rankwise.types import Floats, Ints, Matrix, Weighting
from rankwise.validation import Problem


class RowScores(NamedTuple):
    """The scores of a part: those of whole queries in the order of their loss, and those of split ones."""

    whole: Floats
    split: Floats


@dataclass(frozen=True)
class Request:
    """What a message says about directions: weights that a process may lack, and which ones still exist."""

    weights: dict[int, Floats]
    alive: frozenset[int]


@dataclass(frozen=True, eq=False)
class SplitRows:
    """The rows of split queries in a part.

    Attributes
    ----------
    X : Matrix
    query : Ints
        The number of each row's query among those of this part.
    offsets : Matrix or None, shape (n_queries, n)
        What the products leave out of the rows of a query, less a row that all of its parts share. None if
        no part leaves out anything.
    """

    X: Matrix
    query: Ints
    offsets: Any = None

    @cached_property
    def design(self) -> MatrixDesign:
        return MatrixDesign(self.X, reference=group_rows(self.query, len(self.query)).first_rows())

    def scores(self, weights: Floats) -> Floats:
        scores = self.design.scores(weights)
        return scores if self.offsets is None else scores + (self.offsets @ weights)[self.query]

    def adjoint(self, gradient: Floats) -> Floats:
        slope = self.design.adjoint(gradient)
        if self.offsets is None:
            return slope
        return np.asarray(slope + self.offsets.T @ np.bincount(self.query, gradient, self.offsets.shape[0]))

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("X", "query", "offsets")}  # without compiled operators


class ScoreCache:
    """What a process has computed of its part: scores of directions, and the last squared hinge.

    It belongs to the process rather than to the part: a copy that is sent elsewhere starts empty.
    """

    def __init__(self) -> None:
        self.scores: dict[int, RowScores] = {}
        self.squared: tuple[Recipe, SquaredHingeValue[Floats, Floats]] | None = None

    def __reduce__(self) -> tuple[type[ScoreCache], tuple[()]]:
        return ScoreCache, ()

    @property
    def nbytes(self) -> int:
        return sum(scores.whole.nbytes + scores.split.nbytes for scores in self.scores.values())


@dataclass(frozen=True, eq=False)
class HingePart:
    """A part prepared for the hinge.

    Attributes
    ----------
    X : Matrix
    loss : HingeLoss or None
        On the pairs that lie here; None if there are none.
    split : SplitRows or None
    cache : ScoreCache
    """

    X: Matrix
    loss: HingeLoss | None
    split: SplitRows | None
    cache: ScoreCache = field(default_factory=ScoreCache)

    @cached_property
    def whole(self) -> RowsRisk:
        """The risk of the pairs that lie here, if there are any."""
        assert self.loss is not None
        return self.loss.risk(self.X)

    def learn(self, request: Request, keys: set[int]) -> frozenset[int]:
        """Compute the scores of directions whose weights are there; return those that are still missing."""
        known = {key: scores for key, scores in self.cache.scores.items() if key in request.alive}
        self.cache.scores = known
        for key in keys - known.keys() & request.weights.keys():
            known[key] = self._product(request.weights[key])
        return frozenset(keys - known.keys())

    def _product(self, weights: Floats) -> RowScores:
        whole = split = np.zeros(0)
        if self.loss is not None:
            whole = self.whole.scores(weights)
        if self.split is not None:
            split = self.split.scores(weights)
            if not np.isfinite(split).all():
                raise overflow("scores")
        return RowScores(whole, split)

    def scores(self, recipe: Recipe) -> RowScores:
        if not recipe.terms:
            n_whole = 0 if self.loss is None else self.loss.n_rows
            return RowScores(np.zeros(n_whole), np.zeros(0 if self.split is None else len(self.split.query)))
        terms = [(factor, self.cache.scores[key]) for factor, key in recipe.terms]
        whole, split = (sum(factor * kind[place] for factor, kind in terms) for place in (0, 1))
        return RowScores(whole, split)  # type: ignore[arg-type]

    def squared_value(self, recipe: Recipe) -> SquaredHingeValue[Floats, Floats]:
        """The squared hinge of the pairs that lie here; that of the last scores is kept."""
        kept = self.cache.squared
        if kept is None or kept[0] != recipe:
            assert self.loss is not None
            kept = self.cache.squared = recipe, self.loss.squared_value(self.scores(recipe).whole)
        return kept[1]

    def table(self, keys: Sequence[int], place: int) -> Floats:
        """Ones and the scores of some directions, one row each; of whole queries (0) or of split ones (1)."""
        rows = [self.cache.scores[key][place] for key in keys]
        return np.vstack([np.ones((1, len(rows[0]))), *rows]) if rows else np.ones((1, 0))

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("X", "loss", "split", "cache")}  # not compiled operators

    def __sizeof__(self) -> int:
        """The rows are those of the part."""
        return self.cache.nbytes


@dataclass(frozen=True, eq=False)
class Outline:
    """What others have to know of a part: the weight of its pairs, and the rows of its split queries.

    Attributes
    ----------
    total : float
        ``Σ c_q N_q`` over whole queries.
    query : Ints
        For each row of a split query, the position of that query among the split ones.
    y, weight : Floats
        Labels and weights of these rows.
    leaves_out : bool
        Whether products with these rows leave out anything.
    """

    total: float
    query: Ints
    y: Floats
    weight: Floats
    leaves_out: bool


def outline_of(problem: Problem, position: Ints, weighting: Weighting) -> Outline:
    whole, split = _kinds_of_rows(problem, position)
    total = pair_total(label_differences(problem, weighting, whole)[0]) if len(whole) else 0.0
    query = position[problem.queries.query_of_row()[split]]
    weight = np.ones(len(split)) if problem.row_weight is None else problem.row_weight[split]
    leaves_out = len(split) > 0 and _split_rows(problem, position, split).design.leaves_out
    return Outline(total, query, problem.y[split], weight, leaves_out)


def query_part(
    problem: Problem, own: tuple[Ints, Matrix | None], weighting: Weighting, total: float
) -> HingePart:
    """Prepare a part for the pairs of its queries, given the rows that split ones are measured from."""
    position, origins = own
    whole, split = _kinds_of_rows(problem, position)
    loss, rows = None, None
    if len(whole):
        differences, kept = label_differences(problem, weighting, whole)
        loss = QueryHinge(differences, kept, len(problem.y), total=total)
    if len(split):
        rows = _split_rows(problem, position, split)
        if origins is not None:
            here, first = np.unique(position[problem.queries.query_of_row()[split]], return_index=True)
            place = np.searchsorted(np.unique(position[position >= 0]), here)
            offsets = difference(rows.design.subtracted(first), origins[place])
            rows = SplitRows(rows.X, rows.query, offsets)
    return HingePart(problem.X, loss, rows)


def pair_part(problem: Problem, pairs: Pairs, total: float) -> HingePart:
    """Prepare a part for explicit pairs of its rows."""
    return HingePart(problem.X, PairHinge(len(problem.y), pairs, total) if len(pairs) else None, None)


def _kinds_of_rows(problem: Problem, position: Ints) -> tuple[Ints, Ints]:
    """The rows of positive weight in whole queries, and in split ones."""
    counts: Any = True if problem.row_weight is None else problem.row_weight > 0.0
    is_split = position[problem.queries.query_of_row()] >= 0
    return np.flatnonzero(~is_split & counts), np.flatnonzero(is_split & counts)


def _split_rows(problem: Problem, position: Ints, rows: Ints) -> SplitRows:
    X = problem.X if len(rows) == len(problem.y) else problem.X[rows]
    query = np.unique(position[problem.queries.query_of_row()[rows]], return_inverse=True)[1]
    return SplitRows(X, query)
