"""RankRLS from moments alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from rankwise.moments.quadratic import UNIT_ROUNDOFF, Quadratic
from rankwise.solvers.spectrum import RidgeSystem
from rankwise.solvers.tridiagonal import WELL_CONDITIONED
from rankwise.types import Floats

# A system is solved exactly for a matrix that differs by at most this many roundings per unknown.
ROUNDINGS_PER_UNKNOWN = 16.0


@dataclass(frozen=True)
class MomentSolution:
    """The model for one alpha.

    Attributes
    ----------
    coef : Floats, shape (n,) or (n_targets, n)
    is_resolved : bool
        Whether ``XᵀLX + αI`` is so well conditioned that no accuracy that matters was lost.
    """

    coef: Floats
    is_resolved: bool


def solve_moments(quadratic: Quadratic, alpha: float) -> MomentSolution:
    """Minimize ``wᵀAw − 2bᵀw + α‖w‖²``, O(n³).

    Features are brought to one scale first, which only matters to rounding; where that is not enough,
    eigenvalues of A below its rounding errors are cut off.
    """
    scale = _scale(quadratic, alpha)
    system = RidgeSystem(_scaled(quadratic.matrix, alpha, scale), (quadratic.right.T / scale).T)
    solution, rcond = system.cholesky(0.0)
    if rcond > WELL_CONDITIONED:
        return MomentSolution((solution.T / scale), True)
    spectrum = RidgeSystem(quadratic.matrix, quadratic.right).spectrum
    return MomentSolution(spectrum.solve(alpha).T, False)


def error_bound(quadratic: Quadratic, alpha: float, coef: Floats) -> float:
    """A bound on the norm of the error of the weights due to rounding, O(n³).

    If ``M = A + αI`` and b are off by at most ε and ε_b, then w is off by at most
    ``(ε‖w‖ + ε_b) / (λmin(M) − ε)``. Here that is applied to features brought to one scale, because a feature
    with large values has large rounding errors, but no effect on those of others. Infinite if ``λmin ≤ ε``.
    """
    assert quadratic.rounding is not None
    scale = _scale(quadratic, alpha)
    rounding, n = quadratic.rounding, len(scale)
    error = float((rounding[:-1] / scale**2).sum()) + ROUNDINGS_PER_UNKNOWN * n * UNIT_ROUNDOFF * n
    right = float(np.sqrt((rounding[:-1] / scale**2).sum() * rounding[-1]))
    smallest = float(linalg.eigvalsh(_scaled(quadratic.matrix, alpha, scale), subset_by_index=(0, 0))[0])
    if smallest <= error:
        return float("inf")
    scaled_error = (error * float(np.linalg.norm(coef * scale)) + right) / (smallest - error)
    return scaled_error / float(scale.min())


def _scale(quadratic: Quadratic, alpha: float) -> Floats:
    squares = np.maximum(np.diag(quadratic.matrix) + alpha, 0.0)
    return np.sqrt(np.where(squares > 0.0, squares, 1.0))


def _scaled(matrix: Floats, alpha: float, scale: Floats) -> Floats:
    """``D⁻¹ (A + αI) D⁻¹``, with a diagonal of ones."""
    return (matrix + alpha * np.eye(len(matrix))) / np.outer(scale, scale)
