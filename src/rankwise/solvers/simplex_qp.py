"""The small quadratic program of a bundle method."""

from __future__ import annotations

from rankwise import _native
from rankwise.types import Floats


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
    end where a coordinate becomes 0 and drop it; then the coordinate with the smallest gradient comes in.
    Where the support would become dependent, the objective has no curvature in some direction: the step
    goes along that one until a coordinate leaves. The Cholesky factor of the support's equations is updated,
    so that a step costs O(k s) for a support of size s. Every iterate is a point of the simplex, so a caller
    that only needs a bound may use any of them; steps are limited, since rounding could make them go round in
    circles.
    """
    x = start.copy()
    _native.minimize_on_simplex(H, b, x)
    return x
