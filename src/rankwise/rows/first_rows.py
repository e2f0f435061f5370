"""How data sets are shown: in a line, and in notebooks with their first rows."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from rankwise.mapped import is_mapped
from rankwise.rendering import Cell, counted, html_table
from rankwise.rows.storage import storage_of
from rankwise.rows.table import Table

if TYPE_CHECKING:
    from rankwise.rows.ranking import RankingData

N_ROWS, N_COLUMNS = 5, 8


def summary(data: RankingData) -> str:
    """How much there is, in a line, without reading a store."""
    queries = counted(data.n_queries, "query") if data.has_queries else "one global ranking"
    scaled = ", scaled per query" if data.scaled_per_query else ""
    weighted = "" if data.sample_weight is None else ", weighted"
    labels = "" if is_mapped(data.y) else f", labels {data.y.min():g} to {data.y.max():g}"
    return (
        f"RankingData({counted(data.n_rows, 'row')}, {queries}, "
        f"{counted(data.n_features, 'feature')} ({storage_of(data.X)}{scaled}){labels}{weighted})"
    )


def first_rows_html(data: RankingData) -> str:
    """The summary above the first rows; without rows that would have to be read from a store."""
    line = f"<p>{escape(repr(data))}</p>"
    if is_mapped(data.y) or not data.n_rows:
        return line
    named = {"query": data.qid, "document": data.docs, "label": data.y}
    columns: dict[str, list[Cell]] = {
        name: [_cell(value) for value in values[:N_ROWS].tolist()]
        for name, values in named.items()
        if values is not None
    }
    columns |= _features(data)
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    more = data.n_features - (len(columns) - sum(values is not None for values in named.values()))
    note = f"<p>and {more} more columns</p>" if more > 0 else ""
    return f"{line}{html_table(list(columns), rows)}{note}"


def _features(data: RankingData) -> dict[str, list[Cell]]:
    if isinstance(data.X, Table):
        shown = list(data.X[np.arange(min(N_ROWS, data.n_rows))].columns.items())[:N_COLUMNS]
        return {name: list(column.shown()) for name, column in shown}
    rows = data.X[:N_ROWS, :N_COLUMNS]
    values = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return {data.features.label(k): [_cell(value) for value in values[:, k]] for k in range(values.shape[1])}


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
