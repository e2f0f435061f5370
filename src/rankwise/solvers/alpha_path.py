"""One alpha after the other, each beginning where the last one ended."""

from __future__ import annotations

from collections.abc import Iterator

from rankwise.losses.hinge import HingeLoss
from rankwise.operators.design import Design
from rankwise.solvers.bundle import Bundle, minimize_bundle
from rankwise.solvers.certified import Certified
from rankwise.solvers.newton import minimize_newton
from rankwise.types import Floats


def bundle_path(
    design: Design, loss: HingeLoss, alphas: Floats, *, tol: float, max_iter: int
) -> Iterator[Certified]:
    """Solve for each alpha in turn, down to an interrupted one; descending ones are cheapest.

    Planes below the risk and scores of directions do not depend on alpha and are kept, so that a grid costs
    little more than its smallest alpha alone.
    """
    known, start = Bundle(*design.shape), None
    for alpha in alphas:
        result = minimize_bundle(
            design, loss, float(alpha), tol=tol, max_iter=max_iter, start=start, known=known
        )
        yield result
        if result.interrupted:
            return  # an interrupt may have left what is known half updated
        start = result.coef


def newton_path(
    design: Design, loss: HingeLoss, alphas: Floats, *, tol: float, max_iter: int
) -> Iterator[Certified]:
    """Solve for each alpha in turn, down to an interrupted one, from the weights of the one before."""
    start = None
    for alpha in alphas:
        result = minimize_newton(design, loss, float(alpha), tol=tol, max_iter=max_iter, start=start)
        yield result
        if result.interrupted:
            return
        start = result.coef
