"""Labels arranged by query, and score vectors ranked against them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwise import _native
from rankwise.types import AnyArray, Bools, Floats, Ints


@dataclass(frozen=True)
class ArrangedRows:
    """Judged rows arranged by query; within a query, their order breaks ties between scores.

    Attributes
    ----------
    y : Floats
        Labels of the arranged rows.
    offsets : Ints
        Query q holds the arranged rows ``offsets[q]:offsets[q + 1]``; no query is empty.
    rows : Ints or None
        Arranged row i is the caller's row ``rows[i]``; None when they are the same.
    weight : Floats or None
        Weights of the arranged rows.
    n_threads : int
        For the kernels.
    unjudged : bool array or None
        Which of the arranged rows were not judged.
    """

    y: Floats
    offsets: Ints
    rows: Ints | None
    weight: Floats | None
    n_threads: int
    unjudged: Bools | None = None

    def gaps(self) -> Bools:
        """Which rows were not judged."""
        return np.zeros(len(self.y), dtype=np.bool_) if self.unjudged is None else self.unjudged

    @property
    def n_queries(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        return self.offsets[1:] - self.offsets[:-1]

    @cached_property
    def rank(self) -> Ints:
        """Ranks from 0 within each query, in the order of the arranged rows."""
        return np.arange(len(self.y)) - np.repeat(self.offsets[:-1], self.sizes)

    def arranged(self, values: Any) -> Any:
        """Arrange an array whose last axis is in the caller's row order."""
        return values if self.rows is None else np.take(values, self.rows, axis=-1)

    @property
    def caller_rows(self) -> Ints:
        """The caller's row number of each arranged row."""
        return np.arange(len(self.y)) if self.rows is None else self.rows

    def query_sums(self, values: AnyArray) -> Floats:
        """Sums over the rows of each query."""
        return np.add.reduceat(values, self.offsets[:-1], dtype=np.float64)

    def repeated(self, times: int) -> ArrangedRows:
        """Repeat the arranged rows this many times, each time as separate queries."""
        starts = self.offsets[:-1] + len(self.y) * np.arange(times)[:, None]
        return replace(
            self,
            y=np.tile(self.y, times),
            offsets=np.append(starts.ravel(), times * len(self.y)),
            rows=None,
            weight=None if self.weight is None else np.tile(self.weight, times),
            unjudged=None if self.unjudged is None else np.tile(self.unjudged, times),
        )

    def ranked(self, scores: Floats) -> RankedRows:
        """The rows of each query by descending score; O(h log h) for a query of h rows."""
        row, first, end = np.empty((3, len(scores)), dtype=np.int64)
        _native.rank_rows(self.offsets, scores, row, first, end, self.n_threads)
        return RankedRows(row, first, end)

    def rearranged(self, places: Ints) -> ArrangedRows:
        """The same rows in a different order within their queries."""
        return ArrangedRows(
            y=self.y[places],
            offsets=self.offsets,
            rows=places if self.rows is None else self.rows[places],
            weight=None if self.weight is None else self.weight[places],
            n_threads=self.n_threads,
            unjudged=None if self.unjudged is None else self.unjudged[places],
        )

    def ranked_strictly(self, scores: Floats) -> RankedRows:
        """Like `ranked`, but with tied rows in their arranged order."""
        return RankedRows(self.ranked(scores).row, self.rank, self.rank + 1)


@dataclass(frozen=True)
class RankedRows:
    """Rows by query and descending score; ranks count from 0 within the query.

    ``row[i]`` is the arranged row at position i; the rows tied with it occupy the ranks
    ``first[i]:end[i]``.
    """

    row: Ints
    first: Ints
    end: Ints


class Formula(Protocol):
    """A measure prepared for some judged rows: everything independent of the scores is precomputed.

    Attributes
    ----------
    judged : ArrangedRows
        The rows, arranged as `values` expects scores.
    empty : bool array, shape (n_queries,)
        Queries for which the formula is undefined, whatever the scores.
    empty_value : float
        The value that they get instead; NaN excludes them.
    empty_reason : str
        A short reason.
    weight : Floats or None
        Weights of the queries in the mean; None weights them equally.
    """

    judged: ArrangedRows
    empty: NDArray[np.bool_]
    empty_value: float
    empty_reason: str
    weight: Floats | None

    def values(self, scores: Floats) -> Floats:
        """One value per query (arbitrary where `empty`), from the scores of the arranged rows."""
        ...
