"""Scores of other rows at every breakpoint of a regularization path."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankwise import _native
from rankwise.solvers.path_solutions import PathSolutions
from rankwise.types import Floats, Ints

# Scores per table: small enough to stay in cache and cause few page faults, but with enough breakpoints,
# since measures start afresh with every table.
TABLE_SCORES = 1 << 16
MIN_BREAKPOINTS = 32
# Scores covered by the counts yielded at a time.
COUNTED_SCORES = 1 << 23


class PathScores:
    """λ f of other rows at every breakpoint, one score vector each, never all in memory at once.

    O(rows) for each coefficient that changes on the way to a breakpoint.

    Parameters
    ----------
    path : PathSolutions
    K_columns : Floats, shape (n, rows)
        Kernel values between the training rows and the other rows, in C order.
    n_threads : int
        The result does not depend on it.
    """

    def __init__(self, path: PathSolutions, K_columns: Floats, n_threads: int = 1) -> None:
        graph = path.graph
        self._native = _native.PathScores(
            path.pairs, path.changes, path.offsets, *graph.ends, graph.weight, K_columns
        )
        self._path = path
        self._K_columns = K_columns
        self._n_threads = n_threads

    def __len__(self) -> int:
        return self._path.n_breakpoints

    def tables(self) -> Iterator[Floats]:
        """The vectors, one per row, several at a time. The tables share their memory."""
        n_rows = self._K_columns.shape[1]
        at_once = min(len(self), max(MIN_BREAKPOINTS, TABLE_SCORES // n_rows))
        scores = np.empty((at_once + 1, n_rows))
        scores[0] = self._path.graph.adjoint(self._path.graph.weight) @ self._K_columns
        for first in range(0, len(self), at_once):
            with_next = scores[: len(self) - first]
            self._native.follow(first, with_next, self._n_threads)
            yield with_next[:at_once]
            scores[0] = scores[-1]

    def count_pairs(self, offsets: Ints, level: Ints, column: Ints) -> Iterator[Ints]:
        """Pair counts of the scores, several vectors at a time (see `metrics.vectors`)."""
        at_once = max(MIN_BREAKPOINTS, COUNTED_SCORES // self._K_columns.shape[1])
        for first in range(0, len(self), at_once):
            counts = np.empty((3, min(at_once, len(self) - first), len(offsets) - 1), dtype=np.int64)
            self._native.count_pairs(first, offsets, level, column, counts, self._n_threads)
            yield counts
