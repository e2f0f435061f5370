"""Scores of rows in parts, and their measures: whole queries are measured where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwise.cluster.engine import Parts
from rankwise.cluster.problem import ONE_RANKING, PartedProblem
from rankwise.errors import ParameterError
from rankwise.metrics.evaluation import Evaluation, QueryValues, evaluation_of
from rankwise.metrics.measure import Measure
from rankwise.model.model import Model
from rankwise.preferences.queries import group_rows, label_array
from rankwise.types import Bools, Floats, Ints
from rankwise.validation import Problem


@dataclass(frozen=True, eq=False)
class PartedScores:
    """The scores of a model, computed part by part when they are needed.

    Attributes
    ----------
    parts : Parts of Problem
    model : Model
    """

    parts: Parts
    model: Model

    def by_part(self) -> list[Floats]:
        """The scores of each part, in the order of its rows."""
        return self.parts.each(scores_of, self.model)

    def compute(self) -> Floats:
        """The scores of all rows, in the order of the parts and of the rows in them."""
        return np.concatenate(self.by_part())

    def __repr__(self) -> str:
        return f"PartedScores({self.model.class_name}, {self.parts.n_parts:,} parts)"


def scores_of(problem: Problem, model: Model) -> Floats:
    """The scores of a part."""
    return model.predict(problem.X)


@dataclass(frozen=True, eq=False)
class Measured:
    """The whole queries of a part, and the rows of its split queries.

    Attributes
    ----------
    labels : list
        The labels of all queries of the part.
    sizes : Ints
        The number of rows of the whole ones.
    values : list of QueryValues
        One per measure, of the whole ones.
    split : Floats, shape (n_rows, 3)
        The position of its query among the split ones, label and score of each row of these.
    """

    labels: list[Any]
    sizes: Ints
    values: list[QueryValues]
    split: Floats


def evaluated(problem: PartedProblem, scores: Any, measures: Sequence[Measure]) -> Evaluation:
    """The same as `metrics.evaluate` of all rows; of split queries, labels and scores are gathered."""
    if not isinstance(scores, PartedScores):
        raise ParameterError("The scores of a DistributedData must be those that predict returns for it.")
    positions = problem.queries.positions
    found = problem.parts.each(measured_part, scores.model, measures, own=positions)
    sizes, values = [part.sizes for part in found], [part.values for part in found]
    rows = np.concatenate([part.split for part in found])
    if len(rows):
        split = group_rows(rows[:, 0].astype(np.int64), len(rows))
        sizes.append(split.sizes)
        values.append([QueryValues.of(one.prepare(rows[:, 1], split), rows[:, 2]) for one in measures])
    is_first, order = _by_first_appearance(np.concatenate(positions))
    labels = ONE_RANKING
    if problem.has_queries:
        every = [label for part in found for label in part.labels]
        labels = label_array([every[k] for k in np.flatnonzero(is_first)])
    columns = [_joined(column, order) for column in zip(*values, strict=True)]
    return evaluation_of(labels, np.concatenate(sizes)[order], columns)


def measured_part(problem: Problem, position: Ints, model: Model, measures: Sequence[Measure]) -> Measured:
    """The measures of a part's whole queries, and the rows of the others without their features."""
    queries, scores = problem.queries, scores_of(problem, model)
    labels = (ONE_RANKING if queries.labels is None else queries.labels).tolist()
    query = queries.query_of_row()
    whole = np.flatnonzero(position[query] < 0)
    rest = np.flatnonzero(position[query] >= 0)
    split = np.column_stack([position[query[rest]], problem.y[rest], scores[rest]])
    empty = np.zeros(0)
    values = [QueryValues(one, empty, empty.astype(np.bool_), empty, "") for one in measures]
    sizes = queries.sizes[position < 0]
    if len(whole):
        own = queries.select(whole)
        values = [QueryValues.of(one.prepare(problem.y[whole], own), scores[whole]) for one in measures]
    return Measured(labels, sizes, values, split)


def _by_first_appearance(position: Ints) -> tuple[Bools, Ints]:
    """Which queries, listed part by part, appear for the first time; and the order that puts whole queries,
    followed by split ones, into order of first appearance."""
    is_first = position < 0
    is_first[np.unique(position, return_index=True)[1]] = True
    whole = position[is_first] < 0
    n_whole = int(whole.sum())
    return is_first, np.where(whole, np.cumsum(whole) - 1, n_whole + np.cumsum(~whole) - 1)


def _joined(parts: Sequence[QueryValues], order: Ints) -> QueryValues:
    reason = next((part.reason for part in parts if part.reason), "")
    return replace(
        parts[0],
        values=np.concatenate([part.values for part in parts])[order],
        left_out=np.concatenate([part.left_out for part in parts])[order],
        weight=np.concatenate([part.weight for part in parts])[order],
        reason=reason,
    )
