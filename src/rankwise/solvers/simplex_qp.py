"""The small quadratic program of a bundle method."""

from __future__ import annotations

import numpy as np

from rankwise.types import Floats, Ints

_DEPENDENT = 1e-11


def minimize_on_simplex(H: Floats, b: Floats, start: Floats) -> Floats:
    """Minimize ``½ xᵀHx − bᵀx`` over ``x ≥ 0, Σx = 1`` with a primal active-set method.

    Parameters
    ----------
    H : Floats, shape (k, k)
        Positive semidefinite; it may be singular.
    start : Floats, shape (k,)
        A point of the simplex; its support is where the method begins, so a start near the solution is cheap.

    Notes
    -----
    The support is kept such that its equations have one solution. On it, the minimum is found by steps that
    end where a coordinate becomes 0 and drop it; then the coordinate with the smallest gradient comes in,
    along the direction that keeps the other gradients equal. Where the objective has no curvature in that
    direction, the support would become dependent: the step goes on until a coordinate leaves instead.
    O(s³) a step for a support of size s. Every iterate is a point of the simplex, so a caller that only needs
    a bound may use any of them; steps are limited, since rounding could make them go round in circles.
    """
    scale = max(float(H.diagonal().max()), float(np.abs(b).max()), np.finfo(np.float64).tiny)
    x = start.copy()
    support = np.flatnonzero(x > 0.0)
    for _ in range(20 + 4 * len(b)):
        support = _settle(H, b, x, support)
        gradient = H @ x - b
        level = float(gradient @ x)
        outside = np.ones(len(b), dtype=bool)
        outside[support] = False
        entering = int(np.where(outside, gradient, np.inf).argmin())
        if not outside.any() or gradient[entering] >= level - 1e-13 * scale:
            break
        support = _enter(H, x, support, entering, level - float(gradient[entering]))
    return x


def _settle(H: Floats, b: Floats, x: Floats, support: Ints) -> Ints:
    """Move x to the minimum over its support, without coordinates that leave it on the way; that support."""
    while len(support) > 1:
        solved = _solve(H, support, np.column_stack([b[support], np.ones(len(support))]))
        level = (1.0 - solved[:, 0].sum()) / solved[:, 1].sum()
        target = solved[:, 0] + level * solved[:, 1]
        if (target >= 0.0).all():
            x[support] = target / target.sum()
            return support
        remaining = _step_until_one_leaves(x, support, target - x[support], 1.0)
        if len(remaining) == len(support):
            break
        support = remaining
    x[support] /= x[support].sum()
    return support


def _enter(H: Floats, x: Floats, support: Ints, entering: int, gain: float) -> Ints:
    """Let a coordinate in along the direction that keeps the gradients of the others equal."""
    solved = _solve(H, support, np.column_stack([H[support, entering], np.ones(len(support))]))
    level = (solved[:, 0].sum() - 1.0) / solved[:, 1].sum()
    direction = np.append(level * solved[:, 1] - solved[:, 0], 1.0)
    support = np.append(support, entering)
    curvature = float(direction @ H[np.ix_(support, support)] @ direction)
    if not np.isfinite(curvature) or curvature <= _DEPENDENT * H[entering, entering]:
        return _step_until_one_leaves(x, support, direction, np.inf)
    return _step_until_one_leaves(x, support, direction, gain / curvature)


def _step_until_one_leaves(x: Floats, support: Ints, direction: Floats, longest: float) -> Ints:
    """Step along a direction, no further than the first coordinate to become 0, and drop that one."""
    falling = np.flatnonzero(direction < 0.0)
    ratios = x[support[falling]] / -direction[falling]
    if len(falling) == 0 or ratios.min() >= longest:
        moved = np.maximum(x[support] + longest * direction, 0.0)
    else:
        blocking = falling[ratios.argmin()]
        moved = np.maximum(x[support] + ratios.min() * direction, 0.0)
        moved[blocking] = 0.0
        x[support[blocking]] = 0.0
        support, moved = np.delete(support, blocking), np.delete(moved, blocking)
    x[support] = moved / moved.sum()
    return support


def _solve(H: Floats, support: Ints, right: Floats) -> Floats:
    part = H[np.ix_(support, support)]
    # Adding a constant to H changes nothing where Σx = 1, and makes it regular if the planes are affinely
    # independent; the diagonal keeps a support that is not from dividing by zero.
    shift = max(float(part.diagonal().max()), np.finfo(np.float64).tiny)
    return np.asarray(np.linalg.solve(part + shift + np.diag(np.full(len(support), 1e-15 * shift)), right))
