"""Difference operators: linear maps ``F`` with ``FᵀF = L``, the Laplacian of the pairs to compare.

Every learner here is an ordinary learner applied to differences ``F v``; none of them ever sees a pair.
``F`` is an operator rather than a matrix: applying it costs O(m) for scores in queries and O(l) for l
explicit pairs.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from rankwise._native import centred_rows
from rankwise.config import resolve_threads
from rankwise.errors import DataError
from rankwise.preferences.queries import Queries, restored
from rankwise.types import AnyArray, Bools, Floats, Ints, Ties, Weighting


class Differences(Protocol):
    """A linear map from m rows to differences; arrays may have any number of columns."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_differences(self) -> int: ...

    def apply(self, rows: Floats) -> Floats:
        """``F v``, with v in the caller's row order."""
        ...

    def adjoint(self, differences: Floats) -> Floats:
        """``Fᵀ u``, in the caller's row order."""
        ...

    def laplacian(self, rows: Floats) -> Floats:
        """``L v = Fᵀ F v``."""
        ...

    def reference(self) -> Ints:
        """For each row, the first of those it is compared with, directly or not; only differences matter."""
        ...


class QueryDifferences:
    """All pairs of rows within each query, with tied labels kept or dropped.

    For a query with row weights s (sum S), query weight c and, when ties are dropped, levels l of equal
    label (sum of weights S_l), pair (i, j) has weight ``c sᵢ sⱼ`` and

    - kept:    ``(F v)ᵢ = √(c sᵢ S) (vᵢ − mean v)``
    - dropped: ``(F v)ᵢ = √(c sᵢ) [√(S − S_l) (vᵢ − mean_l v) + √S (mean_l v − mean v)]``

    with weighted means. The second is the exact square root: a complete multipartite graph has eigenvalue
    S − S_l on vectors that vary within level l and S on differences between level means. Keeping ties is the
    case in which every row is its own level.

    Differences are in grouped order (by query and, when ties are dropped, by level within a query), so
    those of query q are ``queries.offsets[q]:queries.offsets[q + 1]``.

    Parameters
    ----------
    queries : Queries
    y : Floats, shape (m,)
        Labels; only their equality within a query matters, and only when ties are dropped.
    ties : Ties
    weighting : Weighting
        ``c`` is 1/S ("example"), 1 ("pair") or 1 over the number of pairs counted ("query").
    row_weight : Floats or None
        A weight of 2 is equivalent to repeating the row.
    query_factor : Floats or None, shape (n_queries,)
        Multiplies c: a factor of 2 is equivalent to repeating the query under another label.

    Notes
    -----
    Applying the operator costs O(m) per column. Under ``weighting="query"`` with ties kept, a query counts
    S(S − 1)/2 pairs, the only count for which a weight of 2 is equivalent to repeating the row.
    """

    def __init__(
        self,
        queries: Queries,
        y: Floats,
        *,
        ties: Ties = Ties.KEEP,
        weighting: Weighting = Weighting.EXAMPLE,
        row_weight: Floats | None = None,
        query_factor: Floats | None = None,
    ) -> None:
        self.queries = queries
        self.weighting = weighting
        self.ties = ties
        drop = ties is Ties.DROP
        self.order: Ints | None
        self.level_offsets: Ints | None
        self.order, self.level_offsets = order_by_level(queries, y) if drop else (queries.order, None)
        weight = np.ones(queries.n_rows) if row_weight is None else self.grouped(row_weight)
        self.row_weight = weight
        self.query_sum = np.add.reduceat(weight, queries.offsets[:-1])
        others: Floats | None = None
        if self.level_offsets is not None:
            self._level_sum = np.add.reduceat(weight, self.level_offsets[:-1])
            level_query = np.searchsorted(queries.offsets, self.level_offsets[:-1], side="right") - 1
            others = self.query_sum[level_query] - self._level_sum
            pair_sum = np.bincount(level_query, self._level_sum * others, queries.n_queries) / 2
        else:
            pair_sum = self.query_sum * (self.query_sum - 1) / 2
        self.pair_sum = pair_sum
        self.query_weight = query_weights(weighting, self.query_sum, pair_sum, queries.labels)
        if query_factor is not None:
            self.query_weight = self.query_weight * query_factor
        scale = np.sqrt(weight * self._per_row_of_query(self.query_weight))
        self._between = scale * np.sqrt(self._per_row_of_query(self.query_sum))
        self._within = None if others is None else scale * np.sqrt(self._per_row_of_level(others))

    @property
    def n_rows(self) -> int:
        return self.queries.n_rows

    @property
    def n_differences(self) -> int:
        return self.queries.n_rows

    def apply(self, rows: Floats) -> Floats:
        if rows.ndim == 2 and self.level_offsets is None:
            return self._apply_to_table(rows)
        return self.apply_rows(self.grouped(rows), slice(0, self.n_rows))

    def apply_to_labels(self, y: Floats) -> Floats:
        """``F y`` of the labels that define the levels: each is the mean of its level, without rounding."""
        if self.level_offsets is None:
            return self.apply(y)
        labels = self.grouped(y)
        return self.apply_rows(labels, slice(0, self.n_rows), level_mean=labels)

    def _apply_to_table(self, rows: Floats) -> Floats:
        """Centre and scale in one pass: tables may be as large as a kernel matrix."""
        order = np.arange(self.n_rows, dtype=np.int64) if self.order is None else self.order
        applied = np.empty(rows.shape)
        table = np.ascontiguousarray(rows, dtype=np.float64)
        offsets, n_threads = self.queries.offsets, resolve_threads()
        centred_rows(table, order, offsets, self.row_weight, self._between, None, applied, n_threads)
        return applied

    def apply_rows(
        self,
        v: Floats,
        place: slice,
        query_mean: Floats | None = None,
        level_mean: Floats | None = None,
    ) -> Floats:
        """Return the differences of only the grouped rows in `place`, given their values v.

        `place` covers whole queries, or part of one query whose mean is given; likewise whole levels, or
        part of one level whose mean is given.
        """
        if query_mean is None:
            query_mean = self._local_mean(v, place, self.queries.offsets)
        if self.level_offsets is None or self._within is None:
            return _scaled(self._between[place], v - query_mean)
        if level_mean is None:
            level_mean = self._local_mean(v, place, self.level_offsets)
        between = _scaled(self._between[place], np.broadcast_to(level_mean - query_mean, v.shape))
        return _scaled(self._within[place], v - level_mean) + between

    def apply_centred(self, v: Floats, place: slice | Ints) -> Floats:
        """`apply_rows` for whole queries of rows with mean 0; with levels, the queries must be adjacent."""
        if self.level_offsets is None:
            return _scaled(self._between[place], v)
        assert isinstance(place, slice)
        return self.apply_rows(v, place, np.zeros(v.shape[1:]))

    def rows_with(self, differences: Floats, place: slice | Ints) -> Floats:
        """Rows whose differences these are, up to a constant per query; the inverse of `apply_rows`.

        Only rows for which `tells_rows` is true are valid.
        """
        v = _scaled(_inverse(self._between[place]), differences)
        if self.level_offsets is None or self._within is None:
            return v
        assert isinstance(place, slice)
        level_mean = self._local_mean(v, place, self.level_offsets)
        return _scaled(self._between[place] * _inverse(self._within[place]), v - level_mean) + level_mean

    @cached_property
    def tells_rows(self) -> Bools:
        """For each difference, whether those of its query tell its rows apart.

        They do not if a row has no weight, or if all labels are tied and such pairs are dropped.
        """
        tells = self._between > 0.0
        if self._within is not None:
            tells &= self._within > 0.0
        of_query = np.logical_and.reduceat(tells, self.queries.offsets[:-1])
        return np.repeat(of_query, self.queries.sizes)

    def laplacian_terms(self) -> tuple[Floats, list[tuple[float, Ints, Floats]]]:
        """L on the grouped rows, as ``diag(degree) + Σ sign · Σ_segments a aᵀ``.

        Each term is (sign, offsets of its segments, a), where a has one value per row.
        """
        share = np.sqrt(self._per_row_of_query(self.query_weight)) * self.row_weight
        queries = (-1.0, self.queries.offsets, share)
        if self.level_offsets is None or self._within is None:
            return self._between**2, [queries]
        return self._within**2, [queries, (1.0, self.level_offsets, share)]

    def adjoint(self, differences: Floats) -> Floats:
        between = _scaled(self._between, differences)
        query_part = self._per_row_of_query(self._share(between, self.queries.offsets, self.query_sum))
        if self.level_offsets is None or self._within is None:
            return restored(between - _scaled(self.row_weight, query_part), self.order)
        within = _scaled(self._within, differences)
        level_part = self._per_row_of_level(
            self._share(between - within, self.level_offsets, self._level_sum)
        )
        return restored(within + _scaled(self.row_weight, level_part - query_part), self.order)

    def laplacian(self, rows: Floats) -> Floats:
        return self.adjoint(self.apply(rows))

    def reference(self) -> Ints:
        return self.queries.first_rows()

    def heaviest_rows(self) -> Ints:
        """For each row, the first of those with the largest weight in its query.

        What rows are measured from must count: beside a row of weight 0 far away, the others look equal.
        """
        starts = self.queries.offsets[:-1]
        largest = self._per_row_of_query(np.maximum.reduceat(self.row_weight, starts))
        heaviest = np.flatnonzero(self.row_weight == largest)
        first = heaviest[np.searchsorted(heaviest, starts)]
        rows = first if self.order is None else self.order[first]
        return restored(np.repeat(rows, self.queries.sizes), self.order)

    def grouped(self, rows: Floats) -> Floats:
        """Reorder values from the caller's row order to the order of the differences."""
        return rows if self.order is None else rows[self.order]

    def _local_mean(self, v: Floats, place: slice, offsets: Ints) -> Floats:
        """Return the mean of each row's segment; the rows must make up whole segments."""
        first, last = np.searchsorted(offsets, [place.start, place.stop])
        local = offsets[first : last + 1] - place.start
        weight = self.row_weight[place]
        means = self._share(_scaled(weight, v), local, np.add.reduceat(weight, local[:-1]))
        return np.repeat(means, np.diff(local), axis=0)

    @staticmethod
    def _share(v: Floats, offsets: Ints, weight_sum: Floats) -> Floats:
        """Return segment sums divided by segment weights; 0 for a segment of weight 0."""
        return _scaled(_inverse(weight_sum), np.add.reduceat(v, offsets[:-1], axis=0))

    def _per_row_of_query(self, per_query: Floats) -> Floats:
        return np.repeat(per_query, self.queries.sizes, axis=0)

    def _per_row_of_level(self, per_level: Floats) -> Floats:
        assert self.level_offsets is not None
        return np.repeat(per_level, np.diff(self.level_offsets), axis=0)


def _inverse(values: Floats) -> Floats:
    """1/values; 0 in place of 1/0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _scaled(scale: Floats, v: Floats) -> Floats:
    return scale * v if v.ndim == 1 else scale[:, None] * v


def order_by_level(queries: Queries, y: Floats) -> tuple[Ints, Ints]:
    """Return rows sorted by query, then label, and the start of each run of equal labels within a query."""
    query = queries.query_of_row()
    order = np.lexsort((y, query)).astype(np.int64)
    starts = np.concatenate([[True], (np.diff(query[order]) != 0) | (np.diff(y[order]) != 0)])
    return order, np.append(np.flatnonzero(starts), queries.n_rows).astype(np.int64)


def query_weights(
    weighting: Weighting, weight_sum: Floats, pair_sum: Floats, labels: AnyArray | None
) -> Floats:
    """The weight c of each query's pairs, from its sum of row weights and its number of pairs."""
    if weighting is Weighting.PAIR:
        return np.ones(len(weight_sum))
    total = weight_sum if weighting is Weighting.EXAMPLE else pair_sum
    if (total < 0).any():
        q = int((total < 0).argmax())
        name = "" if labels is None else f" {labels[q]}"
        raise DataError(
            f"weighting='query' counts S(S - 1)/2 pairs in a query whose row weights sum to S, but those of "
            f"query{name} sum to {weight_sum[q]:g}; scale sample_weight so that every sum is at least 1."
        )
    return _inverse(total)
