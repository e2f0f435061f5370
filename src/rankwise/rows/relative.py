"""Numbers as they compare with those of the other rows of their query."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankwise.preferences.queries import Queries
from rankwise.types import Floats, Reading


def relative(x: Floats, reading: Reading, queries: Queries) -> Floats:
    """The numbers in a reading that looks at the query; missing ones stay missing, and do not count.

    Parameters
    ----------
    x : Floats
        Finite, or NaN where missing; in the caller's order.
    reading : Reading
        SHARE: x over the largest number of the query, by absolute value; 0 if all are 0. RANK: from 1 for
        the smallest, the mean rank for equal ones. DISTANCE: x minus the mean of the query.
    queries : Queries
    """
    grouped: Floats = queries.restored(_RELATIVE[reading](queries.grouped(x), queries))
    return grouped


def _share(x: Floats, queries: Queries) -> Floats:
    largest = np.repeat(np.fmax.reduceat(np.abs(x), queries.offsets[:-1]), queries.sizes)
    share = np.where(np.isnan(x), np.nan, 0.0)
    np.divide(x, largest, out=share, where=largest > 0.0)
    return share


def _rank(x: Floats, queries: Queries) -> Floats:
    query = np.repeat(np.arange(queries.n_queries), queries.sizes)
    order = np.lexsort((x, query))
    x, query = x[order], query[order]
    starts = np.flatnonzero(np.append(True, (x[1:] != x[:-1]) | (query[1:] != query[:-1])))
    sizes = np.diff(np.append(starts, len(x)))
    rank = np.repeat(starts + (sizes + 1) / 2, sizes) - queries.offsets[query]
    ranks = np.empty(len(x))
    ranks[order] = np.where(np.isnan(x), np.nan, rank)
    return ranks


def _distance(x: Floats, queries: Queries) -> Floats:
    """Measured from the smallest, because a sum of numbers far from zero loses the digits they differ in."""
    starts, missing = queries.offsets[:-1], np.isnan(x)
    above = x - np.repeat(np.fmin.reduceat(x, starts), queries.sizes)
    sums = np.add.reduceat(np.where(missing, 0.0, above), starts)
    counts = np.add.reduceat(~missing, starts, dtype=np.int64)
    return np.asarray(above - np.repeat(sums / np.maximum(counts, 1), queries.sizes))


_RELATIVE: dict[Reading, Callable[[Floats, Queries], Floats]] = {
    Reading.SHARE: _share,
    Reading.RANK: _rank,
    Reading.DISTANCE: _distance,
}
