"""Truncated Newton for the squared hinge risk plus ``alpha ‖w‖²``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

import numpy as np

from rankwise.operators.spread import Spread
from rankwise.svm.hinge_result import HingeResult, Iterate, OnIteration
from rankwise.svm.line_search import Tangent, minimize_ridge_along
from rankwise.svm.risk import ROUNDING, CountedProducts, G, Risk, S, SquaredHingeValue
from rankwise.threads import one_blas_thread
from rankwise.types import Floats

_MAX_CG_STEPS = 250


@one_blas_thread()
def minimize_newton(
    risk: Risk[S, G],
    alpha: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    start: Floats | None = None,
    on_iteration: OnIteration | None = None,
) -> HingeResult:
    """Minimize ``R₂(Xw) + alpha ‖w‖²``, R₂ the squared hinge risk, to a proven gap of at most `tol`.

    The objective P is 2·alpha-strongly convex, so ``P(w) − min P ≤ ‖∇P(w)‖² / (4 alpha)``; this is also
    exactly the duality gap at the dual point that the slacks at w define.

    Notes
    -----
    Conjugate gradient computes the Newton step from generalised Hessian products ``Xᵀ D X v + 2 alpha v``,
    where D is the Laplacian of the active pairs: O(m s + m log m) each, without enumerating pairs (Chapelle
    and Keerthi 2010 need O(m²) memory when labels are real-valued). The line search needs no product with X.
    """
    rows = CountedProducts(risk)
    w = np.zeros(risk.shape[1]) if start is None else start
    scores = rows.scores(w) if w.any() else risk.zeros()
    value = risk.squared_value(scores)
    objective = value.risk + alpha * float(w @ w)
    n_iter, interrupted, stalled = 0, False, False
    gap = resolution = np.inf
    first_norm, spread = 0.0, None
    try:
        while True:
            gradient = rows.slope(value.gradient) + 2.0 * alpha * w
            norm = float(np.linalg.norm(gradient))
            first_norm = first_norm or norm
            resolution = ROUNDING * (1.0 + alpha * float(w @ w)) + rows.rounding(w)
            # The gradient is a product as well, of slacks that scores are part of.
            slacks = ROUNDING * value.gradient_sum + 2.0 * value.active * rows.rounding(w)
            off = norm + rows.row_length * slacks
            gap = rows.certified(off * off / (4.0 * alpha) + resolution)
            iterate = Iterate(n_iter, w, objective, gap, rows.n_products)
            if on_iteration is not None and on_iteration(iterate):
                break
            if gap <= max(tol, 2.0 * resolution) or n_iter == max_iter:
                break
            n_iter += 1
            spread = rows.spread() if spread is None else spread
            # Increasingly accurate, but no more than the tolerance requires.
            enough = 0.7 * (4.0 * alpha * tol) ** 0.5 / norm
            accuracy = max(min(0.3, (norm / first_norm) ** 0.5), min(0.3, enough))
            direction, moves = _newton_direction(rows, spread, value, alpha, gradient, accuracy)
            # The step promises its Newton decrement; the gap may be much larger.
            enough = -1e-3 * float(gradient @ direction)
            line = _Line(risk, scores, moves, value)
            best = minimize_ridge_along(line, alpha, w, direction, accuracy=enough)
            if best.t == 0.0:
                stalled = True
                break
            point = w + best.t * direction
            reached = best.payload.risk + alpha * float(point @ point)
            # In one statement, so that an interrupt cannot leave them inconsistent.
            w, scores, value, objective = point, risk.moved(scores, best.t, moves), best.payload, reached
    except KeyboardInterrupt:
        interrupted = True
    return HingeResult(
        w, objective, gap, resolution, n_iter, rows.n_products, gap <= tol, interrupted, stalled
    )


@dataclass(frozen=True)
class _Line(Generic[S, G]):
    """The squared risk along a line of scores, of which the start is known."""

    risk: Risk[S, G]
    scores: S
    moves: S
    start: SquaredHingeValue[S, G]

    def __call__(self, t: float) -> Tangent[SquaredHingeValue[S, G]]:
        there = self.start
        if t:
            there = self.risk.squared_value(self.risk.moved(self.scores, t, self.moves))
        return Tangent(t, there.risk, self.risk.along(there.gradient, self.moves), there)


def _newton_direction(
    rows: CountedProducts[S, G],
    spread: Spread,
    value: SquaredHingeValue[S, G],
    alpha: float,
    gradient: Floats,
    accuracy: float,
) -> tuple[Floats, S]:
    """The Newton direction, solved to a relative residual of `accuracy`, and its scores.

    Conjugate gradient, preconditioned by what the Hessian would be if the active pairs were typical: their
    weight times about four times the features' covariances, or variances if there are many features.
    """
    step, moves = np.zeros_like(gradient), rows.risk.zeros()
    residual = -gradient
    target = accuracy**2 * float(residual @ residual)
    direction, previous = np.zeros_like(gradient), np.inf
    for _ in range(_MAX_CG_STEPS):
        scaled = spread.solve(residual, 2.0 * alpha, 4.0 * value.active)
        square = float(residual @ scaled)
        direction = scaled + (square / previous) * direction
        scores = rows.scores(direction)
        image = rows.slope(value.curvature(scores)) + 2.0 * alpha * direction
        length = square / float(direction @ image)
        step += length * direction
        moves = rows.risk.moved(moves, length, scores)
        residual -= length * image
        previous = square
        if float(residual @ residual) <= target:
            break
    return step, moves
