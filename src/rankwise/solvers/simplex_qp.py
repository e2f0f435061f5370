"""The small quadratic program of a bundle method."""

from __future__ import annotations

import numpy as np

from rankwise.types import Floats


def minimize_on_simplex(H: Floats, b: Floats, start: Floats, *, max_steps: int | None = None) -> Floats:
    """Minimize ``½ xᵀHx − bᵀx`` over ``x ≥ 0, Σx = 1`` with a primal active-set method.

    Parameters
    ----------
    H : Floats, shape (k, k)
        Positive semidefinite.
    start : Floats, shape (k,)
        A point of the simplex; its support is where the method begins, so a start near the solution is cheap.

    Notes
    -----
    Each step solves the equations of the current support and either stays feasible, and takes in the
    coordinate whose gradient promises most, or stops at the first coordinate that becomes 0 and drops it.
    O(s³) a step for a support of size s. Every iterate is a point of the simplex, so that a caller that only
    needs a bound may use any of them.
    """
    k = len(b)
    scale = max(float(H.diagonal().max()), np.finfo(np.float64).tiny)
    # Planes that depend on each other make H singular; this much of the identity is below its rounding errors.
    H = H + np.diag(np.full(k, 1e-13 * scale))
    precision = 1e-12 * (scale + float(np.abs(b).max()))
    x = start.copy()
    support = x > 0.0
    for _ in range(max_steps or 50 + 10 * k):
        inside = np.flatnonzero(support)
        target, level = _solve_on_support(H[np.ix_(inside, inside)], b[inside])
        negative = target < 0.0
        if negative.any():
            current = x[inside]
            ratio = np.where(negative, current / np.where(negative, current - target, 1.0), np.inf)
            blocking = int(ratio.argmin())
            moved = np.maximum(current + ratio[blocking] * (target - current), 0.0)
            x[inside] = moved / moved.sum()
            x[inside[blocking]] = 0.0
            support[inside[blocking]] = False
            continue
        x[inside] = target
        gradient = H @ x - b
        gradient[inside] = np.inf
        entering = int(gradient.argmin())
        if gradient[entering] >= level - precision:
            break
        support[entering] = True
    return x


def _solve_on_support(H: Floats, b: Floats) -> tuple[Floats, float]:
    """The minimizer with coordinates summing to 1, of any sign, and the gradient that all of them share."""
    solved = np.linalg.solve(H, np.column_stack([b, np.ones(len(b))]))
    level = (1.0 - solved[:, 0].sum()) / solved[:, 1].sum()
    x = solved[:, 0] + level * solved[:, 1]
    return x / x.sum(), float(level)
