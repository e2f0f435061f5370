"""Planes below a convex risk, and the minimum of their maximum plus ``alpha ‖w‖²``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise import _native
from rankwise.types import Floats

# The number of pulls to try for a level.
_PULLS = 8
_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Metric:
    """``‖v‖² = Σ curvature_j (axis_j · v)²``, with orthonormal columns as axes."""

    curvature: Floats
    axes: Floats


class Planes:
    """Lower bounds ``offset_k + slope_k · w`` of a risk, valid for every alpha.

    The first one states that the risk is non-negative.

    Parameters
    ----------
    n_features : int

    Notes
    -----
    k planes take O(k n) memory. Adding one costs O(k n); the program costs O(k s) per step for s planes in
    use.
    """

    def __init__(self, n_features: int) -> None:
        self._slopes = np.zeros((8, n_features))
        self._offsets = np.zeros(1)
        self._gram = np.zeros((1, 1))
        self._share = np.ones(1)
        self._unused = np.zeros(1, dtype=np.int64)
        self._pull = 1.0
        self._resolution = np.inf
        self._pulled = np.ones(1)

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def offsets(self) -> Floats:
        return self._offsets

    @property
    def share(self) -> Floats:
        """The shares of the planes that proved the last bound."""
        return self._share

    def add(self, slope: Floats, offset: float) -> None:
        k = len(self)
        if k == len(self._slopes):
            self._slopes = np.concatenate([self._slopes, np.empty_like(self._slopes)])
        self._slopes[k] = slope
        gram = np.empty((k + 1, k + 1))  # `np.pad` would take six times as long
        gram[:k, :k] = self._gram
        gram[k, :] = gram[:, k] = self._slopes[: k + 1] @ slope
        self._gram = gram
        self._offsets = np.append(self._offsets, offset)
        self._share = np.append(self._share, 0.0)
        self._pulled = np.append(self._pulled, 0.0)
        self._unused = np.append(self._unused, 0)

    def widen(self, column: Floats) -> None:
        """Add a coordinate to w, with these slopes along it."""
        self._slopes = np.pad(self._slopes, ((0, 0), (0, 1)))
        self._slopes[: len(self), -1] = column
        self._gram = self._gram + np.outer(column, column)

    def rotate(self, basis: Floats) -> None:
        """Restrict the planes to the span of orthonormal rows."""
        self._slopes = self._slopes @ basis.T
        self._gram = self._slopes[: len(self)] @ self._slopes[: len(self)].T

    def bound(self, alpha: float) -> float:
        """A lower bound of the risk plus ``alpha ‖w‖²``, for all w.

        This is the dual objective ``Σ λ_k offset_k − ‖Σ λ_k slope_k‖² / (4 alpha)`` at shares λ ≥ 0 of the
        planes that sum to 1. It is valid for any shares; the optimal ones give the minimum of the highest
        plane plus ``alpha ‖w‖²``.
        """
        self._share = minimize_on_simplex(self._gram / (2.0 * alpha), self._offsets, self._share)
        self._unused = np.where((self._share > 0.0) | (self._pulled > 0.0), 0, self._unused + 1)
        slope = self._share @ self._slopes[: len(self)]
        self._resolution = _ROUNDING * (1.0 + float(slope @ slope) / (4.0 * alpha))
        return float(self._share @ self._offsets) - float(slope @ slope) / (4.0 * alpha)

    @property
    def resolution(self) -> float:
        """How much rounding may add to the last bound: offsets are at most 1, slopes are long sums."""
        return self._resolution

    def propose(self, alpha: float, center: Floats, metric: Metric, level: float, slack: float) -> Floats:
        """The point nearest to `center` where the highest plane plus ``alpha ‖w‖²`` is about `level`.

        While there are few planes, their minimizer alone jumps around; a nearby point that achieves a good
        part of the decrease they promise is a better next point. It minimizes the planes plus
        ``alpha ‖w‖² + pull ‖w − center‖²``, the last norm in the metric, for the pull at which the level is
        met to within `slack`. Since the program is small, the pull is found by trial. If the metric is the
        curvature of the risk, one plane and a pull of ½ would make this Newton's method.
        """
        slopes, center = self._slopes[: len(self)] @ metric.axes, center @ metric.axes
        low, high = 0.0, np.inf
        for _ in range(_PULLS):
            total = alpha + self._pull * metric.curvature
            free = self._pull * metric.curvature / total * center
            gram = (slopes / (2.0 * total)) @ slopes.T
            self._pulled = minimize_on_simplex(gram, self._offsets + slopes @ free, self._pulled)
            point = free - self._pulled @ slopes / (2.0 * total)
            value = float((self._offsets + slopes @ point).max()) + alpha * float(point @ point)
            if abs(value - level) <= slack:
                break
            if value > level:
                high = self._pull
            else:
                low = self._pull
            self._pull = 4.0 * low if high == np.inf else high / 4.0 if low == 0.0 else (low * high) ** 0.5
            if self._pull * metric.curvature.max() < 1e-4 * alpha:
                break
        return metric.axes @ point

    def forget(self, patience: int) -> list[int]:
        """Drop planes that the last `patience` programs did not use; return the indices of those kept."""
        kept = np.flatnonzero(self._unused < patience)
        kept = np.union1d(kept, [0])
        if len(kept) == len(self):
            return kept.tolist()
        self._slopes[: len(kept)] = self._slopes[kept]
        self._offsets, self._share, self._pulled = self._offsets[kept], self._share[kept], self._pulled[kept]
        self._unused = self._unused[kept]
        self._gram = self._gram[np.ix_(kept, kept)]
        return kept.tolist()


def minimize_on_simplex(H: Floats, b: Floats, start: Floats) -> Floats:
    """Minimize ``½ xᵀHx − bᵀx`` over ``x ≥ 0, Σx = 1`` with a primal active-set method.

    Parameters
    ----------
    H : Floats, shape (k, k)
        Positive semidefinite; it may be singular.
    start : Floats, shape (k,)
        A point of the simplex, from whose support the method starts; a start near the solution is cheap.

    Notes
    -----
    The support is kept such that its equations have a unique solution. Steps towards the minimum on the
    support end where a coordinate becomes 0, which is dropped; then the coordinate with the smallest gradient
    enters. If the support would become dependent, the objective has no curvature in some direction, and the
    step follows it until a coordinate leaves. The Cholesky factor of the support's equations is updated, so a
    step costs O(k s) for a support of size s. Every iterate is a point of the simplex, so a caller that only
    needs a bound may use any of them. The number of steps is limited, since rounding could cause cycles.
    """
    x = start.copy()
    _native.minimize_on_simplex(H, b, x)
    return x
