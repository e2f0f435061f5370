"""Samples of pairs of judged rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from rankwise.preferences.pairs import Pairs
from rankwise.types import Floats, Ints

# Every query contributes the same number of pairs at most, so that large queries do not dominate.
PAIRS_PER_QUERY, PAIRS_IN_TOTAL = 200, 100_000


@dataclass(frozen=True)
class PairSample:
    """Pairs of judged rows, the preferred row first.

    Attributes
    ----------
    better, worse : Ints, shape (p,)
        Row numbers.
    group : Ints, shape (p,)
        Pairs with the same number are of the same query, so they are not independent.
    weight : Floats or None, shape (p,)
        None gives every pair a weight of 1.
    """

    better: Ints
    worse: Ints
    group: Ints
    weight: Floats | None = None

    @classmethod
    def none(cls) -> Self:
        return cls(*np.empty((3, 0), dtype=np.int64))

    def differences(self, scores: Floats) -> Floats:
        """The score of the preferred row minus that of the other."""
        return np.asarray(scores[self.better] - scores[self.worse], dtype=np.float64)


def sample_judged_pairs(
    y: Floats, query: Ints, *, per_query: int = PAIRS_PER_QUERY, in_total: int = PAIRS_IN_TOTAL, seed: int = 0
) -> PairSample:
    """Draw pairs of rows with different labels within queries, which are given by number; O(m log m).

    A query contributes all its pairs or, if it has more than `per_query`, as many drawn uniformly, of which
    repetitions are dropped. With many queries, each contributes fewer, but at least one, so that there are
    no more than `in_total`.
    """
    # By query, and by label within a query: a row is preferred to all rows before it with another label.
    order = np.lexsort((y, query))
    ordered_query, ordered_y, place = query[order], y[order], np.arange(len(order))
    new_query = np.diff(ordered_query, prepend=ordered_query[0] - 1) != 0
    new_label = new_query | (np.diff(ordered_y, prepend=ordered_y[0]) != 0.0)
    first_of_query = np.maximum.accumulate(np.where(new_query, place, 0))
    n_below = np.maximum.accumulate(np.where(new_label, place, 0)) - first_of_query
    # Pairs are numbered by the preferred row; those of row i end before ends[i].
    ends = np.cumsum(n_below)
    last_of_query = np.append(np.flatnonzero(new_query)[1:] - 1, len(order) - 1)
    bounds = np.append(0, ends[last_of_query])
    n_queries = max(1, int(np.count_nonzero(np.diff(bounds))))
    at_most = max(1, min(per_query, in_total // n_queries))
    pair = _some_of_each(bounds, at_most, np.random.default_rng(seed))
    upper = np.searchsorted(ends, pair, side="right")
    lower = first_of_query[upper] + pair - (ends[upper] - n_below[upper])
    return PairSample(order[upper], order[lower], ordered_query[upper])


def sample_of_pairs(pairs: Pairs, n_rows: int) -> PairSample:
    """All explicit pairs, grouped by the rows they connect; each is a group if all are connected."""
    group = pairs.components(n_rows).query_of_row()[pairs.better]
    if len(pairs) and (group == group[0]).all():
        group = np.arange(len(pairs))
    return PairSample(pairs.better, pairs.worse, group, pairs.weight)


def _some_of_each(bounds: Ints, at_most: int, random: np.random.Generator) -> Ints:
    """Numbers from each of the ranges between successive bounds: all of them if they are few."""
    sizes = np.diff(bounds)
    few = sizes <= at_most
    starts = np.repeat(bounds[:-1][few], sizes[few])
    rank = np.arange(len(starts)) - np.repeat(np.cumsum(sizes[few]) - sizes[few], sizes[few])
    drawn = random.integers(bounds[:-1][~few, None], bounds[1:][~few, None], size=((~few).sum(), at_most))
    return np.unique(np.concatenate([starts + rank, drawn.ravel()]))
