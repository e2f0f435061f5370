"""Cutting planes with a line search, for the hinge risk plus ``alpha ‖w‖²``."""

from __future__ import annotations

import numpy as np

from rankwise.losses.hinge import HingeLoss, HingeValue
from rankwise.operators.design import Design
from rankwise.solvers.certified import Certified, LossRows, OnIteration, Progress
from rankwise.solvers.line_search import Tangent, minimize_along
from rankwise.solvers.planes import Planes
from rankwise.threads import one_blas_thread
from rankwise.types import Floats

# How much of the gap a proposal leaves, how far beyond the best point on the line to it the next plane is
# put, how exactly the line is searched (as a share of the gap), and after how many programs that did not use
# it a plane is dropped. Products needed on text of RCV1's shape vary little around these.
_LEVEL = 0.2
_BEYOND = 0.03
_LINE_ACCURACY = 0.02
_PATIENCE = 50


@one_blas_thread()
def minimize_bundle(
    design: Design,
    loss: HingeLoss,
    alpha: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    start: Floats | None = None,
    planes: Planes | None = None,
    on_iteration: OnIteration | None = None,
) -> Certified:
    """Minimize ``R(Xw) + alpha ‖w‖²`` to a proven gap of at most `tol`.

    The risk is convex, so the plane that touches it at any point is below it everywhere. The highest of the
    planes found so far plus ``alpha ‖w‖²`` has a minimum that a small quadratic program finds, and that no
    objective can be below: the certificate. The line from the best point to that minimizer is searched, which
    needs counts but no product with X, and the next plane touches the risk a little beyond the best point.

    Parameters
    ----------
    start : Floats, shape (n,), optional
        Where to begin; zero by default.
    planes : Planes, optional
        Planes of the same risk, from another alpha; new ones are added to it.
    on_iteration : callable, optional
        Called with a `Progress` after every quadratic program.

    Notes
    -----
    Two products with X an iteration, O(m s), and a few values of the risk, O(m log m) each. O(1/(alpha tol))
    iterations at most, whatever the number of rows (paper D; Teo et al. 2010); the line search is that of
    Franc and Sonnenburg (2009).
    """
    rows = LossRows(design, loss)
    planes = Planes(design.shape[1]) if planes is None else planes
    best = _Best(rows, alpha, np.zeros(design.shape[1]) if start is None else start, planes)
    bound, gap, resolution, n_iter = -np.inf, np.inf, 0.0, 0
    interrupted = False
    try:
        while n_iter < max_iter:
            n_iter += 1
            bound = max(bound, planes.bound(alpha))
            resolution = planes.resolution
            gap = best.objective - bound + resolution
            if on_iteration is not None:
                on_iteration(Progress(n_iter, best.objective, gap, rows.n_products))
            if gap <= max(tol, 2.0 * resolution):
                break
            level = bound + _LEVEL * (best.objective - bound)
            best.step(planes.propose(alpha, best.w, level, 0.1 * gap), gap)
            planes.forget(_PATIENCE)
    except KeyboardInterrupt:
        interrupted = True
    return Certified(
        best.w, best.objective, gap, resolution, n_iter, rows.n_products, gap <= tol, interrupted
    )


class _Best:
    """The best point so far: weights, scores, and what the loss says there."""

    def __init__(self, rows: LossRows, alpha: float, w: Floats, planes: Planes) -> None:
        self.rows, self.alpha, self.planes = rows, alpha, planes
        self.w = w
        self.scores = rows.scores(w) if w.any() else np.zeros(rows.shape[0])
        self.value = rows.loss.value(self.scores)
        self.objective = self.value.risk + alpha * float(w @ w)
        self._add_plane(self.value)

    def step(self, proposal: Floats, gap: float) -> None:
        """Search the line to the proposal, and add a plane."""
        towards = proposal - self.w
        moves = self.rows.scores(proposal) - self.scores
        square, linear, curved = float(self.w @ self.w), float(self.w @ towards), float(towards @ towards)

        def at(t: float) -> Tangent[HingeValue]:
            value = self.rows.loss.value(self.scores + t * moves) if t else self.value
            ridge = self.alpha * (square + 2.0 * t * linear + t * t * curved)
            slope = float(value.gradient @ moves) + 2.0 * self.alpha * (linear + t * curved)
            return Tangent(t, value.risk + ridge, slope, value)

        best = minimize_along(at, accuracy=_LINE_ACCURACY * gap)
        # Where the line is of no use, a plane at the best point would be one that is there already.
        beyond = best.t + (_BEYOND if best.t > 0.0 else 0.2) * (1.0 - best.t)
        self._add_plane(self.rows.loss.value(self.scores + beyond * moves))
        w, scores = self.w + best.t * towards, self.scores + best.t * moves
        self.w, self.scores, self.value, self.objective = w, scores, best.payload, best.value

    def _add_plane(self, value: HingeValue) -> None:
        self.planes.add(self.rows.adjoint(value.gradient), value.offset)
