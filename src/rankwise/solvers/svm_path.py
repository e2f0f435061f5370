"""The exact regularization path of a kernel ranking SVM (paper E)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankwise import _native
from rankwise.errors import DataError, ParameterError
from rankwise.preferences.graphs import PreferenceGraph
from rankwise.types import Floats, Ints

# Called now and then with the part of the path behind (0 to 1, by log λ), the number of events so far and the
# number of free pairs.
Progress: TypeAlias = Callable[[float, int, int], None]

# A first breakpoint below this share of its bound is zero but for rounding.
NOTHING = 1e-14
# Events between two calls of `on_event`, and between two looks for an interrupt.
EVENTS_PER_REPORT = 256


class End(IntEnum):
    """How a walk ended; the values are those of WalkState in native/kernels/path_walk.hpp."""

    RUNNING = 0
    REACHED_FLOOR = 1
    ALL_SATISFIED = 2
    VIOLATED = 3
    STALLED = 4
    MAX_EVENTS = 5


@dataclass(frozen=True)
class SVMPath:
    """Every solution from the first breakpoint down to the last level reached.

    The multipliers are piecewise linear in the level λ and stored as their changes, so memory is O(the sum of
    the numbers of free pairs over all breakpoints).

    Attributes
    ----------
    graph : PreferenceGraph
        Its weights are the boxes of the multipliers.
    levels : Floats, shape (n_breakpoints,)
        λ of each breakpoint, falling; the first is λ⁰, above which every multiplier is at its box.
    violations : Floats, shape (n_breakpoints,)
        The largest violation of the optimality conditions, in units of the margin.
    active_sizes : Ints, shape (n_breakpoints,)
        Free pairs |I_α| on the way to the next breakpoint; after the last, those that would be.
    complete : bool
        Every pair is satisfied at the last breakpoint, so that the scores stay the same below it.
    converged : bool
    message : str
        Why the path stopped where it did.
    """

    graph: PreferenceGraph
    levels: Floats
    violations: Floats
    active_sizes: Ints
    complete: bool
    converged: bool
    message: str
    # Change k adds changes[k] to multiplier pairs[k]; those of breakpoint t are offsets[t]:offsets[t + 1].
    offsets: Ints = field(repr=False)
    pairs: NDArray[np.int32] = field(repr=False)
    changes: Floats = field(repr=False)

    @property
    def n_breakpoints(self) -> int:
        return len(self.levels)

    def multipliers_at(self, level: float) -> Floats:
        """The multipliers a at any level that the path covers."""
        if level >= self.levels[0]:
            return self.graph.weight.copy()
        if level < self.levels[-1]:
            if not self.complete:
                raise ParameterError(f"The path covers levels from {self.levels[-1]:.17g}; got {level:.17g}.")
            return np.asarray(self._sum_changes(self.n_breakpoints - 1) * (level / self.levels[-1]))
        t = int(np.searchsorted(-self.levels, -level, side="right")) - 1
        before: Floats = self._sum_changes(t)
        if level == self.levels[t]:
            return before
        share = (self.levels[t] - level) / (self.levels[t] - self.levels[t + 1])
        piece = slice(self.offsets[t], self.offsets[t + 1])
        np.add.at(before, self.pairs[piece], share * self.changes[piece])
        return before

    def coefficients_at(self, level: float) -> Floats:
        """β with ``f = Σ βᵢ k(xᵢ, ·)``; ``β = Pᵀ a / λ``."""
        return self.graph.adjoint(self.multipliers_at(level)) / level

    def scores_along(self, K_columns: Floats, block: int, n_threads: int = 1) -> Iterator[Floats]:
        """λ f of other rows at every breakpoint, a block of breakpoints at a time, one row a breakpoint.

        O(rows) for each coefficient that changes on the way to a breakpoint. The blocks share their memory.

        Parameters
        ----------
        K_columns : Floats, shape (n, rows)
            Kernel values between the training rows and those rows, in C order.
        """
        better, worse = self.graph.better.astype(np.int32), self.graph.worse.astype(np.int32)
        scores = np.empty((min(block, self.n_breakpoints) + 1, K_columns.shape[1]))
        scores[0] = self.graph.adjoint(self.graph.weight) @ K_columns
        for start in range(0, self.n_breakpoints, block):
            offsets = self.offsets[start : start + block + 1]
            _native.scores_along_path(
                self.pairs, self.changes, offsets, better, worse, K_columns, scores, n_threads
            )
            yield scores[: min(block, len(offsets))]
            scores[0] = scores[len(offsets) - 1]

    def _sum_changes(self, t: int) -> Floats:
        """Multipliers at breakpoint t."""
        stop = self.offsets[t]
        change = np.bincount(self.pairs[:stop], self.changes[:stop], self.graph.n_pairs)
        return np.clip(self.graph.weight + change, 0.0, self.graph.weight)


def ranking_svm_path(
    K: Floats,
    graph: PreferenceGraph,
    *,
    min_level: Callable[[float], float],
    max_events: int | None = None,
    tolerance: float = 1e-7,
    n_threads: int = 1,
    on_event: Progress | None = None,
) -> SVMPath:
    """Follow the minimizers of ``Σ_p w_p max(0, 1 − (f_better − f_worse)) + (λ/2)‖f‖²`` as λ falls.

    Parameters
    ----------
    K : Floats, shape (n, n)
        Symmetric positive semi-definite, rows in C order.
    graph : PreferenceGraph
    min_level : function
        From λ⁰, the largest breakpoint, to the λ at which to stop; positive.
    max_events : int or None
    tolerance : float
        The path stops when a violation of the optimality conditions cannot be kept below this.

    Returns
    -------
    SVMPath

    Notes
    -----
    Paper E, algorithm 1 and equations (11) to (17), with λ⁰ of its section 5.1; an empty I_α needs no
    special case, since the direction is then zero. native/kernels/path_walk.hpp says how simultaneous
    events and singular systems, which the paper leaves open, are solved exactly. An event costs
    O(|I|² + n |I|) and a look at the pairs that may come next; memory is O(n² + pairs + Σ|I|).
    """
    better, worse = graph.better.astype(np.int32), graph.worse.astype(np.int32)
    walk = _native.PathWalk(_centred(K), better, worse, graph.weight, n_threads)
    first = walk.level
    if first <= NOTHING * float(graph.weight.sum() * K.diagonal().max()):
        raise DataError("There is nothing to learn: the pairs' differences cancel out in the kernel's space.")
    floor = min_level(first)
    limit = -1 if max_events is None else max_events
    end = End.RUNNING
    while end is End.RUNNING:
        end = End(walk.follow(floor, tolerance, limit, EVENTS_PER_REPORT))
        if on_event is not None:
            done = 1.0 if floor >= first else np.log(walk.level / first) / np.log(floor / first)
            on_event(float(done), walk.n_breakpoints - 1, walk.active_size)
    return _read(walk, graph, end, tolerance)


def _centred(K: Floats) -> Floats:
    """The kernel matrix of the same rows with their mean moved to the origin: ``H K H``, H = I − 11ᵀ/n.

    Pairs see only differences of rows, which stay as they are. Without what all rows have in common, a
    nearly constant kernel (rbf with a small gamma) keeps its digits.
    """
    mean = K.mean(axis=0)
    half = mean - mean.mean() / 2
    # A sum in this form is exactly symmetric, and equal rows stay exactly equal.
    common: Floats = np.add.outer(half, half)
    np.subtract(K, common, out=common)
    return common


def _read(walk: _native.PathWalk, graph: PreferenceGraph, end: End, tolerance: float) -> SVMPath:
    n = walk.n_breakpoints
    levels, violations, offsets = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    walk.breakpoints(levels, violations, offsets)
    n_changes = int(offsets[-1])
    active_sizes = np.full(n, walk.active_size, dtype=np.int64)
    pairs, changes = np.empty(n_changes, dtype=np.int32), np.empty(n_changes)
    walk.changes(active_sizes[: n - 1], pairs, changes)
    message = {
        End.REACHED_FLOOR: "the smallest alpha was reached",
        End.ALL_SATISFIED: "every pair is satisfied",
        End.VIOLATED: f"the optimality conditions are violated by {walk.violation:.1e} after {n} events, "
        f"more than {tolerance:.1e}: the kernel matrix is too nearly singular to go on",
        End.STALLED: "rounding errors keep it from making progress",
        End.MAX_EVENTS: f"max_events={n - 1} was reached",
    }[end]
    return SVMPath(
        graph=graph,
        levels=levels,
        violations=violations,
        active_sizes=active_sizes,
        complete=end is End.ALL_SATISFIED,
        converged=end in (End.REACHED_FLOOR, End.ALL_SATISFIED),
        message=message,
        offsets=offsets,
        pairs=pairs,
        changes=changes,
    )


def duality_gap(K: Floats, graph: PreferenceGraph, multipliers: Floats, level: float) -> float:
    """The gap between paper E's problems (6) and (8) at these multipliers, relative to the first."""
    rows = graph.adjoint(multipliers)
    g = _centred(K) @ rows
    square = float(rows @ g) / level
    loss = float(graph.weight @ np.maximum(0.0, 1.0 - graph.differences(g) / level))
    primal = loss + square / 2
    dual = float(multipliers.sum()) - square / 2
    return (primal - dual) / primal
