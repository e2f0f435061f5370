"""The rows of several folds at a time, which kernels then leave out one fold after the other, on threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rankwise.operators.blocks import Index, runs
from rankwise.operators.design import Design
from rankwise.preferences.differences import QueryDifferences
from rankwise.types import Floats, Ints

# A batch has about this many entries, or one fold: enough for many threads, and little memory.
BATCH_ENTRIES = 1 << 21


@dataclass(frozen=True)
class Batch:
    """Some folds of whole queries.

    Attributes
    ----------
    F : QueryDifferences
    folds : sequence of Ints
        The queries of each fold, by position.
    """

    F: QueryDifferences
    folds: Sequence[Ints]

    @cached_property
    def queries(self) -> Ints:
        """The queries of all folds, one after the other."""
        return np.concatenate(self.folds)

    @cached_property
    def query_offsets(self) -> Ints:
        """The rows of the query at place q are ``query_offsets[q]:query_offsets[q + 1]``."""
        return _offsets(self.F.queries.sizes[self.queries])

    @cached_property
    def fold_offsets(self) -> Ints:
        """The queries of fold f are at the places ``fold_offsets[f]:fold_offsets[f + 1]``."""
        return _offsets(np.array([len(fold) for fold in self.folds]))

    @cached_property
    def offsets(self) -> Ints:
        """The rows of fold f are ``offsets[f]:offsets[f + 1]``."""
        return self.query_offsets[self.fold_offsets]

    @property
    def n_rows(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def places(self) -> Ints:
        """The position of each row among the differences."""
        starts = self.F.queries.offsets[self.queries] - self.query_offsets[:-1]
        return np.repeat(starts, np.diff(self.query_offsets)) + np.arange(self.n_rows)

    @cached_property
    def rows(self) -> Ints:
        """Row numbers as the caller knows them."""
        return self.places if self.F.order is None else self.F.order[self.places]

    def centred_rows(self, design: Design) -> Floats:
        """The rows of X, each minus the mean of its query."""
        return design.centred_rows(self.rows, self.query_offsets, self.F.row_weight[self.places])

    def differences(self, centred: Floats) -> Floats:
        """F applied to rows whose queries have mean 0."""
        return self._by_run(centred, self.F.apply_centred)

    def rows_with(self, differences: Floats) -> Floats:
        """The rows that have these differences, up to a constant per query."""
        return self._by_run(differences, self.F.rows_with)

    def by_fold(self, scores: Floats) -> list[Floats]:
        """The scores of each fold, in ascending order of row numbers."""
        rows = self.rows
        if (np.diff(rows) > 0).all():
            return [scores[first:last] for first, last in pairwise(self.offsets)]
        return [scores[first:last][np.argsort(rows[first:last])] for first, last in pairwise(self.offsets)]

    def _by_run(self, rows: Floats, work: Callable[[Floats, Index], Floats]) -> Floats:
        """Work on runs of queries that are adjacent among the differences; without levels, on all at once."""
        if self.F.level_offsets is None:
            return work(rows, self.places)
        breaks = np.flatnonzero(np.diff(self.queries) != 1) + 1
        parts = []
        for first, last in pairwise([0, *breaks.tolist(), len(self.queries)]):
            start, stop = self.query_offsets[first], self.query_offsets[last]
            place = slice(int(self.places[start]), int(self.places[start]) + int(stop - start))
            parts.append(work(rows[start:stop], place))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def batches(F: QueryDifferences, folds: Sequence[Ints], n_columns: int) -> Iterator[Batch]:
    """All folds in order; a fold larger than a batch has its own."""
    for first, last in runs(_offsets(fold_sizes(F, folds)), max(1, BATCH_ENTRIES // n_columns)):
        yield Batch(F, folds[first:last])


def fold_sizes(F: QueryDifferences, folds: Sequence[Ints]) -> Ints:
    """The number of rows of each fold."""
    ends = _offsets(np.array([len(fold) for fold in folds]))
    return np.asarray(np.add.reduceat(F.queries.sizes[np.concatenate(folds)], ends[:-1]))


def _offsets(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)])
