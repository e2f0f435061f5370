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
