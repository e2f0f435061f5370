"""Judged rows in parts, whatever engine holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwise.cluster.engine import Parts
from rankwise.cluster.parted_evaluation import PartedScores, evaluated
from rankwise.cluster.parted_pairs import PartedPairs
from rankwise.cluster.problem import PartedProblem, PartedRows
from rankwise.errors import DataError
from rankwise.features import Features, JudgedParts
from rankwise.metrics.evaluation import Evaluation
from rankwise.metrics.measure import Measure
from rankwise.model.model import Model
from rankwise.operators.blocks import dense
from rankwise.preferences.pairs import Pairs
from rankwise.rows.concatenation import check_alike
from rankwise.rows.ranking import RankingData
from rankwise.types import Matrix, is_sparse
from rankwise.validation import Problem, check_read_rows, check_row_weight
from rankwise.validation.arrays import check_weight_range


class PartedData(JudgedParts):
    """Judged rows in parts.

    Parameters
    ----------
    parts : Parts of Problem
    descriptions : sequence of Description
        Of the parts.
    features : Features
        Those that they have in common.
    """

    def __init__(self, parts: Parts, descriptions: Sequence[Description], features: Features) -> None:
        assert features.count is not None
        self.parts = parts
        self._part_sizes = [one.n_rows for one in descriptions]
        self.n_rows = sum(self._part_sizes)
        self.n_entries = sum(one.n_entries for one in descriptions)
        self.n_features, self.features = features.count, features
        self.has_queries = descriptions[0].has_queries
        lowest, highest = zip(*(one.label_range for one in descriptions), strict=True)
        self.label_range = min(lowest), max(highest)
        X = PartedRows((self.n_rows, self.n_features), self.n_entries)
        self._problem = PartedProblem(parts, X, self.has_queries, features.names)

    @property
    def n_queries(self) -> int:
        return self._problem.queries.n_queries

    def problem(self) -> PartedProblem:
        return self._problem

    def preferences(self, pairs: Pairs) -> tuple[PartedRows, PartedPairs]:
        return self._problem.X, PartedPairs.of(self.parts, self._part_sizes, self.n_features, pairs)

    def scored_by(self, model: Model) -> PartedScores:
        if model.compares_rows:
            raise DataError(
                f"This model compares the rows of a query, which a {type(self).__name__} may hold apart."
            )
        model.features.check(self.features)
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
    features: Features
    has_queries: bool
    label_range: tuple[float, float]


def description_of(data: RankingData | None) -> Description | None:
    """What others have to know of a part; None if it has no rows."""
    if data is None:
        return None
    n_entries = data.X.nnz if is_sparse(data.X) else data.X.size
    return Description(data.n_rows, int(n_entries), data.features, data.has_queries, data.label_range)


def common_features(descriptions: Sequence[Description], names: Sequence[str]) -> Features:
    """The features of all parts, which text numbers only as far as they occur; `names` call the parts."""
    own = [one.features for one in descriptions]
    places = [(one.numbered_from, one.count or 0) for one in own if one.numbered_from is not None]
    if places:
        first = min(start for start, _ in places)
        n = max(start + count for start, count in places) - first
        own = [
            one if one.numbered_from is None else replace(one, numbered_from=first, count=n) for one in own
        ]
    check_alike([(one, part.has_queries) for one, part in zip(own, descriptions, strict=True)], names)
    return next((one for one in own if one.numbered_from is not None), own[0])


def problem_of(data: RankingData, features: Features) -> Problem:
    """The rows of a part with the features of all parts, checked."""
    X = data.X
    check_read_rows(X)
    if data.numbered_from is not None and features.numbered_from is not None and features.count is not None:
        X = _widened(X, data.numbered_from - features.numbered_from, features.count)
    weight = check_row_weight(data.sample_weight, data.n_rows, may_be_zero=True)
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
