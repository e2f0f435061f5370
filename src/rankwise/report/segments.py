"""Where a ranker gains and loses: its changes by segments of queries, such as devices or categories."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from rankwise.columns.context import is_constant
from rankwise.errors import DataError
from rankwise.metrics.significance import holm, margin_of_mean, randomization_p
from rankwise.preferences.queries import Queries
from rankwise.rows.column import Column
from rankwise.types import AnyArray, Floats, Reading

# Segments with fewer queries are one; numbers with more values than this are cut at quantiles.
LEAST_QUERIES, MAX_VALUES, N_BINS = 20, 10, 5
OTHERS = "others"
_DRAWS = 10_000


def segment_facts(
    changes: Mapping[str, Mapping[str, Any]], queries: Queries, columns: Mapping[str, Column]
) -> list[dict[str, Any]]:
    """The mean change in each segment, with a 95 % interval and a p-value corrected for all of them.

    Parameters
    ----------
    changes : dict
        What each ranker gains in each query, by measure and ranker; None where a query does not count.
    queries : Queries
    columns : dict of str to Column
        What queries are divided by: columns whose values are the same in all rows of a query.
    """
    segments = {name: _segments(column, name, queries) for name, column in columns.items()}
    found: list[dict[str, Any]] = []
    for measure, by_ranker in changes.items():
        for ranker, of in by_ranker.items():
            gains = np.array(of, dtype=np.float64)
            for name, values in segments.items():
                for value, own in _pooled(values, gains):
                    found.append(_fact(gains[own]) | {"measure": measure, "ranker": ranker})
                    found[-1] |= {"column": name, "segment": value}
    for fact, corrected in zip(found, holm([fact["p"] for fact in found]), strict=True):
        fact["holm"] = corrected
        fact["verdict"] = _verdict(fact["gain"], corrected)
    return found


def _fact(gains: Floats) -> dict[str, Any]:
    return {
        "queries": len(gains),
        "gain": float(gains.mean()),
        "margin": margin_of_mean(gains, np.ones(len(gains))),
        "p": randomization_p(gains, _DRAWS, 0),
    }


def _verdict(gain: float, p: float) -> str:
    return "" if not p <= 0.05 else "gains" if gain > 0.0 else "loses"


def _segments(column: Column, name: str, queries: Queries) -> AnyArray:
    """The segment of each query, in words."""
    if not is_constant(column.values, queries):
        raise DataError(f"Column {name!r} differs within a query; segments are of whole queries.")
    starts = queries.offsets[:-1]
    first = column[starts if queries.order is None else queries.order[starts]]
    if first.reading is Reading.NUMBER and first.values.dtype.kind == "f":
        return _of_numbers(first)
    return np.array(first.shown(), dtype=object)


def _of_numbers(column: Column) -> AnyArray:
    x, missing = column.values, column.missing()
    if len(np.unique(x[~missing])) <= MAX_VALUES:
        return np.array(column.shown(), dtype=object)
    edges = np.unique(np.quantile(x[~missing], np.linspace(0.0, 1.0, N_BINS + 1)))
    place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(edges) - 2)
    words = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges.tolist())]
    return np.array(["missing" if m else words[p] for p, m in zip(place, missing, strict=True)], dtype=object)


def _pooled(values: AnyArray, gains: Floats) -> list[tuple[str, AnyArray]]:
    """The queries of each segment that have a value, largest first; small segments are pooled."""
    counted = ~np.isnan(gains)
    names, counts = np.unique(values[counted].astype(str), return_counts=True)
    large = [name for _, name in sorted(zip((-counts).tolist(), names.tolist(), strict=True))]
    large = [name for name in large if counts[names == name][0] >= LEAST_QUERIES]
    segments = [(name, counted & (values == name)) for name in large]
    rest = counted & ~np.isin(values.astype(str), large)
    n_pooled = len(names) - len(large)
    if rest.any():
        segments.append((f"{OTHERS} ({n_pooled})", rest))
    return segments
