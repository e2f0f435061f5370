"""Line search: minimizing a convex function of one variable from its values and slopes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from rankwise.types import Floats

T = TypeVar("T")


@dataclass(frozen=True)
class Tangent(Generic[T]):
    """The value and slope of a convex function at t, and anything else computed there."""

    t: float
    value: float
    slope: float
    payload: T


def minimize_ridge_along(
    risk: Callable[[float], Tangent[T]], alpha: float, w: Floats, direction: Floats, *, accuracy: float
) -> Tangent[T]:
    """Minimize ``risk(t) + alpha ‖w + t direction‖²`` over t ≥ 0; return the best point tried."""
    square, linear, curved = float(w @ w), float(w @ direction), float(direction @ direction)

    def at(t: float) -> Tangent[T]:
        there = risk(t)
        ridge = alpha * (square + 2.0 * t * linear + t * t * curved)
        slope = there.slope + 2.0 * alpha * (linear + t * curved)
        return Tangent(t, there.value + ridge, slope, there.payload)

    return minimize_along(at, accuracy=accuracy)


def minimize_along(at: Callable[[float], Tangent[T]], *, accuracy: float, max_values: int = 30) -> Tangent[T]:
    """Minimize a convex function over t ≥ 0 to within `accuracy`; return the best point tried.

    The minimum is bracketed by slopes of opposite sign. The next point is where the line through the slopes
    is zero, kept away from the ends. The intersection of the tangents at the ends of the bracket bounds the
    function from below. Slopes are trusted more than values, which near a minimum differ only by rounding:
    the start is never the best point of a direction of descent.
    """
    low, high = at(0.0), at(1.0)
    n_values = 1
    while high.slope < 0.0 and n_values < max_values:
        low, high = high, at(2.0 * high.t)
        n_values += 1
    if low.slope >= 0.0:
        return low
    if high.slope <= 0.0:
        return high
    best, excess = _better(low, high)
    while n_values < max_values and (excess > accuracy or best.t == 0.0):
        width = high.t - low.t
        t = low.t - low.slope * width / (high.slope - low.slope)
        middle = at(min(max(t, low.t + 0.05 * width), high.t - 0.05 * width))
        n_values += 1
        if middle.slope < 0.0:
            low = middle
        else:
            high = middle
        best, excess = _better(low, high)
    return best


def _better(low: Tangent[T], high: Tangent[T]) -> tuple[Tangent[T], float]:
    """The better end of a bracket, and a bound on its distance from the minimum."""
    width = high.t - low.t
    # The difference of the values is limited to what a convex function with these slopes can have.
    rise = min(max(high.value - low.value, low.slope * width), high.slope * width)
    meet = (high.slope * width - rise) / (high.slope - low.slope)
    drop = -low.slope * meet
    return (low, drop) if rise >= 0.0 else (high, drop + rise)
