"""One point of a ranking SVM's regularization path, and how it moves to the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankwise import _native
from rankwise.preferences.graphs import PreferenceGraph, collect
from rankwise.solvers.svm_path_elbow import Elbow
from rankwise.types import Floats, Ints

# Slacks within this share of the level are zero; multipliers within this share of their box are at a bound.
SLACK_TOLERANCE = 1e-10
BOUND_TOLERANCE = 1e-12
# Slacks that change slower than this per unit of the level stand still.
RATE_TOLERANCE = 1e-9

# Pairs looked at on every event: one in so many, but not fewer than a handful, nor a sliver of slack.
WATCHED_SHARE = 32
MIN_WATCHED = 1024
MIN_WATCHED_SLACK = 1e-6

FREE, AT_ZERO, AT_BOX = 0, 1, -1


class Walk:
    """A solution ``a`` of paper E's dual at level λ and the direction in which it moves as λ falls.

    In terms of ``g = λ f = K Pᵀ a``, a pair's slack is ``s = (P g) − λ``; at a solution ``s ≥ 0`` where
    ``a = 0``, ``s ≤ 0`` where a is at its box, and ``s = 0`` in between. g is unique, a need not be.

    The direction per unit of decrease is ``(da, dg = K Pᵀ da)``. It is the solution of another problem of the
    same kind, over the pairs with s = 0 only: minimize ``½‖dg‖² + Σ da`` where da may not leave the box, that
    is ``da ≥ 0`` at zero and ``da ≤ 0`` at the box. Its optimality conditions say that slacks stay zero
    where da ≠ 0 and turn the right way elsewhere, so a step of positive length along it is optimal
    throughout. It is solved as Lawson and Hanson solve non-negative least squares, from the previous
    direction: pairs enter whose slack would turn wrong, a pair leaves when its da would. Every move lowers
    the objective, so simultaneous events, duplicated rows and dependent pairs, however many, end after
    finitely many moves. A pair that depends on the free ones never needs to enter: if its slack is zero, so
    are theirs, and it stays zero.
    """

    def __init__(self, K: Floats, graph: PreferenceGraph, n_threads: int) -> None:
        self.K = K
        self.graph = graph
        self.n_threads = n_threads
        self.a = graph.weight.copy()
        self.side: NDArray[np.int8] = np.full(graph.n_pairs, AT_BOX, dtype=np.int8)
        self.n_at_box = graph.n_pairs
        self.elbow = Elbow(K, graph)
        self.g = K @ graph.adjoint(self.a)
        self.level = float(graph.differences(self.g).max())
        self.rate: Floats = np.empty(0)
        self.flow: Floats = np.zeros(graph.n_rows)
        self.moved: list[tuple[int, int]] = []
        self._rate_tolerance = RATE_TOLERANCE
        self._better = graph.better.astype(np.int32)
        self._worse = graph.worse.astype(np.int32)
        self._everyone: Ints = np.arange(graph.n_pairs)
        self._watched: Ints
        self._slack_left: float
        self._near: Ints = np.empty(graph.n_pairs, dtype=np.int64)
        self._watch()

    @property
    def drift(self) -> float:
        """How far the slacks of the free pairs are from zero."""
        if not self.elbow.size:
            return 0.0
        return float(np.abs(self.elbow.differences(self.g) - self.level).max())

    def near_margin(self) -> tuple[Ints, float]:
        """Pairs at a bound whose slack is zero, and the largest violation of any condition, per unit of λ."""
        count, violation = _native.near_margin(
            self._better,
            self._worse,
            self.side,
            self._watched,
            self.g,
            self.level,
            SLACK_TOLERANCE * self.level,
            self._near,
        )
        return self._near[:count], max(violation, self.drift) / self.level

    def turn(self, near: Ints) -> None:
        """Find the direction at this point; `near` are the pairs at a bound with zero slack."""
        refused: list[int] = []
        self._settle()
        while True:
            pair = self._most_wrong(near, refused)
            if pair is None:
                return
            if not self._release(pair):
                refused.append(pair)
            self._settle()
            if self.side[pair] != FREE:
                refused.append(pair)

    def advance(self, floor: float) -> float:
        """Lower the level to the next event, or to the floor; return the length of the step."""
        pairs, rate = self.elbow.pairs, self.rate
        room = np.where(rate > 0, self.graph.weight[pairs] - self.a[pairs], self.a[pairs])
        lengths = np.divide(room, np.abs(rate), out=np.full(len(rate), np.inf), where=rate != 0)
        longest = min(self.level - floor, float(lengths.min(initial=np.inf)))
        step = self._first_event(longest)
        self.a[pairs] += step * rate
        self.g += step * self.flow
        self.level = floor if step >= self.level - floor else self.level - step
        arrived = (lengths <= step) | (
            room - step * np.abs(rate) <= BOUND_TOLERANCE * self.graph.weight[pairs]
        )
        arrived &= rate != 0
        for position in np.flatnonzero(arrived)[::-1]:
            self._bind(int(position), AT_BOX if rate[position] > 0 else AT_ZERO)
        if self._slack_left <= 0:
            self._watch()
        return step

    def _first_event(self, longest: float) -> float:
        """The largest step, at most `longest`, before the slack of a pair at a bound turns wrong."""
        fastest = 1.0 + float(self.flow.max() - self.flow.min())
        step = self._step_of(self._watched, longest)
        if step * fastest > self._slack_left:
            step = self._step_of(self._everyone, longest)
        self._slack_left -= step * fastest
        return step

    def _step_of(self, watched: Ints, longest: float) -> float:
        return _native.longest_step(
            self._better,
            self._worse,
            self.side,
            watched,
            self.g,
            self.flow,
            self.level,
            self._rate_tolerance,
            longest,
            self.n_threads,
        )

    def _watch(self) -> None:
        """Choose the pairs of least slack to look at until any other could have come to zero.

        Every slack moves by at most (1 + max dg − min dg) times the step, so the others need no look before
        such moves sum up to the least of their slacks. This makes an event cost O(watched), not O(pairs).
        """
        slack = self.side * (self.graph.differences(self.g) - self.level)
        target = max(MIN_WATCHED, len(slack) // WATCHED_SHARE)
        if target >= len(slack):
            self._watched, self._slack_left = self._everyone, np.inf
            return
        bound = max(float(np.partition(slack, target)[target]), MIN_WATCHED_SLACK * self.level)
        self._watched, self._slack_left = np.flatnonzero(slack <= bound), bound

    def refresh(self) -> None:
        """Recompute g from a, and bring the slacks of the free pairs back to zero."""
        self.g = self.K @ self.graph.adjoint(self.a)
        if not self.elbow.size:
            return
        self.elbow.refactor()
        pairs = self.elbow.pairs
        corrected = self.a[pairs] - self.elbow.solve(self.elbow.differences(self.g) - self.level)
        self.a[pairs] = np.clip(corrected, 0.0, self.graph.weight[pairs])
        self.g = self.K @ self.graph.adjoint(self.a)

    def _settle(self) -> None:
        """Move the rates to the solution over the free pairs; bind those whose rate would leave the box."""
        while True:
            target = self.elbow.solve(np.full(self.elbow.size, -1.0))
            pairs = self.elbow.pairs
            wrong = (self.a[pairs] <= 0) & (target < 0)
            wrong |= (self.a[pairs] >= self.graph.weight[pairs]) & (target > 0)
            if not wrong.any():
                break
            shares = np.full(len(pairs), np.inf)
            shares[wrong] = self.rate[wrong] / (self.rate[wrong] - target[wrong])
            share = float(shares.min())
            self.rate += share * (target - self.rate)
            for position in np.flatnonzero(shares <= share)[::-1]:
                self._bind(int(position), AT_ZERO if self.a[pairs[position]] <= 0 else AT_BOX)
        self.rate = target
        self.flow = self._scores(target)
        error = self.elbow.differences(self.flow) + 1.0
        self._rate_tolerance = max(RATE_TOLERANCE, 10 * float(np.abs(error).max(initial=0.0)))

    def _most_wrong(self, near: Ints, refused: list[int]) -> int | None:
        """The near pair whose slack would turn wrong fastest."""
        rates = self.flow[self.graph.better[near]] - self.flow[self.graph.worse[near]] + 1.0
        wrong = -rates * self.side[near]
        if refused:
            wrong[np.isin(near, refused)] = 0.0
        if not len(wrong) or wrong.max() <= self._rate_tolerance:
            return None
        return int(near[wrong.argmax()])

    def _release(self, pair: int) -> bool:
        """Let a pair at a bound become free; False if it stays bound."""
        if not self.elbow.append(pair) and not self._exchange(pair):
            return False
        self.rate = np.append(self.rate, 0.0)
        self._record(pair, FREE)
        return True

    def _exchange(self, pair: int) -> bool:
        """Move a dependent pair into its box at the cost of those it depends on, which changes no score.

        Exact arithmetic never comes here (see the class); rounding does, when pairs are nearly dependent. The
        first to arrive at a bound is bound there: a free pair, whose place the new one takes, or itself.
        """
        if not self.elbow.size:
            return False
        pairs = self.elbow.pairs
        trade = -float(self.side[pair]) * self.elbow.coordinates(pair)
        room = np.where(trade > 0, self.graph.weight[pairs] - self.a[pairs], self.a[pairs])
        lengths = np.divide(room, np.abs(trade), out=np.full(len(trade), np.inf), where=np.abs(trade) > 1e-12)
        first = int(lengths.argmin())
        length = min(float(lengths[first]), self.graph.weight[pair])
        self.a[pairs] += length * trade
        self.a[pair] += length * self.side[pair]
        if length < lengths[first]:
            opposite = -int(self.side[pair])
            self.a[pair] = self.graph.weight[pair] if opposite == AT_BOX else 0.0
            self._record(pair, opposite)
            return False
        self._bind(first, AT_BOX if trade[first] > 0 else AT_ZERO)
        return self.elbow.append(pair)

    def _bind(self, position: int, side: int) -> None:
        pair = int(self.elbow.pairs[position])
        self.a[pair] = self.graph.weight[pair] if side == AT_BOX else 0.0
        self.elbow.remove(position)
        self.rate = np.delete(self.rate, position)
        self._record(pair, side)

    def _record(self, pair: int, side: int) -> None:
        self.n_at_box += int(side == AT_BOX) - int(self.side[pair] == AT_BOX)
        self.side[pair] = side
        self.moved.append((pair, side))

    def _scores(self, free: Floats) -> Floats:
        """``K P_Iᵀ v`` for values of the free pairs."""
        n = self.graph.n_rows
        rows = collect(self.elbow.better, self.elbow.worse, free, n)
        used = np.flatnonzero(rows)
        out = np.empty(n)
        _native.combine_rows(self.K, used, rows[used], out, self.n_threads)
        return out
