"""Labels to measure against, arranged query by query, and score vectors ranked for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwise import _native
from rankwise.types import AnyArray, Floats, Ints


@dataclass(frozen=True)
class JudgedRows:
    """Judged rows, arranged query by query; inside a query the order is the one that settles tied scores.

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
    """

    y: Floats
    offsets: Ints
    rows: Ints | None = None
    weight: Floats | None = None
    n_threads: int = 1

    @property
    def n_queries(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        return self.offsets[1:] - self.offsets[:-1]

    @cached_property
    def rank(self) -> Ints:
        """Ranks from 0 inside each query, in the order of the arranged rows."""
        return np.arange(len(self.y)) - np.repeat(self.offsets[:-1], self.sizes)

    def arranged(self, values: Any) -> Any:
        """The caller's rows of an array, arranged."""
        return values if self.rows is None else values[self.rows]

    @property
    def caller_rows(self) -> Ints:
        """The caller's number of each arranged row."""
        return np.arange(len(self.y)) if self.rows is None else self.rows

    def query_sums(self, values: AnyArray) -> Floats:
        """Sums over the rows of each query."""
        return np.add.reduceat(values, self.offsets[:-1], dtype=np.float64)

    def repeated(self, times: int) -> JudgedRows:
        """The arranged rows so many times over, the queries of each time apart from those of the others."""
        starts = self.offsets[:-1] + len(self.y) * np.arange(times)[:, None]
        return replace(
            self,
            y=np.tile(self.y, times),
            offsets=np.append(starts.ravel(), times * len(self.y)),
            rows=None,
            weight=None if self.weight is None else np.tile(self.weight, times),
        )

    def ranked(self, scores: Floats) -> RankedRows:
        """The rows of each query by descending score; O(h log h) for a query of h rows."""
        row, first, end = np.empty((3, len(scores)), dtype=np.int64)
        _native.rank_rows(self.offsets, scores, row, first, end, self.n_threads)
        return RankedRows(row, first, end)

    def rearranged(self, places: Ints) -> JudgedRows:
        """The same rows in another order inside their queries."""
        return JudgedRows(
            y=self.y[places],
            offsets=self.offsets,
            rows=places if self.rows is None else self.rows[places],
            weight=None if self.weight is None else self.weight[places],
            n_threads=self.n_threads,
        )

    def ranked_strictly(self, scores: Floats) -> RankedRows:
        """The same, with tied rows one after the other as they are arranged."""
        return RankedRows(self.ranked(scores).row, self.rank, self.rank + 1)


@dataclass(frozen=True)
class RankedRows:
    """Rows by descending score, query after query; ranks count from 0 inside the query.

    ``row[i]`` is the arranged row at place i; the rows tied with it take the ranks ``first[i]:end[i]``.
    """

    row: Ints
    first: Ints
    end: Ints


class Formula(Protocol):
    """A measure prepared for some judged rows: everything that does not depend on the scores is done.

    Attributes
    ----------
    judged : JudgedRows
        The rows, arranged as `values` expects scores.
    empty : bool array, shape (n_queries,)
        Queries that the formula has no value for, whatever the scores.
    empty_value : float
        What they count instead; NaN leaves them out.
    empty_reason : str
        Why, in a few words.
    weight : Floats or None
        Weights of the queries in the mean; None weighs them alike.
    """

    judged: JudgedRows
    empty: NDArray[np.bool_]
    empty_value: float
    empty_reason: str
    weight: Floats | None

    def values(self, scores: Floats) -> Floats:
        """One value per query (anything where `empty`), from the scores of the arranged rows."""
        ...
