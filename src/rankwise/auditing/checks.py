"""Checks of judged data that need no model: its features, equal rows, and queries without pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.columns.context import is_constant, is_context
from rankwise.features import Features
from rankwise.metrics.named_measures import get_measure
from rankwise.operators.blocks import dense
from rankwise.operators.constant_columns import constant_within_queries
from rankwise.operators.equal_rows import first_equal_rows
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import Table
from rankwise.types import Floats, Ints


def fractions_ordered(data: RankingData, at_least: float) -> dict[int, float]:
    """Features that alone order at least a fraction of the pairs with different labels, and which fraction.

    It is negative if lower values are better. Pairs with equal values count half. O(m log m) per feature; in
    sparse data, only for features with enough nonzero entries.
    """
    error = get_measure("pairwise_error_micro").prepare(data.y, data.queries)
    columns: Any = data.X if isinstance(data.X, np.ndarray) else data.X.tocsc()
    found = {}
    for feature in _candidates(data, at_least):
        column = np.ascontiguousarray(dense(columns[:, [feature]]).ravel(), dtype=np.float64)
        ordered = 1.0 - error(column)
        if max(ordered, 1.0 - ordered) >= at_least:
            found[feature] = ordered if ordered >= 0.5 else ordered - 1.0
    return dict(sorted(found.items(), key=lambda item: -abs(item[1])))


def _candidates(data: RankingData, at_least: float) -> list[int]:
    """Features that can order so many pairs: those of two zeros are tied, so they count half."""
    if isinstance(data.X, np.ndarray):
        return list(range(data.n_features))
    n_pairs_of_row = _pairs_of_rows(data)
    pattern = data.X.astype(bool).astype(np.float64)
    most = pattern.T @ n_pairs_of_row  # each pair of two nonzero entries twice
    needed = (2.0 * at_least - 1.0) * 0.5 * n_pairs_of_row.sum()
    return np.flatnonzero(most >= needed * (1.0 - 1e-9)).tolist()


def _pairs_of_rows(data: RankingData) -> Floats:
    """The number of rows of the same query with another label, for each row."""
    query = data.queries.query_of_row()
    _, label = np.unique(data.y, return_inverse=True)
    _, same, count = np.unique(query * (label.max() + 1) + label, return_inverse=True, return_counts=True)
    return (data.queries.sizes[query] - count[same]).astype(np.float64)


def contradictory_duplicates(data: RankingData) -> tuple[Ints, Ints]:
    """Rows that equal an earlier one of their query but have another label, and those earlier ones."""
    first = first_equal_rows(data.X, data.queries.query_of_row())
    rows = np.flatnonzero(data.y != data.y[first])
    return rows, first[rows]


def queries_without_pairs(data: RankingData) -> Ints:
    """Queries, by number, in which all labels are equal."""
    grouped, starts = data.queries.grouped(data.y), data.queries.offsets[:-1]
    return np.flatnonzero(np.minimum.reduceat(grouped, starts) == np.maximum.reduceat(grouped, starts))


def constant_features(data: RankingData) -> dict[str, bool]:
    """Features, or columns of a table, that are constant within queries, and whether queries differ."""
    if isinstance(data.X, Table):
        columns, queries = data.X.columns, data.queries
        constant = {name: is_constant(column.values, queries) for name, column in columns.items()}
        return {name: is_context(columns[name].values, queries) for name, found in constant.items() if found}
    places = np.flatnonzero(constant_within_queries(data.X, data.queries))
    found = data.X[:, places]
    varies = dense(found.min(axis=0)).ravel() < dense(found.max(axis=0)).ravel()
    names = map(Features(data.feature_names, data.numbered_from).label, places.tolist())
    return dict(zip(names, varies.tolist(), strict=True))
