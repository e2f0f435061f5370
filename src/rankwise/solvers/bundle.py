"""Cutting planes with a line search, for a convex risk of scores plus ``alpha ‖w‖²``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankwise.errors import DataError
from rankwise.losses.hinge import HingeLoss, HingeValue
from rankwise.operators.design import Design
from rankwise.solvers.line_search import Tangent, minimize_along
from rankwise.solvers.simplex_qp import minimize_on_simplex
from rankwise.types import Floats


class Planes:
    """Lower bounds ``offset_k + slope_k · w`` of the risk: valid for every alpha.

    The first plane says that a risk is not negative. `share` is the last solution of the quadratic program.
    """

    def __init__(self, n_features: int) -> None:
        self.slopes = np.zeros((1, n_features))
        self.offsets = np.zeros(1)
        self.gram = np.zeros((1, 1))
        self.share = np.ones(1)
        self._unused = np.zeros(1, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.offsets)

    def add(self, slope: Floats, offset: float) -> None:
        products = self.slopes @ slope
        k = len(self)
        gram = np.empty((k + 1, k + 1))
        gram[:k, :k] = self.gram
        gram[k, :k] = gram[:k, k] = products
        gram[k, k] = slope @ slope
        self.gram = gram
        self.slopes = np.vstack([self.slopes, slope])
        self.offsets = np.append(self.offsets, offset)
        self.share = np.append(self.share, 0.0)
        self._unused = np.append(self._unused, 0)

    def minimize(self, alpha: float) -> tuple[Floats, float]:
        """The minimizer of the highest plane plus ``alpha ‖w‖²``, and a lower bound of the objective.

        The bound is the dual objective at a feasible point, and so holds however well the program is solved.
        """
        self.share = minimize_on_simplex(self.gram / (2.0 * alpha), self.offsets, self.share)
        slope = self.share @ self.slopes
        bound = float(self.share @ self.offsets) - float(slope @ slope) / (4.0 * alpha)
        self._unused = np.where(self.share > 0.0, 0, self._unused + 1)
        return slope / (-2.0 * alpha), bound

    def forget(self, patience: int) -> None:
        """Drop planes that the last `patience` programs did not use."""
        kept = self._unused < patience
        kept[0] = True
        if kept.all():
            return
        self.slopes, self.offsets, self.share = self.slopes[kept], self.offsets[kept], self.share[kept]
        self.gram = self.gram[np.ix_(kept, kept)]
        self._unused = self._unused[kept]


@dataclass(frozen=True)
class BundleResult:
    """A model and the proof of how good it is.

    Attributes
    ----------
    coef : Floats, shape (n,)
    objective : float
        ``R(Xw) + alpha ‖w‖²`` at `coef`.
    gap : float
        `objective` minus a proven lower bound of the minimum.
    n_iter : int
    n_products : int
        Products with X or its transpose.
    converged : bool
        Whether the gap is at most `tol`.
    scores : Floats
        ``X coef``, in the loss's row order.
    planes : Planes
        To begin another alpha with.
    interrupted : bool
    """

    coef: Floats
    objective: float
    gap: float
    n_iter: int
    n_products: int
    converged: bool
    scores: Floats
    planes: Planes
    interrupted: bool = False


def minimize_bundle(
    design: Design,
    loss: HingeLoss,
    alpha: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    start: Floats | None = None,
    planes: Planes | None = None,
    step_beyond: float = 0.1,
    patience: int = 50,
    on_iteration: Callable[[int, float, float], object] | None = None,
) -> BundleResult:
    run = _Run(design, loss, alpha, planes or Planes(design.shape[1]))
    run.begin(np.zeros(design.shape[1]) if start is None else start)
    n_iter = 0
    gap = np.inf
    for n_iter in range(1, max_iter + 1):
        proposal, bound = run.planes.minimize(alpha)
        run.bound = max(run.bound, bound)
        gap = run.objective - run.bound
        if on_iteration is not None:
            on_iteration(n_iter, run.objective, gap)
        if gap <= tol:
            break
        run.step(proposal, gap, step_beyond)
        run.planes.forget(patience)
    return BundleResult(
        run.w, run.objective, gap, n_iter, run.n_products, gap <= tol, run.scores, run.planes
    )


class _Run:
    """The best point so far: weights, scores, value; and the planes."""

    def __init__(self, design: Design, loss: HingeLoss, alpha: float, planes: Planes) -> None:
        self.design, self.loss, self.alpha, self.planes = design, loss, alpha, planes
        self.n_products = 0
        self.n_values = 0
        self.bound = -np.inf

    def score(self, w: Floats) -> Floats:
        self.n_products += 1
        scores = self.loss.arranged(self.design.scores(w))
        if not np.isfinite(scores).all():
            raise DataError("The scores overflow: X has entries too large to learn from; scale the features.")
        return scores

    def add_plane(self, value: HingeValue) -> None:
        self.n_products += 1
        self.planes.add(self.design.adjoint(self.loss.restored(value.gradient)), value.offset)

    def begin(self, w: Floats) -> None:
        self.w, self.scores = w, self.score(w) if w.any() else np.zeros(self.design.shape[0])
        self.value = self.loss.value(self.scores)
        self.objective = self.value.risk + self.alpha * float(w @ w)
        self.add_plane(self.value)

    def step(self, proposal: Floats, gap: float, step_beyond: float) -> None:
        towards = proposal - self.w
        moves = self.score(proposal) - self.scores
        square, linear, curved = float(self.w @ self.w), float(self.w @ towards), float(towards @ towards)

        def at(t: float) -> Tangent[HingeValue]:
            value = self.loss.value(self.scores + t * moves) if t else self.value
            self.n_values += 1
            ridge = self.alpha * (square + 2.0 * t * linear + t * t * curved)
            slope = float(value.gradient @ moves) + 2.0 * self.alpha * (linear + t * curved)
            return Tangent(t, value.risk + ridge, slope, value)

        best = minimize_along(at, accuracy=0.1 * gap)
        self.w = self.w + best.t * towards
        self.scores = self.scores + best.t * moves
        self.value, self.objective = best.payload, best.value
        # The plane at a point a little further towards the proposal cuts more off than one at the best point.
        beyond = self.loss.value(self.scores + step_beyond * (1.0 - best.t) * moves)
        self.n_values += 1
        self.add_plane(beyond)
