"""``w ↦ XᵀLXw`` in as few passes over X as the preferences allow.

A solver requests it once and calls it in every iteration. There are three strategies, each O(m s + l) per
call:

- by query, one pass: score a query's rows, centre the scores, and accumulate the rows while they are still
  in cache;
- by row, one pass: the mean score of a large query is ``x̄·w``, and its mean row x̄ is known beforehand, so
  each row is scored, centred and accumulated independently (typically for one global ranking);
- in two passes, ``Xw`` and ``Xᵀu``, for everything else: explicit pairs, sums of several kinds of
  preferences, and large queries with so many levels of tied rows that their means would cost too much.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import TypeAlias

import numpy as np

from rankwise.operators.native_rows import NativeRows
from rankwise.preferences.across import AcrossQueries
from rankwise.preferences.differences import Differences, QueryDifferences
from rankwise.preferences.queries import restored
from rankwise.types import Floats, Ints

NormalOperator: TypeAlias = Callable[[Floats], Floats]

# A query up to this size is still in some cache when its rows are read a second time.
QUERY_BYTES = 1 << 22
# By row, the products with the means may cost this share of a pass over X.
MEANS_SHARE = 0.25


@singledispatch
def normal_operator(differences: Differences, rows: NativeRows) -> NormalOperator:
    """Return the fastest operator for these preferences and this matrix."""
    return in_two_passes(differences, rows)


@normal_operator.register(QueryDifferences)
def of_queries(differences: QueryDifferences, rows: NativeRows) -> NormalOperator:
    bytes_per_row = rows.n_entries * rows.entry_bytes / max(1, rows.shape[0])
    if differences.queries.sizes.max() * bytes_per_row <= QUERY_BYTES:
        return by_query(differences, rows)
    n_means = sum(len(_segments_with_pairs(offsets)) for offsets in _segmentations(differences))
    if n_means * rows.shape[1] <= MEANS_SHARE * rows.n_entries:
        return by_row(differences, rows)
    return in_two_passes(differences, rows)


@normal_operator.register(AcrossQueries)
def of_both(differences: AcrossQueries, rows: NativeRows) -> NormalOperator:
    within, whole = of_queries(differences.within, rows), of_queries(differences.whole, rows)
    return lambda weights: within(weights) + whole(weights)


def in_two_passes(differences: Differences, rows: NativeRows) -> NormalOperator:
    return lambda weights: rows.adjoint(differences.laplacian(rows.scores(weights)))


def by_query(differences: QueryDifferences, rows: NativeRows) -> NormalOperator:
    queries = differences.queries
    return lambda weights: rows.query_normal_product(
        queries.offsets,
        differences.order,
        differences.level_offsets,
        differences.row_weight,
        differences.query_weight,
        weights,
    )


def by_row(differences: QueryDifferences, rows: NativeRows) -> NormalOperator:
    """For a row of weight s in a query of weight c and total weight S, and in a level of total weight S_l,
    ``(Lv)ᵢ = c s [(S − S_l) vᵢ − S mean v + S_l mean_l v]``: a scale and a shift, as ``mean Xw = x̄·w``.

    Keeping ties is the case without levels; a segment of one row has no pairs and needs no mean.
    """
    base = np.repeat(differences.query_weight, differences.queries.sizes) * differences.row_weight
    parts = [
        _Means(sign * base, offsets, differences, rows)
        for sign, offsets in zip((1.0, -1.0), _segmentations(differences), strict=False)
    ]
    scale = np.sum([part.scale for part in parts], axis=0)

    def product(weights: Floats) -> Floats:
        shift = parts[0].shift(weights)
        for part in parts[1:]:
            shift += part.shift(weights)
        return rows.row_normal_product(scale, shift, weights)

    return product


class _Means:
    """Mean rows of segments, and each row's scale and shift due to its segment, in the caller's row order."""

    def __init__(self, base: Floats, offsets: Ints, differences: QueryDifferences, rows: NativeRows) -> None:
        weight = differences.row_weight
        segments = _segments_with_pairs(offsets)
        means = np.zeros((max(1, len(segments)), rows.shape[1]))
        scale = np.zeros_like(weight)
        number = np.zeros(len(weight) if len(segments) > 1 else 0, dtype=np.int64)
        for k, segment in enumerate(segments):
            place = slice(int(offsets[segment]), int(offsets[segment + 1]))
            weight_sum = float(weight[place].sum())
            if weight_sum > 0.0:
                member = np.zeros_like(weight)
                member[place] = weight[place] / weight_sum
                means[k] = rows.adjoint(restored(member, differences.order))
                scale[place] = base[place] * weight_sum
                number[place] = k
        self.scale = restored(scale, differences.order)
        self._number = restored(number, differences.order) if len(segments) > 1 else None
        self._means = NativeRows(means)

    def shift(self, weights: Floats) -> Floats:
        means = self._means.scores(weights)
        return self.scale * (means[0] if self._number is None else means[self._number])


def _segmentations(differences: QueryDifferences) -> list[Ints]:
    """Return the offsets of the queries and, when tied pairs are dropped, of the levels within them."""
    levels = [] if differences.level_offsets is None else [differences.level_offsets]
    return [differences.queries.offsets, *levels]


def _segments_with_pairs(offsets: Ints) -> Ints:
    return np.flatnonzero(np.diff(offsets) > 1)
