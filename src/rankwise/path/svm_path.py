"""The exact regularization path of a kernel ranking SVM (paper E)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import numpy as np

from rankwise import _native
from rankwise.config import resolve_threads
from rankwise.errors import DataError
from rankwise.long_tasks import step
from rankwise.path.graphs import PreferenceGraph
from rankwise.path.path_solutions import PathSolutions
from rankwise.types import Floats, Ints

# Called periodically with the fraction of the path completed (0 to 1, in log λ), the number of events so far
# and the number of free pairs.
OnEvent: TypeAlias = Callable[[float, int, int], None]

# Levels below this share of their bound are so small that the rounding of kernel values shows in the scores.
RESOLVED = 2e-10
# What may be left of scores λ f at level zero, as a share of the smallest level at which they are settled.
SETTLED_SHARE = 1e-6
# Bounds that leave doubles enough range for squares and for a long path.
SAFE_RANGE = (1e-150, 1e150)
# Events between calls of `on_event`, and between checks for an interrupt.
EVENTS_PER_REPORT = 256


class End(IntEnum):
    """How a walk ended; the values up to MAX_EVENTS match WalkState in native/kernels/path_walk.hpp."""

    RUNNING = 0
    REACHED_FLOOR = 1
    SETTLED = 2
    VIOLATED = 3
    STALLED = 4
    MAX_EVENTS = 5
    INTERRUPTED = 6
    UNRESOLVED = 7


CONVERGED = (End.REACHED_FLOOR, End.SETTLED)


@dataclass(frozen=True)
class SVMPath(PathSolutions):
    """All solutions from the first breakpoint down to the last level reached, and their accuracy.

    Attributes
    ----------
    violations : Floats, shape (n_breakpoints,)
        The largest violation of the optimality conditions, in units of the margin.
    active_sizes : Ints, shape (n_breakpoints,)
        Free pairs |I_α| on the way to the next breakpoint; after the last, those that would be free.
    converged : bool
    message : str
        Why the path stopped where it did.
    """

    violations: Floats
    active_sizes: Ints
    converged: bool
    message: str
    interrupted: bool

    @property
    def complaint(self) -> str | None:
        """What to tell the user if the path stops before the alpha that was asked for."""
        return None if self.converged else f"The path stops at alpha = {self.alphas[0]:.3g}: {self.message}."


def ranking_svm_path(
    K: Floats,
    graph: PreferenceGraph,
    *,
    min_alpha: float | None = None,
    reach: float = 1e-3,
    max_events: int | None = None,
    tolerance: float = 1e-7,
    on_event: OnEvent | None = None,
) -> SVMPath:
    """Follow the minimizers of ``Σ_p w_p max(0, 1 − (f_better − f_worse)) + (λ/2)‖f‖²`` as λ falls.

    Parameters
    ----------
    K : Floats, shape (n, n)
        Symmetric positive semi-definite, rows in C order.
    graph : PreferenceGraph
    min_alpha : float or None
        The level at which to stop, in units of alpha (see `PreferenceGraph.level_per_alpha`).
    reach : float
        The level at which to stop otherwise, as a share of the largest breakpoint.
    max_events : int or None
    tolerance : float
        The path stops when a violation of the optimality conditions cannot be kept below this.
    on_event : callable, optional
        See `OnEvent`. A KeyboardInterrupt, during a call or between calls, ends the path at that point.

    Returns
    -------
    SVMPath

    Notes
    -----
    Paper E, algorithm 1 and equations (11) to (17), with λ⁰ from its section 5.1; an empty I_α needs no
    special case, since the direction is then zero. native/kernels/path_walk.hpp explains how simultaneous
    events and singular systems, which the paper leaves open, are solved exactly. An event costs
    O(|I|² + n |I|) plus a scan of the pairs that may come next; memory is O(n² + pairs + Σ|I|).
    """
    largest = float(K.diagonal().max())
    bound = float(graph.weight.sum()) * largest
    if largest > 0.0 and not SAFE_RANGE[0] < bound < SAFE_RANGE[1]:
        raise DataError(f"Kernel values of up to {largest:.1e} are out of range; scale the features.")
    walk = _native.PathWalk(_centred(K), *graph.ends, graph.weight, resolve_threads())
    first = walk.level
    asked = reach * first if min_alpha is None else min(first, min_alpha * graph.level_per_alpha)
    resolved = RESOLVED * bound
    if first <= resolved:
        raise DataError(
            "There is nothing to learn: the differences of the pairs cancel out in kernel space, or rounding "
            "errors hide them. If features are far from zero, bring them nearer."
        )
    floor = max(asked, resolved)
    limit = -1 if max_events is None else max_events
    end = End.RUNNING
    try:
        while end is End.RUNNING:
            end = End(walk.follow(floor, tolerance, limit, EVENTS_PER_REPORT))
            whole = end in CONVERGED or floor >= first
            done = 1.0 if whole else float(np.log(walk.level / first) / np.log(floor / first))
            step(done=done)
            if on_event is not None:
                on_event(done, walk.n_breakpoints - 1, walk.active_size)
    except KeyboardInterrupt:
        if walk.n_breakpoints == 0:
            raise
        end = End.INTERRUPTED
    if end is End.REACHED_FLOOR and floor > asked:
        end = End.UNRESOLVED
    return _read(walk, graph, end, tolerance, resolved)


def _centred(K: Floats) -> Floats:
    """The kernel matrix of the same rows with their mean moved to the origin: ``H K H``, H = I − 11ᵀ/n.

    Pairs depend only on differences of rows, which do not change. Removing the common part preserves the
    precision of a nearly constant kernel (rbf with a small gamma).
    """
    mean = K.mean(axis=0)
    half = mean - mean.mean() / 2
    # In this form the result is exactly symmetric, and equal rows stay exactly equal.
    common: Floats = np.add.outer(half, half)
    np.subtract(K, common, out=common)
    return common


def _read(
    walk: _native.PathWalk, graph: PreferenceGraph, end: End, tolerance: float, resolved: float
) -> SVMPath:
    n = walk.n_breakpoints
    levels, violations, offsets = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    walk.breakpoints(levels, violations, offsets)
    n_changes = int(offsets[-1])
    active_sizes = np.full(n, walk.active_size, dtype=np.int64)
    pairs, changes = np.empty(n_changes, dtype=np.int32), np.empty(n_changes)
    walk.changes(active_sizes[: n - 1], pairs, changes)
    message = {
        End.REACHED_FLOOR: "the smallest alpha was reached",
        End.SETTLED: "the scores no longer change",
        End.VIOLATED: f"at the next event, rounding errors violate the optimality conditions by "
        f"{walk.violation:.1e}, more than tol={tolerance:g} allows",
        End.STALLED: "rounding errors prevent further progress",
        End.MAX_EVENTS: f"max_events={n - 1} was reached",
        End.INTERRUPTED: "interrupted from the keyboard",
        End.UNRESOLVED: "below it, the rounding errors of kernel values would show in the scores",
    }[end]
    least = levels[-1]
    if end is End.SETTLED:
        # If every pair is satisfied, nothing remains to be learned at any level.
        certain = walk.remaining == 0.0
        least = 0.0 if certain else min(least, max(resolved, walk.remaining / SETTLED_SHARE))
    return SVMPath(
        graph=graph,
        levels=levels,
        violations=violations,
        active_sizes=active_sizes,
        least=float(least),
        converged=end in CONVERGED,
        interrupted=end is End.INTERRUPTED,
        message=message,
        offsets=offsets,
        pairs=pairs,
        changes=changes,
    )


def duality_gap(K: Floats, graph: PreferenceGraph, multipliers: Floats, level: float) -> float:
    """The gap between paper E's problems (6) and (8) at these multipliers, relative to (6)."""
    rows = graph.adjoint(multipliers)
    g = _centred(K) @ rows
    square = float(rows @ g) / level
    loss = float(graph.weight @ np.maximum(0.0, 1.0 - graph.differences(g) / level))
    primal = loss + square / 2
    dual = float(multipliers.sum()) - square / 2
    return (primal - dual) / primal
