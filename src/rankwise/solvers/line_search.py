"""Line search: minimizing a convex function of one variable from its values and slopes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from rankwise.types import Floats

T = TypeVar("T")


class RiskValue(Protocol):
    """A risk and its gradient at given scores."""

    @property
    def risk(self) -> float: ...

    @property
    def gradient(self) -> Floats: ...


R = TypeVar("R", bound=RiskValue)


@dataclass(frozen=True)
class Tangent(Generic[T]):
    """The value and slope of a convex function at t, and anything else computed there."""

    t: float
    value: float
    slope: float
    payload: T


def minimize_ridge_along(
    risk_at: Callable[[Floats], R],
    alpha: float,
    w: Floats,
    direction: Floats,
    scores: Floats,
    moves: Floats,
    value: R,
    *,
    accuracy: float,
) -> Tangent[R]:
    """Minimize ``R(scores + t moves) + alpha ‖w + t direction‖²`` over t ≥ 0; return the best point tried.

    `moves` are the scores of `direction` and `value` is the risk at t = 0, so no product with X is needed.
    """
    square, linear, curved = float(w @ w), float(w @ direction), float(direction @ direction)

    def at(t: float) -> Tangent[R]:
        there = risk_at(scores + t * moves) if t else value
        ridge = alpha * (square + 2.0 * t * linear + t * t * curved)
        slope = float(there.gradient @ moves) + 2.0 * alpha * (linear + t * curved)
        return Tangent(t, there.risk + ridge, slope, there)

    return minimize_along(at, accuracy=accuracy)


def minimize_along(at: Callable[[float], Tangent[T]], *, accuracy: float, max_values: int = 30) -> Tangent[T]:
    """Minimize a convex function over t ≥ 0 to within `accuracy`; return the best point tried.

    The minimum is bracketed by slopes of opposite sign. The next point is where the line through the slopes
    is zero, kept away from the ends. The intersection of the tangents at the ends of the bracket bounds the
    function from below.
    """
    low, high = at(0.0), at(1.0)
    n_values = 1
    while high.slope < 0.0 and n_values < max_values:
        low, high = high, at(2.0 * high.t)
        n_values += 1
    best = min(low, high, key=lambda tangent: tangent.value)
    if low.slope >= 0.0 or high.slope <= 0.0:
        return best
    while n_values < max_values and best.value - _bound(low, high) > accuracy:
        width = high.t - low.t
        t = low.t - low.slope * width / (high.slope - low.slope)
        middle = at(min(max(t, low.t + 0.05 * width), high.t - 0.05 * width))
        n_values += 1
        best = min(best, middle, key=lambda tangent: tangent.value)
        if middle.slope < 0.0:
            low = middle
        else:
            high = middle
    return best


def _bound(low: Tangent[T], high: Tangent[T]) -> float:
    """The value at which the tangents intersect."""
    meet = (high.value - low.value - high.slope * high.t + low.slope * low.t) / (low.slope - high.slope)
    return low.value + low.slope * (meet - low.t)
