"""The exact regularization path of a kernel ranking SVM (paper E)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rankwise.errors import DataError, ParameterError
from rankwise.preferences.graphs import PreferenceGraph
from rankwise.solvers.svm_path_walk import Walk
from rankwise.types import Floats, Ints

# Called after every event with the part of the path behind it (0 to 1, by log λ), the number of events so far
# and the number of free pairs.
Progress: TypeAlias = Callable[[float, int, int], None]

# The walk is refreshed after so many events, and whenever its violation passes this share of the tolerance.
REFRESH_EVERY = 256
REFRESH_SHARE = 1e-3
# A first breakpoint below this share of its bound is zero but for rounding.
NOTHING = 1e-14
# So many events in a row without progress mean that rounding has the upper hand.
MAX_STALLED = 10_000


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
        Free pairs |I_α| on the way to the next breakpoint.
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

    def scores_along(self, K_rows: Floats, block: int) -> Iterator[Floats]:
        """λ f of other rows at every breakpoint, a block of breakpoints at a time, one row a breakpoint.

        O(rows) for each multiplier that changes on the way to a breakpoint.

        Parameters
        ----------
        K_rows : Floats, shape (rows, n)
            Kernel values between those rows and the training rows.
        """
        columns = np.ascontiguousarray(K_rows.T)
        scores = K_rows @ self.graph.adjoint(self.graph.weight)
        for start in range(0, self.n_breakpoints, block):
            stop = min(start + block, self.n_breakpoints)
            steps = np.empty((stop - start, len(scores)))
            steps[0] = scores
            steps[1:] = self._row_changes(start, stop - 1) @ columns
            np.cumsum(steps, axis=0, out=steps)
            yield steps
            if stop < self.n_breakpoints:
                scores = steps[-1] + (self._row_changes(stop - 1, stop) @ columns)[0]

    def _row_changes(self, start: int, stop: int) -> sparse.csr_array:
        """``Pᵀ`` times the change of the multipliers after each breakpoint start .. stop − 1, one a row."""
        piece = slice(self.offsets[start], self.offsets[stop])
        step = np.repeat(np.arange(stop - start), np.diff(self.offsets[start : stop + 1]))
        pairs, change = self.pairs[piece], self.changes[piece]
        rows = np.concatenate([self.graph.better[pairs], self.graph.worse[pairs]])
        entries = (np.concatenate([change, -change]), (np.concatenate([step, step]), rows))
        return sparse.csr_array(entries, shape=(stop - start, self.graph.n_rows))

    def _sum_changes(self, t: int) -> Floats:
        """Multipliers at breakpoint t."""
        stop = self.offsets[t]
        change = np.bincount(self.pairs[:stop], self.changes[:stop], self.graph.n_pairs)
        return np.clip(self.graph.weight + change, 0.0, self.graph.weight)


@dataclass
class _Log:
    """What a path under way has recorded."""

    multipliers: Floats
    levels: list[float] = field(default_factory=list)
    violations: list[float] = field(default_factory=list)
    active_sizes: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=lambda: [0])
    pairs: list[NDArray[np.int32]] = field(default_factory=list)
    changes: list[Floats] = field(default_factory=list)

    def arrive(self, walk: Walk, violation: float) -> None:
        self.levels.append(walk.level)
        self.violations.append(violation)

    def leave(self, walk: Walk, free: Ints) -> None:
        """Record what a step from the last breakpoint has changed."""
        touched = np.unique(np.concatenate([free, [pair for pair, _ in walk.moved]])).astype(np.int64)
        walk.moved.clear()
        change = walk.a[touched] - self.multipliers[touched]
        self.multipliers[touched] = walk.a[touched]
        self.pairs.append(touched.astype(np.int32))
        self.changes.append(change)
        self.active_sizes.append(len(free))
        self.offsets.append(self.offsets[-1] + len(touched))

    def freeze(self, graph: PreferenceGraph, message: str, *, complete: bool, converged: bool) -> SVMPath:
        n = len(self.levels)
        return SVMPath(
            graph=graph,
            levels=np.array(self.levels),
            violations=np.array(self.violations),
            active_sizes=np.array([*self.active_sizes, 0][:n], dtype=np.int64),
            complete=complete,
            converged=converged,
            message=message,
            offsets=np.array(self.offsets[:n], dtype=np.int64),
            pairs=np.concatenate([np.empty(0, dtype=np.int32), *self.pairs[: n - 1]]),
            changes=np.concatenate([np.empty(0), *self.changes[: n - 1]]),
        )


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
    special case, since the direction is then zero. `Walk` says how simultaneous events and singular systems
    are solved. An event costs O(|I|² + n |I|) and a look at the pairs that may come next; memory is
    O(n² + pairs + Σ|I|).
    """
    walk = Walk(K, graph, n_threads)
    if walk.level <= NOTHING * float(graph.weight.sum() * K.diagonal().max()):
        raise DataError(
            "There is nothing to learn: the differences of the pairs cancel out in the kernel's space."
        )
    first = walk.level
    floor = min_level(first)
    log = _Log(multipliers=walk.a.copy())
    stalled = 0

    def stop(message: str, *, complete: bool = False, converged: bool = True) -> SVMPath:
        return log.freeze(graph, message, complete=complete, converged=converged)

    while True:
        near, violation = walk.near_margin()
        events = len(log.levels)
        if violation > REFRESH_SHARE * tolerance or events % REFRESH_EVERY == REFRESH_EVERY - 1:
            walk.refresh()
            near, violation = walk.near_margin()
        if violation > tolerance:
            return stop(
                f"the optimality conditions are violated by {violation:.1e} after {events} events, more than "
                f"{tolerance:.1e}: the kernel matrix is too nearly singular to go on",
                converged=False,
            )
        log.arrive(walk, violation)
        if walk.level <= floor:
            return stop("the smallest alpha was reached")
        if max_events is not None and events >= max_events:
            return stop(f"max_events={max_events} was reached", converged=False)
        walk.turn(near)
        if not walk.n_at_box:
            return stop("every pair is satisfied", complete=True)
        free = walk.elbow.pairs.copy()
        level = walk.level
        walk.advance(floor)
        log.leave(walk, free)
        stalled = stalled + 1 if walk.level >= level * (1 - 1e-15) else 0
        if stalled > MAX_STALLED:
            return stop(f"{stalled} events in a row made no progress", converged=False)
        if on_event is not None:
            on_event(np.log(walk.level / first) / np.log(floor / first), events + 1, walk.elbow.size)


def duality_gap(K: Floats, graph: PreferenceGraph, multipliers: Floats, level: float) -> float:
    """The gap between paper E's problems (6) and (8) at these multipliers, relative to the first."""
    rows = graph.adjoint(multipliers)
    g = K @ rows
    square = float(rows @ g) / level
    loss = float(graph.weight @ np.maximum(0.0, 1.0 - graph.differences(g) / level))
    primal = loss + square / 2
    dual = float(multipliers.sum()) - square / 2
    return (primal - dual) / primal
