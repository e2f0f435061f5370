"""Cutting planes with a subspace search, for the hinge risk plus ``alpha ‖w‖²``."""

from __future__ import annotations

from typing import Generic

import numpy as np

from rankwise.operators.spread import Spread
from rankwise.svm.hinge_result import HingeResult, Iterate, OnIteration
from rankwise.svm.line_search import Tangent, minimize_ridge_along
from rankwise.svm.planes import Planes
from rankwise.svm.risk import CountedProducts, G, HingeValue, Risk, S
from rankwise.svm.subspace import Subspace
from rankwise.threads import one_blas_thread
from rankwise.types import Floats

# The subspace search ends at this share of the gap, or of the tolerance, or after this many steps.
_SHARE_OF_GAP = 0.5
_SHARE_OF_TOL = 0.3
_STEPS = 10
# In a step: the share of the gap that a proposal leaves, the accuracy of the line search towards it (as a
# share of the gap), and how far beyond the proposal that search begins.
_LEVEL = 0.2
_LINE_ACCURACY = 0.05
_BEYOND = 0.03
# A plane of the risk, or of the subspace, is dropped after this many programs that did not use it.
_PATIENCE = 50
_PATIENCE_INSIDE = 10
# The share of the estimated curvature to use; from a third to three times this, the number of products varies
# little.
_OF_CURVATURE = 0.1


class Bundle(Generic[S, G]):
    """Knowledge of a risk that holds for every alpha: planes below it, and a subspace of explored directions.

    Parameters
    ----------
    risk : Risk
    """

    def __init__(self, risk: Risk[S, G]) -> None:
        self.planes = Planes(risk.shape[1])
        self.subspace = Subspace(risk.explored(), risk.shape)
        self.spread: Spread | None = None


@one_blas_thread()
def minimize_bundle(
    risk: Risk[S, G],
    alpha: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    start: Floats | None = None,
    known: Bundle[S, G] | None = None,
    on_iteration: OnIteration | None = None,
) -> HingeResult:
    """Minimize ``R(Xw) + alpha ‖w‖²`` to a proven gap of at most `tol`.

    The risk is convex, so a plane that touches it at any point lies below it everywhere. A small quadratic
    program minimizes the maximum of the planes found so far plus ``alpha ‖w‖²``; its minimum is a lower
    bound on the objective, the certificate.

    An iteration minimizes the objective over all directions explored so far, whose scores are stored, with
    cutting planes and line searches that need values of the risk but no product with X. The planes of that
    search are combined into one, whose slope is the first product. The part of the slope outside the
    subspace, divided by an estimate of the objective's curvature, is the next direction, and its scores are
    the second product.

    Parameters
    ----------
    start : Floats, shape (n,), optional
        The starting point; zero by default.
    known : Bundle, optional
        Knowledge of the same risk from another alpha, to which this run adds.
    on_iteration : callable, optional
        Called with an `Iterate` after every iteration; a true return value ends the run.

    Notes
    -----
    Each iteration takes two products with X, O(m s), and a few values of the risk, O(m log m) each. Cutting
    planes take at most O(1/(alpha tol)) iterations, whatever the number of rows (paper D; Teo et al. 2010);
    the line search is that of Franc and Sonnenburg (2009).
    """
    rows = CountedProducts(risk)
    known = Bundle(risk) if known is None else known
    planes = known.planes
    best = _Best(rows, alpha, known, start)
    bound, n_iter = planes.bound(alpha), 0
    resolution = planes.resolution + rows.rounding(best.w)
    gap = best.objective - bound + resolution
    interrupted = False
    try:
        while n_iter < max_iter and gap > max(tol, 2.0 * resolution):
            n_iter += 1
            best.search(gap, tol)
            gradient, offset = known.subspace.together()
            slope = rows.slope(gradient)
            planes.add(slope, offset)
            bound = max(bound, planes.bound(alpha))
            # The slopes behind the bound are those of weights about as long as the best ones.
            resolution = planes.resolution + 2.0 * rows.rounding(best.w)
            gap = best.objective - bound + resolution
            planes.forget(_PATIENCE)
            iterate = Iterate(n_iter, best.w, best.objective, gap, rows.n_products)
            if on_iteration is not None and on_iteration(iterate):
                break
            if gap > tol:
                best.explore(slope)
    except KeyboardInterrupt:
        interrupted = True
    gap = rows.certified(best.objective - bound + resolution)
    return HingeResult(
        best.w,
        best.objective,
        gap,
        resolution,
        n_iter,
        rows.n_products,
        gap <= tol,
        interrupted,
    )


class _Best(Generic[S, G]):
    """The best point so far: weights, coordinates in the subspace, scores, and the value of the loss."""

    def __init__(
        self, rows: CountedProducts[S, G], alpha: float, known: Bundle[S, G], start: Floats | None
    ) -> None:
        self.rows, self.alpha, self.known, self.subspace = rows, alpha, known, known.subspace
        if start is not None:
            self._add_direction(start)
        self.z = np.zeros(len(self.subspace)) if start is None else self.subspace.coordinates(start)
        self.w, self.scores = self.subspace.weights(self.z), self.subspace.scores(self.z)
        self.value = rows.risk.value(self.scores)
        self.objective = self.value.risk + alpha * float(self.z @ self.z)
        self.subspace.add_plane(self.value.gradient, self.value.offset)
        # An estimate of how much the newest direction may lower the objective.
        self.promise = np.inf

    def search(self, gap: float, tol: float) -> None:
        """Minimize over the subspace, to a share of the gap and of what another direction may gain."""
        planes = self.subspace.planes
        bound = planes.bound(self.alpha)
        if len(self.subspace) == 0:
            return
        metric = self.subspace.metric(self.scores)
        enough = max(_SHARE_OF_GAP * min(gap, self.promise), _SHARE_OF_TOL * tol)
        for _ in range(_STEPS):
            inside = self.objective - bound
            if inside <= planes.resolution:
                break
            proposal = planes.propose(self.alpha, self.z, metric, bound + _LEVEL * inside, 0.1 * inside)
            self._step(proposal, inside)
            bound = max(bound, planes.bound(self.alpha))
            if self.objective - bound <= enough:
                break
        self.subspace.forget(_PATIENCE_INSIDE)

    def _step(self, proposal: Floats, gap: float) -> None:
        """Search along the line to the proposal, and add the planes of all points tried."""
        # Where planes meet, pairs are at the margin and rounding would decide the side: go a little further.
        towards = (1.0 + _BEYOND) * (proposal - self.z)
        moves, risk = self.subspace.scores(towards), self.rows.risk

        def on_line(t: float) -> Tangent[HingeValue[G]]:
            there = self.value
            if t:
                there = risk.value(risk.moved(self.scores, t, moves))
                self.subspace.add_plane(there.gradient, there.offset)
            return Tangent(t, there.risk, risk.along(there.gradient, moves), there)

        best = minimize_ridge_along(on_line, self.alpha, self.z, towards, accuracy=_LINE_ACCURACY * gap)
        z, scores = self.z + best.t * towards, risk.moved(self.scores, best.t, moves)
        w = self.subspace.weights(z)
        self.w, self.z, self.scores, self.value, self.objective = w, z, scores, best.payload, best.value

    def explore(self, slope: Floats) -> None:
        """Add the direction of steepest descent, measured by the curvature of the risk.

        Along feature j, the curvature is ``Σ ω (xᵢⱼ − xₖⱼ)²`` over the pairs at the margin: the density of
        pairs there times about twice the feature's variance, and likewise for covariances. If the slacks of
        the active pairs were distributed exponentially, with mean ``risk / active``, the density would be
        ``active² / risk``.
        """
        if self.known.spread is None:
            self.known.spread = self.rows.spread()
        density = self.value.offset**2 / self.value.risk if self.value.risk > 0.0 else 0.0
        ridge, scale = 2.0 * self.alpha, _OF_CURVATURE * 2.0 * density
        residual = slope + ridge * self.w
        outside = self.subspace.rest(residual)
        self.promise = 0.5 * float(outside @ self.known.spread.solve(outside, ridge, scale))
        self.z = self.subspace.make_room(self.z)
        self._add_direction(self.known.spread.solve(residual, ridge, scale))
        self.z = np.append(self.z, np.zeros(len(self.subspace) - len(self.z)))

    def _add_direction(self, direction: Floats) -> None:
        unit = self.subspace.outside(direction)
        if unit is not None:
            self.subspace.add_direction(unit, self.rows.scores(unit))
