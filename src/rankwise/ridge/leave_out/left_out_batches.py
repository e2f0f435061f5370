"""The rows of several folds at a time, which kernels then leave out one fold after the other, on threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rankwise.operators.blocks import Index, runs
from rankwise.operators.design import Design, MatrixDesign
from rankwise.preferences.across import AcrossQueries
from rankwise.preferences.differences import QueryDifferences
from rankwise.ridge.squared import SquaredLoss
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

    @property
    def removed_offsets(self) -> Ints:
        """What fold f removes from the loss is at ``removed_offsets[f]:removed_offsets[f + 1]``."""
        return self.offsets

    def removed(self, rows: Floats) -> Floats:
        """Of the differences of the loss, those that the folds remove, given their `centred_rows`."""
        return self.differences(rows)

    def removed_target(self, target: Floats) -> Floats:
        """The target of the differences that the folds remove."""
        return target[self.places]

    def scored(self, rows: Floats) -> Floats:
        """The rows whose scores tell those of a fold apart, given their `centred_rows`."""
        return rows

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


@dataclass(frozen=True)
class BatchAcross(Batch):
    """Some folds of a loss that compares rows of different queries, too, with ties kept.

    Let rows x have weights g that sum to S, ``x̃ᵢ = xᵢ − Σ g x / S``, and ``x̃_q`` the mean of x̃ over a query.
    The differences of a row within its query and to all rows, which count β, are as good as
    ``√gᵢ (√(1 + β) (x̃ᵢ − x̃_q) + √β x̃_q)``, since the two parts are orthogonal over a query. A fold of weight
    S_f removes those of its rows and, because the mean of all rows moves, one more: ``√(β / (S − S_f)) σ``
    with ``σ = Σ gᵢ x̃ᵢ`` over the fold. Its rows are scored from the mean of the others, ``−σ / (S − S_f)``.
    """

    across: AcrossQueries
    mean: Floats

    @cached_property
    def removed_offsets(self) -> Ints:
        return self.offsets + np.arange(len(self.offsets))

    def centred_rows(self, design: Design) -> Floats:
        """The rows of X, each minus the mean of all rows."""
        assert isinstance(design, MatrixDesign)
        return design.rows(self.rows) - self.mean

    def removed(self, rows: Floats) -> Floats:
        """Linear in the rows, which may be labels as well."""
        beta, weight = self.across.beta, self._weight
        root = np.sqrt(weight).reshape(-1, *[1] * (rows.ndim - 1))
        mean = np.repeat(_means(weight, rows, self.query_offsets), np.diff(self.query_offsets), axis=0)
        own = root * (np.sqrt(1.0 + beta) * (rows - mean) + np.sqrt(beta) * mean)
        moved = np.sqrt(beta * self._share_of_others) * _sums(weight, rows, self.offsets).T
        return np.insert(own, self.offsets[1:], moved.T, axis=0)

    def removed_target(self, target: Floats) -> Floats:
        whole, n_rows = self.across.whole, self.across.n_rows
        labels = whole.rows_with(target[n_rows:], slice(0, n_rows))
        return self.removed(labels[self.rows])

    def scored(self, rows: Floats) -> Floats:
        """The rows, each minus the mean of all that are not in its fold."""
        shift = (self._share_of_others * _sums(self._weight, rows, self.offsets).T).T
        return rows + np.repeat(shift, np.diff(self.offsets), axis=0)

    @property
    def _weight(self) -> Floats:
        return self.across.row_weight[self.places]

    @property
    def _share_of_others(self) -> Floats:
        """One over the weight of all rows that are not in a fold; 0 if nothing is left."""
        total, own = self.across.row_weight.sum(), np.add.reduceat(self._weight, self.offsets[:-1])
        left = np.where(own < total, total - own, np.inf)
        return np.asarray(1.0 / left)


def _sums(weight: Floats, rows: Floats, offsets: Ints) -> Floats:
    """The weighted sum of each run of rows."""
    return np.asarray(np.add.reduceat((weight * rows.T).T, offsets[:-1], axis=0))


def _means(weight: Floats, rows: Floats, offsets: Ints) -> Floats:
    """The weighted mean of each run of rows; 0 without weight."""
    total = np.add.reduceat(weight, offsets[:-1])
    return np.asarray((_sums(weight, rows, offsets).T / np.where(total > 0.0, total, 1.0)).T)


def batches(F: QueryDifferences, folds: Sequence[Ints], n_columns: int) -> Iterator[Batch]:
    """All folds in order; a fold larger than a batch has its own."""
    for first, last in runs(_offsets(fold_sizes(F, folds)), max(1, BATCH_ENTRIES // n_columns)):
        yield Batch(F, folds[first:last])


def batches_of_rows(loss: SquaredLoss, design: Design, folds: Sequence[Ints]) -> Iterator[Batch]:
    """The same for a loss of which queries can be left out, and the features that it is a function of."""
    F = loss.differences
    if not isinstance(F, AcrossQueries):
        yield from batches(query_differences(loss), folds, design.shape[1])
        return
    assert isinstance(design, MatrixDesign)
    weight = F.whole.row_weight
    mean = design.adjoint(weight / weight.sum())
    for batch in batches(F.within, folds, design.shape[1]):
        yield BatchAcross(batch.F, batch.folds, F, mean)


def can_leave_queries_out(loss: SquaredLoss, design: Design) -> bool:
    """Whether models without queries follow from the model of all.

    Pairs across queries must count the same whatever is left out.
    """
    F = loss.differences
    if isinstance(F, AcrossQueries):
        return F.is_centring and isinstance(design, MatrixDesign)
    return isinstance(F, QueryDifferences)


def query_differences(loss: SquaredLoss) -> QueryDifferences:
    """The differences within queries, of a loss of which queries can be left out."""
    F = loss.differences.within if isinstance(loss.differences, AcrossQueries) else loss.differences
    if not isinstance(F, QueryDifferences) or loss.target.ndim != 1:
        raise TypeError("Leave-query-out needs labels with one target.")
    return F


def fold_sizes(F: QueryDifferences, folds: Sequence[Ints]) -> Ints:
    """The number of rows of each fold."""
    ends = _offsets(np.array([len(fold) for fold in folds]))
    return np.asarray(np.add.reduceat(F.queries.sizes[np.concatenate(folds)], ends[:-1]))


def _offsets(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)])
