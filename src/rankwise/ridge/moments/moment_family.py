"""RankRLS from moments alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from rankwise.family import Family, OnAlpha, Solutions
from rankwise.held_out import HeldOut
from rankwise.operators.design import MatrixDesign
from rankwise.ridge.moments.quadratic import UNIT_ROUNDOFF, Quadratic
from rankwise.ridge.spectrum import RidgeSystem
from rankwise.ridge.tridiagonal import WELL_CONDITIONED
from rankwise.threads import one_blas_thread
from rankwise.types import Bools, Floats, Matrix

# A system is solved exactly for a matrix that differs by at most this many roundings per unknown.
ROUNDINGS_PER_UNKNOWN = 16.0


@dataclass(frozen=True)
class MomentSolutions(Solutions):
    """The models that moments give.

    Attributes
    ----------
    is_resolved : array of bool, shape (n_alphas,)
        Whether ``XᵀLX + αI`` is so well conditioned that no accuracy that matters was lost.
    """

    is_resolved: Bools


@dataclass(frozen=True)
class MomentFamily(Family):
    """The models that minimize ``wᵀAw − 2bᵀw + α‖w‖²``, one per α; O(n³) each.

    There are no rows, so the loss is a quadratic in the weights.
    """

    loss: Quadratic

    @cached_property
    def _system(self) -> RidgeSystem:
        return RidgeSystem(self.loss.matrix, self.loss.right)

    def scaled_system(self, alpha: float) -> tuple[RidgeSystem, Floats]:
        """``D⁻¹ (A + αI) D⁻¹``, with a diagonal of ones, and ``D⁻¹b``; and the diagonal of D."""
        A, b = self.loss.matrix, self.loss.right
        squares = np.maximum(np.diag(A) + alpha, 0.0)
        scale = np.sqrt(np.where(squares > 0.0, squares, 1.0))
        scaled = (A + alpha * np.eye(len(A))) / np.outer(scale, scale)
        return RidgeSystem(scaled, (b.T / scale).T), scale

    def scores(self, coef: Floats, X: Matrix) -> Floats:
        return MatrixDesign(X).scores(coef.T)

    def solve(
        self, alphas: Floats, held_out: HeldOut | None = None, on_alpha: OnAlpha | None = None
    ) -> MomentSolutions:
        weights, is_resolved = zip(*self._solve_each(alphas.tolist()), strict=True)
        coef, finished = np.stack(weights), np.ones(len(alphas), dtype=np.bool_)
        values = None if held_out is None else held_out.measured(self.scores(coef, held_out.X))
        return MomentSolutions(alphas, coef, finished, values, False, np.array(is_resolved))

    def _solve_each(self, alphas: Sequence[float]) -> Iterator[tuple[Floats, bool]]:
        """The weights of one alpha after the other, and whether they are resolved.

        Features are brought to one scale, which matters only to rounding. Where that is not enough,
        eigenvalues of A below its rounding errors are cut off.
        """
        for alpha in alphas:
            system, scale = self.scaled_system(alpha)
            solution, rcond = system.cholesky(0.0)
            if rcond > WELL_CONDITIONED:
                yield solution.T / scale, True
            else:
                yield self._system.spectrum.solve(alpha).T, False

    def error_bound(self, alpha: float, coef: Floats) -> float:
        """A bound on the norm of the error of the weights due to rounding, since the first row.

        If ``M = A + αI`` and b are off by at most ε and ε_b, then w is off by at most
        ``(ε‖w‖ + ε_b) / (λmin(M) − ε)``. Here that is applied to features brought to one scale, because a
        feature with large values has large rounding errors, but no effect on those of others. Infinite if
        ``λmin ≤ ε``.
        """
        rounding, (system, scale) = self.loss.rounding, self.scaled_system(alpha)
        assert rounding is not None
        share, n = float((rounding[:-1] / scale**2).sum()), len(scale)
        error = share + ROUNDINGS_PER_UNKNOWN * n * UNIT_ROUNDOFF * n
        with one_blas_thread(system.is_small):
            smallest = float(linalg.eigvalsh(system.matrix, subset_by_index=(0, 0))[0])
        if smallest <= error:
            return float("inf")
        numerator = error * float(np.linalg.norm(coef * scale)) + float(np.sqrt(share * rounding[-1]))
        return numerator / (smallest - error) / float(scale.min())
