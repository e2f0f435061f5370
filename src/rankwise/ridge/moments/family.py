"""RankRLS from moments alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from rankwise.ridge.moments.quadratic import UNIT_ROUNDOFF, Quadratic
from rankwise.ridge.spectrum import RidgeSystem
from rankwise.ridge.tridiagonal import WELL_CONDITIONED
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


@dataclass(frozen=True)
class MomentFamily:
    """The models that minimize ``wᵀAw − 2bᵀw + α‖w‖²``, one per α; O(n³) each."""

    quadratic: Quadratic

    @cached_property
    def _system(self) -> RidgeSystem:
        return RidgeSystem(self.quadratic.matrix, self.quadratic.right)

    def scaled_system(self, alpha: float) -> tuple[RidgeSystem, Floats]:
        """``D⁻¹ (A + αI) D⁻¹``, with a diagonal of ones, and ``D⁻¹b``; and the diagonal of D."""
        A, b = self.quadratic.matrix, self.quadratic.right
        squares = np.maximum(np.diag(A) + alpha, 0.0)
        scale = np.sqrt(np.where(squares > 0.0, squares, 1.0))
        scaled = (A + alpha * np.eye(len(A))) / np.outer(scale, scale)
        return RidgeSystem(scaled, (b.T / scale).T), scale

    def solve(self, alpha: float) -> MomentSolution:
        """Solve with features brought to one scale, which matters only to rounding.

        Where that is not enough, eigenvalues of A below its rounding errors are cut off.
        """
        system, scale = self.scaled_system(alpha)
        solution, rcond = system.cholesky(0.0)
        if rcond > WELL_CONDITIONED:
            return MomentSolution(solution.T / scale, True)
        return MomentSolution(self._system.spectrum.solve(alpha).T, False)

    def error_bound(self, alpha: float, coef: Floats) -> float:
        """A bound on the norm of the error of the weights due to rounding, since the first row.

        If ``M = A + αI`` and b are off by at most ε and ε_b, then w is off by at most
        ``(ε‖w‖ + ε_b) / (λmin(M) − ε)``. Here that is applied to features brought to one scale, because a
        feature with large values has large rounding errors, but no effect on those of others. Infinite if
        ``λmin ≤ ε``.
        """
        rounding, (system, scale) = self.quadratic.rounding, self.scaled_system(alpha)
        assert rounding is not None
        share, n = float((rounding[:-1] / scale**2).sum()), len(scale)
        error = share + ROUNDINGS_PER_UNKNOWN * n * UNIT_ROUNDOFF * n
        smallest = float(linalg.eigvalsh(system.matrix, subset_by_index=(0, 0))[0])
        if smallest <= error:
            return float("inf")
        numerator = error * float(np.linalg.norm(coef * scale)) + float(np.sqrt(share * rounding[-1]))
        return numerator / (smallest - error) / float(scale.min())
