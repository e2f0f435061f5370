"""What the judged rows are: queries, sizes, labels, and features that cannot help."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.operators.blocks import dense
from rankwise.operators.constant_columns import constant_within_queries
from rankwise.report.lists import short_name
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import Table
from rankwise.types import Bools, Floats, Ints, Matrix

# Labels that are listed one by one, and bins of sizes and of labels that are more than that.
MAX_LABELS, N_BINS = 12, 12


def data_facts(judged: RankingData) -> dict[str, Any]:
    """Counts of queries, rows and labels and, where features are known, those that tell no rows apart."""
    sizes, y = judged.queries.sizes, judged.y
    grouped = judged.queries.grouped(y)
    starts = judged.queries.offsets[:-1]
    tied = np.minimum.reduceat(grouped, starts) == np.maximum.reduceat(grouped, starts)
    facts: dict[str, Any] = {
        "queries": judged.queries.n_queries,
        "rows": len(y),
        "one_ranking": judged.queries.labels is None,
        "sizes": {
            "smallest": int(sizes.min()),
            "median": float(np.median(sizes)),
            "largest": int(sizes.max()),
            "bins": _bins(sizes),
        },
        "labels": _labels(y),
        "all_tied": int(tied.sum()),
        "one_row": int((sizes == 1).sum()),
    }
    if judged.n_features:
        facts["features"] = _features(judged)
    return facts


def _labels(y: Floats) -> dict[str, Any]:
    values, counts = np.unique(y, return_counts=True)
    if len(values) <= MAX_LABELS:
        return {"values": values.tolist(), "counts": counts.tolist()}
    return {"bins": _bins(y)}


def _bins(values: Floats | Ints) -> dict[str, list[Any]]:
    """Counts between edges; of whole numbers, every bin has the same number of them."""
    low, high = values.min(), values.max()
    if values.dtype.kind == "i":
        width = -(-(high - low + 1) // N_BINS)
        edges = np.arange(low, high + width + 1, width)
    else:
        edges = np.linspace(low, high, N_BINS + 1)
    return {"counts": np.histogram(values, edges)[0].tolist(), "edges": edges.tolist()}


def _features(data: RankingData) -> dict[str, Any]:
    """Features that rank nothing alone, because they are the same in all rows of a query, or that repeat."""
    X = _codes(data.X) if isinstance(data.X, Table) else data.X
    constant = constant_within_queries(X, data.queries)

    def label(column: int) -> str:
        return short_name(data.features.label(column))

    return {
        "number": data.n_features,
        "scaled_per_query": data.scaled_per_query,
        "constant": [label(int(k)) for k in np.flatnonzero(constant)],
        "repeated": [[label(k), label(first)] for k, first in _repeated(X, constant)],
    }


def _codes(table: Table) -> Floats:
    """The values of columns of any kind as numbers that are equal where the values are."""
    known: dict[str, int] = {}
    columns = [
        [known.setdefault(repr(value), len(known)) for value in column.objects()]
        for column in table.columns.values()
    ]
    return np.array(columns, dtype=np.float64).T.copy()


def _repeated(X: Matrix, constant: Bools) -> list[tuple[int, int]]:
    """Columns that equal an earlier one in every row, with that one."""
    seen: dict[bytes, int] = {}
    found = []
    columns = X if isinstance(X, np.ndarray) else X.tocsc()
    for k in np.flatnonzero(~constant).tolist():
        key = dense(columns[:, [k]]).tobytes()
        if key in seen:
            found.append((k, seen[key]))
        seen.setdefault(key, k)
    return found
