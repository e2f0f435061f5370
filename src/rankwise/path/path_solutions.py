"""The stored solutions of a kernel ranking SVM along its regularization path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rankwise.errors import ParameterError
from rankwise.path.graphs import PreferenceGraph
from rankwise.types import Floats, Ints

# An alpha this near to a breakpoint stands for it: it was computed from it, or printed and read again.
_ROUNDING_ULPS = 4


@dataclass(frozen=True)
class PathSolutions:
    """The solution at every level λ from the first breakpoint down to the last.

    The multipliers are piecewise linear in λ and stored as changes, so memory is proportional to the number
    of free pairs summed over all breakpoints.

    Attributes
    ----------
    graph : PreferenceGraph
        Its weights are the upper bounds of the multipliers.
    levels : Floats, shape (n_breakpoints,)
        λ of each breakpoint, descending; the first is λ⁰, above which every multiplier is at its upper bound.
    least : float
        The smallest level that the path covers: that of the last breakpoint or, if the scores no longer
        change below it, one at which rounding errors would begin to show, or 0.
    offsets, pairs, changes
        Change k adds changes[k] to multiplier pairs[k]; the changes from breakpoint t to the next are
        offsets[t]:offsets[t + 1].
    """

    graph: PreferenceGraph
    levels: Floats
    least: float
    offsets: Ints = field(repr=False)
    pairs: NDArray[np.int32] = field(repr=False)
    changes: Floats = field(repr=False)

    @property
    def n_breakpoints(self) -> int:
        return len(self.levels)

    @property
    def alphas(self) -> Floats:
        """The breakpoints in units of alpha, in ascending order."""
        return self.levels[::-1] / self.graph.level_per_alpha

    def level_for(self, alpha: float) -> float:
        """λ at any alpha covered by the path; of a breakpoint if alpha is equal to its own up to rounding."""
        alphas = self.alphas
        near = int(np.abs(alphas - alpha).argmin())
        if abs(alphas[near] - alpha) <= _ROUNDING_ULPS * np.spacing(alphas[near]):
            return float(self.levels[self.n_breakpoints - 1 - near])
        level = alpha * self.graph.level_per_alpha
        if level < self.least:
            why = "Fit with a smaller alpha_min or a larger max_events."
            if self.least < self.levels[-1]:
                why = "The scores no longer change, up to rounding errors that could show at smaller alphas."
            raise ParameterError(
                f"The 'alpha' parameter must be at least {self.least / self.graph.level_per_alpha:.6g}, "
                f"where the path ends (it starts at {alphas[-1]:.6g}); got {alpha:.6g}. {why}"
            )
        return level

    def multipliers_at(self, level: float) -> Floats:
        """The multipliers a at any level covered by the path.

        Below the last breakpoint, they give its scores, and are optimal if every pair is satisfied.
        """
        if level >= self.levels[0]:
            return self.graph.weight.copy()
        if level < self.levels[-1]:
            if level < self.least:
                raise ParameterError(f"The path covers levels from {self.least:.17g}; got {level:.17g}.")
            return np.asarray(self._sum_changes(self.n_breakpoints - 1) * (level / self.levels[-1]))
        t = int(np.searchsorted(-self.levels, -level, side="right")) - 1
        before: Floats = self._sum_changes(t)
        if level == self.levels[t]:
            return before
        share = (self.levels[t] - level) / (self.levels[t] - self.levels[t + 1])
        piece = slice(self.offsets[t], self.offsets[t + 1])
        np.add.at(before, self.pairs[piece], share * self.changes[piece])
        return before

    def n_support_at(self, level: float) -> int:
        """How many multipliers are positive at any level that the path covers."""
        # A multiplier that came down to zero is a sum of changes, which is zero but for rounding.
        return int(np.count_nonzero(self.multipliers_at(level) > 1e-12 * self.graph.weight))

    def coefficients_at(self, level: float) -> Floats:
        """β with ``f = Σ βᵢ k(xᵢ, ·)``; ``β = Pᵀ a / λ``."""
        return self.graph.adjoint(self.multipliers_at(level)) / level

    def coefficients_of_each(self, breakpoints: Ints) -> Iterator[Floats]:
        """β at ascending breakpoints, the same as `coefficients_of` each of them, in one pass."""
        change, done = np.zeros(self.graph.n_pairs), 0
        for t in breakpoints:
            piece = slice(done, done := int(self.offsets[t]))
            np.add.at(change, self.pairs[piece], self.changes[piece])
            yield np.asarray(self.graph.adjoint(self._boxed(change)) / self.levels[t])

    def rounding_of_scores(self) -> Floats:
        """How far rounding may move differences of scores λ f at each breakpoint, per unit of kernel value.

        Scores are followed from breakpoint to breakpoint, or added up from the coefficients at one of them.
        """
        weight, n = self.graph.weight, self.graph.n_rows
        moved = np.append(0.0, np.cumsum(np.abs(self.changes)))[self.offsets]
        longest = np.diff(self.offsets).max(initial=0) + 1.0
        terms = 2.0 * weight.sum() * (n + np.arange(self.n_breakpoints))
        terms += longest * moved + weight.max() * self.offsets
        return np.asarray(4.0 * np.finfo(np.float64).eps * terms)

    def coefficients_of(self, breakpoint: int) -> Floats:
        """β at a breakpoint."""
        return np.asarray(self.graph.adjoint(self._sum_changes(breakpoint)) / self.levels[breakpoint])

    def _sum_changes(self, t: int) -> Floats:
        """Multipliers at breakpoint t."""
        stop = self.offsets[t]
        change = np.bincount(self.pairs[:stop], self.changes[:stop], self.graph.n_pairs)
        return self._boxed(np.asarray(change, dtype=np.float64))

    def _boxed(self, change: Floats) -> Floats:
        """Multipliers changed by so much from where they begin, inside their boxes."""
        return np.minimum(np.maximum(self.graph.weight + change, 0.0), self.graph.weight)
