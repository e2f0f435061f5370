"""Where a ranker gains and loses: its changes by segments of queries, such as devices or categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from rankwise.columns.context import is_constant
from rankwise.errors import DataError
from rankwise.metrics.significance import holm, margin_of_mean, randomization_p
from rankwise.preferences.queries import Queries
from rankwise.rows.column import Column
from rankwise.types import AnyArray, Bools, Floats, Ints, Reading

# Segments with fewer queries are one; numbers and dates with more values than this are cut at quantiles.
LEAST_QUERIES, MAX_VALUES, N_BINS = 20, 10, 5
OTHERS = "others"
_DRAWS, _DRAWS_PER_TEST = 10_000, 40


def segment_facts(
    per_query: Mapping[str, Any], queries: Queries, columns: Mapping[str, Column]
) -> list[dict[str, Any]]:
    """The mean in each segment and the change there, with a 95 % interval and a corrected p-value.

    Holm's correction is for all segments, measures and rankers. A single ranker has no change, and the
    interval is that of its mean.

    Parameters
    ----------
    per_query : dict
        As from `query_facts`: the values of each query, and what each ranker gains there, by measure and
        ranker; NaN where a query does not count.
    queries : Queries
    columns : dict of str to Column
        What queries are divided by: columns whose values are the same in all rows of a query.
    """
    divided = {name: _segments(column, name, queries) for name, column in columns.items()}
    found, gains_of = [], []
    for measure, values in per_query["values"].items():
        changes = per_query["changes"][measure]
        for ranker in changes or values:
            counted = ~np.isnan(changes.get(ranker, values[ranker]))
            for name, segments in divided.items():
                for segment, own in segments.pooled(counted):
                    found.append({"column": name, "segment": segment, "measure": measure, "ranker": ranker})
                    found[-1] |= _mean(values[ranker][own])
                    gains_of += [changes[ranker][own]] if changes else []
    return [fact | more for fact, more in zip(found, _gains(gains_of), strict=True)] if gains_of else found


def _mean(values: Floats) -> dict[str, Any]:
    return {"queries": len(values), "mean": float(values.mean()), "margin": _margin(values)}


def _gains(segments: Sequence[Floats]) -> Iterator[dict[str, Any]]:
    """What is gained in each segment, how sure that is, and what it means after a correction for all."""
    n_draws = max(_DRAWS, _DRAWS_PER_TEST * len(segments))  # the smallest p-value is 1 / n_draws
    p_values = [randomization_p(gains, n_draws, 0) for gains in segments]
    for gains, p, corrected in zip(segments, p_values, holm(p_values), strict=True):
        mean = float(gains.mean())
        tested = {"p": p, "holm": corrected, "verdict": _verdict(mean, corrected)}
        yield {"gain": mean, "margin": _margin(gains), **tested}


def _margin(values: Floats) -> float:
    return margin_of_mean(values, np.ones(len(values)))


def _verdict(gain: float, p: float) -> str:
    return "" if not p <= 0.05 else "gains" if gain > 0.0 else "loses"


@dataclass(frozen=True)
class _Segments:
    """The segment of each query, by its place in a list of names, in the order in which they are shown."""

    of_query: Ints
    names: list[str]

    def pooled(self, counted: Bools) -> Iterator[tuple[str, Bools]]:
        """The queries of each segment that count; those of small ones together, last."""
        sizes = np.bincount(self.of_query[counted], minlength=len(self.names))
        for segment in np.flatnonzero(sizes >= LEAST_QUERIES).tolist():
            yield self.names[segment], counted & (self.of_query == segment)
        rest = counted & (sizes < LEAST_QUERIES)[self.of_query]
        if rest.any():
            yield f"{OTHERS} ({np.count_nonzero((sizes > 0) & (sizes < LEAST_QUERIES))})", rest


def _segments(column: Column, name: str, queries: Queries) -> _Segments:
    """Numbers and dates of many values in bins, in their order; other values from the most frequent."""
    n_rows = int(queries.offsets[-1])
    if len(column.values) != n_rows:
        raise DataError(f"Column {name!r} has {len(column.values)} values, but the data has {n_rows} rows.")
    if not is_constant(column.values, queries):
        raise DataError(f"Column {name!r} varies within a query, but segments consist of whole queries.")
    starts = queries.offsets[:-1]
    first = column[starts if queries.order is None else queries.order[starts]]
    known = np.sort(first.values[~first.missing()])
    is_ordered = first.reading is Reading.DATE or known.dtype.kind == "f"
    if is_ordered and len(np.unique(known)) > MAX_VALUES:
        return _binned(first, known)
    frequent = [value for value, _ in Counter(first.shown()).most_common()]
    place = {value: k for k, value in enumerate(frequent)}
    return _Segments(np.array([place[value] for value in first.shown()]), frequent)


def _binned(column: Column, known: AnyArray) -> _Segments:
    """Values between quantiles of those that are known, which are sorted; missing ones last."""
    edges = np.unique(known[np.linspace(0, len(known) - 1, N_BINS + 1).astype(np.int64)])
    place = np.clip(np.searchsorted(edges, column.values, side="right") - 1, 0, len(edges) - 2)
    names = [f"{low} to {high}" for low, high in pairwise(_distinct(edges))]
    return _Segments(np.where(column.missing(), len(names), place), [*names, "missing"])


def _distinct(edges: AnyArray) -> list[str]:
    """The edges in as few digits as tell them apart."""
    if edges.dtype.kind == "M":
        shown = (np.datetime_as_string(edges, unit).tolist() for unit in ("D", "s", "us"))
    else:
        shown = ([f"{edge:.{digits}g}" for edge in edges] for digits in range(4, 18))
    return next(words for words in shown if len(set(words)) == len(edges))
