"""Conjugate gradient on ``(A + αI) z = b`` for every α of a grid at once, with the products of a single run.

The systems share their Krylov space: started from zero, their residuals stay parallel, ``r_α = ζ_α r``, and
ζ obeys a scalar recurrence (Jegerlehner 1996; Frommer and Maass 1999). Therefore only the system with the
smallest α takes products with A, and each additional α costs O(n) per iteration. Scores of held-out rows are
linear in z and obey the same recurrences, so one product with their matrix per iteration serves all α.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rankwise import _native
from rankwise.config import resolve_threads
from rankwise.held_out import HeldOut
from rankwise.ridge.cg_result import ShiftedCGResult, Stop, Surface
from rankwise.types import Bools, Floats, Ints


@dataclass
class ShiftedCGState:
    """Everything that the next iteration depends on; a run resumed from it is bit-identical.

    Solutions, directions and the residual are extended: the first n values are a vector of the system, the
    rest are its scores of the held-out rows.
    """

    solutions: Floats  # (n_alphas, n + n_held_out)
    directions: Floats  # like solutions
    residual: Floats  # (n + n_held_out,)
    zeta: Floats  # (n_alphas,): residual of a shifted system divided by that of the smallest alpha
    ratio: Floats  # (n_alphas,): the last zeta divided by the previous one
    norm: Floats  # (n_alphas,): of the residuals
    active: Bools  # (n_alphas,): not yet converged
    n_iter: Ints  # (n_alphas,): iterations until convergence, or so far
    surface: Floats  # (n_alphas, max_iter): the measure, NaN where not reached
    best_value: Floats  # (n_alphas,)
    best_iter: Ints  # (n_alphas,): counting from 1; 0 if there is none yet
    best: Floats  # (n_alphas, n): the solutions that were best
    step: float = 1.0
    beta: float = 0.0
    residual_square: float = 0.0
    iteration: int = 0


@np.errstate(over="ignore", invalid="ignore")  # non-finite values end the run, as recorded in `stop`
def shifted_cg(
    product: Callable[[Floats], Floats],
    right: Floats,
    alphas: Sequence[float] | Floats,
    *,
    held_out: HeldOut | None = None,
    scores: Callable[[Floats], Floats] | None = None,
    patience: int = 10,
    stop_early: bool = False,
    tol: float = 1e-5,
    max_iter: int = 500,
    on_iteration: Callable[[ShiftedCGState], None] | None = None,
    state: ShiftedCGState | None = None,
) -> ShiftedCGResult:
    """Solve ``(A + αI) z = b`` for all alphas, A symmetric and positive semi-definite.

    Parameters
    ----------
    product : callable
        ``v ↦ A v``; called once per iteration.
    right : Floats, shape (n,)
        b.
    alphas : sequence of float
        Nonnegative, ascending and distinct.
    held_out : HeldOut or None
        Rows on which every iterate is measured.
    scores : callable or None
        The linear map from z to the scores of these rows; given if and only if there are any.
    patience : int
        Early stopping gives up on an alpha after this many iterations without improvement.
    stop_early : bool
        Whether to end the run when every alpha has been given up or has converged; otherwise each must
        converge.
    tol : float
        A system has converged when its residual is at most ``tol ‖b‖``.
    max_iter : int
    on_iteration : callable or None
        Called with the state after every iteration; it must not modify the state.
    state : ShiftedCGState or None
        The state of an earlier run of the same problem, to resume from; it is modified in place.

    Returns
    -------
    ShiftedCGResult

    Notes
    -----
    An iteration takes one product with A, one with the held-out rows, O(n_alphas (n + n_held_out)) for
    the recurrences, and one evaluation of the measure for each alpha that has not converged. A
    KeyboardInterrupt, a singular matrix or a non-finite product ends the run; the result is the current
    state, and ``stop`` gives the reason.
    """
    run = _Run(
        np.asarray(alphas, dtype=np.float64),
        product,
        right,
        held_out,
        scores,
        patience,
        resolve_threads(),
    )
    if state is None:
        state = run.start(max_iter)
    # A resumed state may have been saved after the last iteration of its run.
    stop = run.ending(state, max_iter, stop_early)
    try:
        while stop is None:
            stop = run.advance(state, tol)
            if stop is None:
                if on_iteration is not None:
                    on_iteration(state)
                stop = run.ending(state, max_iter, stop_early)
    except KeyboardInterrupt:
        stop = Stop.INTERRUPTED
    return run.finish(state, stop)


@dataclass(frozen=True)
class _Run:
    """The constants of a run."""

    alphas: Floats
    product: Callable[[Floats], Floats]
    right: Floats
    held_out: HeldOut | None
    scores: Callable[[Floats], Floats] | None
    patience: int
    n_threads: int

    @cached_property
    def _norm_of_right(self) -> float:
        return float(np.sqrt(_dot(self.right, self.right)))

    def start(self, max_iter: int) -> ShiftedCGState:
        n, n_alphas = len(self.right), len(self.alphas)
        residual = self._extended(self.right)
        judged = (n_alphas, n) if self.held_out is not None else (0, n)
        square = _dot(self.right, self.right)
        return ShiftedCGState(
            solutions=np.zeros((n_alphas, len(residual))),
            directions=np.tile(residual, (n_alphas, 1)),
            residual=residual,
            zeta=np.ones(n_alphas),
            ratio=np.ones(n_alphas),
            norm=np.full(n_alphas, np.sqrt(square)),
            active=np.full(n_alphas, square > 0.0),
            n_iter=np.zeros(n_alphas, dtype=np.int64),
            surface=np.full((judged[0], max_iter), np.nan),
            best_value=np.full(judged[0], np.nan),
            best_iter=np.zeros(judged[0], dtype=np.int64),
            best=np.zeros(judged),
            residual_square=square,
        )

    def advance(self, state: ShiftedCGState, tol: float) -> Stop | None:
        """Make one iteration, or leave the state unchanged and return why there is no step to take."""
        n, smallest = len(self.right), self.alphas[0]
        direction = state.directions[0, :n]
        # In place from here on: with many columns, new arrays take as long as what is written to them.
        image = smallest * direction
        image += self.product(direction)
        curvature = _dot(direction, image)
        if not np.isfinite(curvature):
            return Stop.NOT_FINITE
        if curvature <= 0.0:
            return Stop.BREAKDOWN
        step = state.residual_square / curvature
        image *= step
        residual = np.subtract(state.residual[:n], image, out=image)
        square = _dot(residual, residual)
        if not np.isfinite(square):
            return Stop.NOT_FINITE
        extended = self._extended(residual)
        self._step(state, step, square, extended)
        if self.held_out is not None:
            self._judge(state, self.held_out)
        state.norm[state.active] = state.zeta[state.active] * np.sqrt(square)
        state.active &= state.norm > tol * self._norm_of_right
        return None

    def _step(self, state: ShiftedCGState, step: float, square: float, residual: Floats) -> None:
        beta = square / state.residual_square
        ratio = 1.0 / (
            1.0 + (self.alphas - self.alphas[0]) * step + step * state.beta / state.step * (1.0 - state.ratio)
        )
        zeta = state.zeta * ratio
        active = np.flatnonzero(state.active)
        _native.shifted_update(
            active,
            step * ratio,
            zeta,
            ratio**2 * beta,
            residual,
            state.solutions,
            state.directions,
            self.n_threads,
        )
        state.ratio[active], state.zeta[active] = ratio[active], zeta[active]
        state.residual, state.residual_square = residual, square
        state.step, state.beta = step, beta
        state.iteration += 1
        state.n_iter[active] = state.iteration

    def _judge(self, state: ShiftedCGState, held_out: HeldOut) -> None:
        n, column = len(self.right), state.iteration - 1
        if column > 0:
            state.surface[:, column] = state.surface[:, column - 1]
        for k in np.flatnonzero(state.active):
            value = held_out.measure(state.solutions[k, n:])
            state.surface[k, column] = value
            if not self._given_up(state)[k] and held_out.improves(value, state.best_value[k]):
                state.best_value[k] = value
                state.best_iter[k] = state.iteration
                state.best[k] = state.solutions[k, :n]

    def _given_up(self, state: ShiftedCGState) -> Bools:
        """Which alphas have had more than `patience` iterations without improvement."""
        return state.n_iter - state.best_iter > self.patience

    def ending(self, state: ShiftedCGState, max_iter: int, stop_early: bool) -> Stop | None:
        """Return why the run is over, or None if it is not; this depends on the state only."""
        if not state.active.any():
            return Stop.CONVERGED
        if stop_early and self._all_given_up(state):
            return Stop.NO_IMPROVEMENT
        return Stop.MAX_ITER if state.iteration >= max_iter else None

    def _all_given_up(self, state: ShiftedCGState) -> bool:
        if self.held_out is None:
            return False
        done = ~state.active | (state.n_iter - state.best_iter >= self.patience)
        return bool(done.all())

    def _extended(self, vector: Floats) -> Floats:
        if self.scores is None:
            return vector
        return np.concatenate([vector, self.scores(vector)])

    def finish(self, state: ShiftedCGState, stop: Stop) -> ShiftedCGResult:
        scale = self._norm_of_right or 1.0
        result = ShiftedCGResult(
            alphas=self.alphas.copy(),
            solutions=state.solutions[:, : len(self.right)].copy(),
            n_iter=state.n_iter.copy(),
            converged=~state.active,
            residual=state.norm / scale,
            stop=stop,
        )
        if self.held_out is None:
            return result
        surface = Surface(
            held_out=self.held_out,
            values=state.surface[:, : state.iteration].copy(),
            best=state.best.copy(),
            best_value=state.best_value.copy(),
            best_iter=state.best_iter.copy(),
        )
        return replace(result, surface=surface)


def _dot(u: Floats, v: Floats) -> float:
    """The inner product, summed in a fixed order; that of BLAS depends on the number of threads."""
    return float((u * v).sum())
