"""Selection along an exact regularization path: the scores of every breakpoint, measured."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from rankwise import _native
from rankwise.config import resolve_threads
from rankwise.errors import DataError
from rankwise.metrics.measure import Measure
from rankwise.path.path_solutions import PathSolutions
from rankwise.preferences.queries import group_rows
from rankwise.selection.search import best_alpha
from rankwise.types import Floats, Ints

# Scores per table: small enough to stay in cache and cause few page faults, but with enough breakpoints,
# since measures start afresh with every table.
TABLE_SCORES = 1 << 16
MIN_BREAKPOINTS = 32
# Scores covered by the counts yielded at a time.
COUNTED_SCORES = 1 << 23


class PathScores:
    """λ f of other rows at every breakpoint, one score vector each, never all in memory at once.

    O(rows) for each coefficient that changes on the way to a breakpoint. Scores updated this way round
    differently from those of `predict`. Where that might decide the order of two rows, or a tie, the scores
    of the breakpoint are computed as in `predict`, in O(n rows), so both lead to the same measures.

    Parameters
    ----------
    path : PathSolutions
    K : Floats, shape (rows, n)
        Kernel values between the other rows and the training rows, as in `predict`, in C order.
    """

    def __init__(self, path: PathSolutions, K: Floats) -> None:
        graph = path.graph
        self._path, self._K, self._n_threads = path, K, resolve_threads()
        self._native = _native.PathScores(
            path.pairs, path.changes, path.offsets, *graph.ends, graph.weight, np.ascontiguousarray(K.T)
        )
        self._start = np.vecdot(K, graph.adjoint(graph.weight))
        self._twin = _twins(K, self._start)
        self._rounding = path.rounding_of_scores() * float(max(K.max(), -K.min()))

    def __len__(self) -> int:
        return self._path.n_breakpoints

    def tables(self) -> Iterator[Floats]:
        """The vectors, one per row, several at a time. The tables share their memory."""
        n_rows = len(self._K)
        at_once = min(len(self), max(MIN_BREAKPOINTS, TABLE_SCORES // n_rows))
        scores = np.empty((at_once + 1, n_rows))
        scores[0] = self._start
        distinct = np.flatnonzero(self._twin == np.arange(n_rows))
        alone = len(distinct) == n_rows
        for first in range(0, len(self), at_once):
            with_next = scores[: len(self) - first]
            self._native.follow(first, with_next, self._n_threads)
            table = with_next[:at_once]
            gaps = np.diff(np.sort(table if alone else table[:, distinct], axis=1), axis=1)
            rounding = self._rounding[first : first + len(table)]
            doubtful = np.flatnonzero(gaps.min(axis=1, initial=np.inf) <= rounding)
            table[doubtful] = self._predicted(first + doubtful)
            yield table
            scores[0] = scores[-1]

    def count_pairs(self, offsets: Ints, level: Ints, column: Ints) -> Iterator[Ints]:
        """Pair counts of the scores, several vectors at a time (see `metrics.vectors`)."""
        at_once = max(MIN_BREAKPOINTS, COUNTED_SCORES // len(self._K))
        for first in range(0, len(self), at_once):
            rounding = self._rounding[first : first + at_once]
            counts = np.empty((3, len(rounding), len(offsets) - 1), dtype=np.int64)
            doubtful = np.zeros(len(rounding), dtype=np.bool_)
            self._native.count_pairs(
                first, offsets, level, column, rounding, self._twin, counts, doubtful, self._n_threads
            )
            self._count_again(first, np.flatnonzero(doubtful), offsets, level, column, counts)
            yield counts

    def _count_again(
        self, first: int, doubtful: Ints, offsets: Ints, level: Ints, column: Ints, counts: Ints
    ) -> None:
        """Replace the counts of doubtful breakpoints, numbered from `first`."""
        at_once = max(1, TABLE_SCORES // len(self._K))
        for start in range(0, len(doubtful), at_once):
            chosen = doubtful[start : start + at_once]
            again = np.empty((3, len(chosen), counts.shape[2]), dtype=np.int64)
            scores = self._predicted(first + chosen)
            _native.count_nearby_pairs(offsets, level, column, scores, again, self._n_threads)
            counts[:, chosen] = again

    def _predicted(self, breakpoints: Ints) -> Floats:
        """The scores that `predict` gives at some breakpoints."""
        scores = np.empty((len(breakpoints), len(self._K)))
        for row, coefficients in zip(scores, self._path.coefficients_of_each(breakpoints), strict=True):
            np.vecdot(self._K, coefficients, out=row)
        return scores


def _twins(K: Floats, scores: Floats) -> Ints:
    """For each row of K, the first identical row; identical rows have equal scores."""
    twin = np.arange(len(K))
    ascending = np.sort(scores)
    shared = ascending[1:][ascending[1:] == ascending[:-1]]
    first: dict[bytes, int] = {}
    for row in np.flatnonzero(np.isin(scores, shared)).tolist() if len(shared) else ():
        twin[row] = first.setdefault(K[row].tobytes(), row)
    return twin


def choose_breakpoint(
    path: PathSolutions,
    kernel_values: Floats,
    y: ArrayLike,
    qid: ArrayLike | Iterable[Hashable] | None,
    measure: Measure,
) -> tuple[Floats, int]:
    """The measure at every breakpoint, by ascending alpha, and the position of the best one.

    Parameters
    ----------
    path : PathSolutions
    kernel_values : Floats, shape (h, m)
        Kernel values between validation rows and training rows, as `predict` has them, in C order.
    y, qid
        Labels and queries of the validation rows.
    measure : Measure
    """
    prepared = measure.prepare(y, group_rows(qid, len(kernel_values)))
    if prepared.left_out.all():
        raise DataError(f"{measure.name} is undefined on the validation rows: {prepared.left_out_reason}.")
    # λ f, a positive multiple of f, gives the same order of rows.
    descending = prepared.along(PathScores(path, kernel_values))
    values = np.ascontiguousarray(descending[::-1])
    return values, best_alpha(values[None], measure)[1]
