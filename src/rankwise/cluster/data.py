"""Judged rows in parts, whatever engine holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.cluster.base import Parts
from rankwise.cluster.evaluation import evaluated
from rankwise.cluster.pairs import PartedPairs
from rankwise.cluster.problem import PartedProblem, PartedRows
from rankwise.cluster.scores import PartedScores
from rankwise.errors import DataError
from rankwise.features import Features, JudgedParts
from rankwise.metrics.evaluation import Evaluation
from rankwise.metrics.measure import Measure
from rankwise.model.model import Model
from rankwise.operators.blocks import dense
from rankwise.preferences.pairs import Pairs
from rankwise.rows.ranking import RankingData
from rankwise.types import Floats, Matrix, is_sparse
from rankwise.validation import Problem, check_read_rows, check_row_weight
from rankwise.validation.arrays import check_weight_range


class PartedData(JudgedParts):
    """Judged rows in parts.

    Parameters
    ----------
    parts : Parts of Problem
    descriptions : sequence of Description
        Of the parts.
    shape : Shape
        The features that they have in common.
    """

    def __init__(self, parts: Parts, descriptions: Sequence[Description], shape: Shape) -> None:
        first = descriptions[0]
        self.parts = parts
        self._part_sizes = [one.n_rows for one in descriptions]
        self.n_rows = sum(self._part_sizes)
        self.n_entries = sum(one.n_entries for one in descriptions)
        self.n_features = shape.n_features
        self.features = Features(first.feature_names, shape.numbered_from)
        self.has_queries, self.scaled_per_query = first.has_queries, first.scaled_per_query
        lowest, highest = zip(*(one.label_range for one in descriptions), strict=True)
        self.label_range = min(lowest), max(highest)
        X = PartedRows((self.n_rows, self.n_features), self.n_entries)
        self._problem = PartedProblem(parts, X, self.has_queries, first.feature_names)

    @property
    def n_queries(self) -> int:
        return self._problem.queries.n_queries

    def problem(self) -> PartedProblem:
        return self._problem

    def preferences(self, pairs: Pairs) -> tuple[PartedRows, PartedPairs]:
        return self._problem.X, PartedPairs.of(self.parts, self._part_sizes, self.n_features, pairs)

    def scored_by(self, model: Model) -> PartedScores:
        known, names = model.feature_names, self.features.names
        if model.n_features != self.n_features or (known and names and known != list(names)):
            raise DataError("The data does not match the model: it has other features.")
        if model.scaled_per_query not in (None, self.scaled_per_query):
            raise DataError("The data is scaled within queries and that of the model was not, or vice versa.")
        return PartedScores(self.parts, model)

    def evaluated(self, scores: Any, measures: Sequence[Measure]) -> Evaluation:
        return evaluated(self._problem, scores, measures)

    def __repr__(self) -> str:
        kind = "with queries" if self.has_queries else "one global ranking"
        return (
            f"{type(self).__name__}({self.n_rows:,} rows in {self.parts.n_parts:,} parts, {kind}, "
            f"{self.n_features:,} features)"
        )


@dataclass(frozen=True)
class Description:
    """What has to be known of a part to put it together with others."""

    n_rows: int
    n_entries: int
    n_features: int
    feature_names: tuple[str, ...] | None
    numbered_from: int | None
    has_queries: bool
    scaled_per_query: bool
    label_range: tuple[float, float]


@dataclass(frozen=True)
class Shape:
    """The features that parts have in common, and the number of the first."""

    n_features: int
    numbered_from: int | None


@dataclass(frozen=True, eq=False)
class RawPart:
    """Rows as they were read, and their weights."""

    data: RankingData
    weight: Floats | None = None


def description_of(part: RawPart | None) -> Description | None:
    """What others have to know of a part; None if it has no rows."""
    if part is None:
        return None
    data = part.data
    n_entries = data.X.nnz if is_sparse(data.X) else data.X.size
    return Description(
        data.n_rows,
        int(n_entries),
        data.n_features,
        data.feature_names,
        data.numbered_from,
        data.qid is not None,
        data.scaled_per_query,
        data.label_range,
    )


def common_shape(descriptions: Sequence[Description], names: Sequence[str]) -> Shape:
    """The features of all parts, which text numbers only as far as they occur; `names` call the parts."""
    first = descriptions[0]
    for one, name in zip(descriptions[1:], names[1:], strict=True):
        if one.has_queries != first.has_queries:
            without, having = (name, names[0]) if first.has_queries else (names[0], name)
            raise DataError(f"{without} has no queries, but {having} has.")
        if one.feature_names != first.feature_names:
            raise DataError(f"The features of {names[0]} and {name} have different names.")
        if one.scaled_per_query != first.scaled_per_query:
            scaled, raw = (names[0], name) if first.scaled_per_query else (name, names[0])
            raise DataError(f"{scaled} was scaled within each query, but {raw} was not.")
        if one.n_features != first.n_features and (one.numbered_from is None or first.numbered_from is None):
            differ = f"{names[0]} has {first.n_features} and {name} has {one.n_features}"
            raise DataError(f"The features differ: {differ}.")
    numbers = [one.numbered_from for one in descriptions if one.numbered_from is not None]
    if not numbers:
        return Shape(first.n_features, None)
    ends = [one.n_features + (one.numbered_from or 0) for one in descriptions]
    return Shape(max(ends) - min(numbers), min(numbers))


def problem_of(part: RawPart, shape: Shape) -> Problem:
    """The rows of a part with the features of all parts, checked."""
    data, X = part.data, part.data.X
    check_read_rows(X)
    if data.numbered_from is not None and shape.numbered_from is not None:
        X = _widened(X, data.numbered_from - shape.numbered_from, shape.n_features)
    weight = part.weight
    if weight is not None and weight.any():
        weight = check_row_weight(weight, data.n_rows)
        check_weight_range("sample_weight", "row", weight)
    return Problem(X, np.asarray(data.y), data.queries, weight)


def _widened(X: Matrix, first: int, n_features: int) -> Matrix:
    """The same rows with their first column at another place, among this many."""
    if first == 0 and X.shape[1] == n_features:
        return X
    if is_sparse(X):
        from scipy import sparse

        stored: Any = X
        shape = (X.shape[0], n_features)
        return sparse.csr_array((stored.data, stored.indices + first, stored.indptr), shape=shape)
    wide = np.zeros((X.shape[0], n_features))
    wide[:, first : first + X.shape[1]] = dense(X)
    return wide
