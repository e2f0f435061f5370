"""RankRLS in closed form, in the space of features (primal) or of training rows (dual).

One decomposition serves every alpha and every left-out query (`leave_query_out`, `leave_pair_out`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import ClassVar

import numpy as np

from rankwise.family import Family, OnAlpha
from rankwise.held_out import HeldOut
from rankwise.preferences.differences import Differences, QueryDifferences
from rankwise.preferences.pair_differences import compacted
from rankwise.ridge.cg_result import RidgeSolutions
from rankwise.ridge.leave_out.centred_ridge import CentredRidge, WholeSpectrum
from rankwise.ridge.leave_out.leave_pair_out import (
    differences_of,
    dual_ridges,
    leave_pair_out_error,
    primal_ridges,
    resolved,
)
from rankwise.ridge.leave_out.leave_query_out import leave_out_primal
from rankwise.ridge.leave_out.leave_query_out_dual import leave_out_dual
from rankwise.ridge.leave_out.left_out_batches import can_leave_queries_out
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.ridge.spaces import DualSpace, PrimalSpace, Space
from rankwise.ridge.spectrum import (
    EPS,
    RidgeSystem,
    Spectrum,
    precise_spectrum,
    spectrum_without_null_space,
)
from rankwise.ridge.squared import SquaredLoss
from rankwise.ridge.tridiagonal import WELL_CONDITIONED, Decomposition
from rankwise.types import Floats, Ints, Matrix, Solver


class ClosedForm(Family):
    """Base class of the two closed forms; see `Family`."""

    space: Space
    loss: SquaredLoss
    solver: ClassVar[Solver]

    def scores(self, coef: Floats, X: Matrix) -> Floats:
        return self.space.scorer(X)(coef.T)

    def solve(
        self, alphas: Floats, held_out: HeldOut | None = None, on_alpha: OnAlpha | None = None
    ) -> RidgeSolutions:
        """Use a Cholesky factorization for one alpha; for several, a decomposition, at O(p²) per alpha."""
        coef = self._coefficients(alphas)
        values = None if held_out is None else held_out.measured(self.scores(coef, held_out.X))
        finished = np.ones(len(alphas), dtype=np.bool_)
        return RidgeSolutions(alphas, coef, finished, values, False, n_digits=self._n_digits(coef, alphas))

    def leave_pair_out(self, y: Floats, alphas: Floats) -> Floats:
        ridges = resolved(self._ridges_without_pairs(alphas), self.loss, alphas, self._whole_spectrum)
        return leave_pair_out_error(ridges, y)

    @abstractmethod
    def decompose(self) -> None:
        """Decompose now, because many alphas will be solved one by one."""

    @abstractmethod
    def _coefficients(self, alphas: Floats) -> Floats:
        """Coefficients for every alpha, shape (n_alphas, p) or (n_alphas, n_targets, p)."""

    def _n_digits(self, coef: Floats, alphas: Floats) -> Floats | None:
        """About how many digits of the scores survive; None for all that matter."""
        return self.space.n_digits(coef, self.loss.reference())

    @abstractmethod
    def _ridges_without_pairs(self, alphas: Floats) -> Iterator[CentredRidge]: ...

    @abstractmethod
    def _whole_spectrum(self, constant: Floats) -> WholeSpectrum: ...


@dataclass(frozen=True)
class PrimalFamily(ClosedForm):
    """Feature weights: ``(XᵀLX + αI) w = XᵀFᵀt`` (paper A, equation 11).

    O(m n² + n³) time for dense X and O(n²) memory beyond X; O(n²) per additional alpha. On the features of a
    `BasisSpace`, this is Sparse RankRLS (paper B).
    """

    space: PrimalSpace
    loss: SquaredLoss

    solver: ClassVar[Solver] = Solver.PRIMAL

    @cached_property
    def quadratic(self) -> Quadratic:
        return self.loss.quadratic(self.space.features)

    @cached_property
    def system(self) -> RidgeSystem:
        return RidgeSystem(self.quadratic.matrix, self.quadratic.right)

    @cached_property
    def precise_spectrum(self) -> Spectrum:
        return precise_spectrum(self.space.features, self.loss)

    @cached_property
    def _without_null_space(self) -> Spectrum | None:
        return spectrum_without_null_space(self.space.features, self.loss, self.system)

    def decomposition(self, smallest_alpha: float) -> Decomposition:
        """The cheapest one that is accurate for every alpha ≥ `smallest_alpha`."""
        form = self.system.tridiagonal
        if form.resolves(smallest_alpha):
            return form
        return self._without_null_space or self.precise_spectrum

    def decompose(self) -> None:
        _ = self.system.tridiagonal

    def _coefficients(self, alphas: Floats) -> Floats:
        if len(alphas) > 1 or self.system.is_decomposed:
            weights = self.decomposition(float(alphas.min())).solve_all(alphas)
        else:
            weights = self._factorized(float(alphas[0]))[None]
        return np.stack([self.space.from_weights(one).T for one in weights])

    def _factorized(self, alpha: float) -> Floats:
        """Use Cholesky or, if ``XᵀLX + αI`` is so ill-conditioned that digits are lost, a decomposition,
        which gives the minimum-norm solution if alpha is 0."""
        weights, rcond = self.system.cholesky(alpha)
        return weights if rcond > WELL_CONDITIONED else self.decomposition(alpha).solve(alpha)

    def _leave_queries_out(self, folds: Sequence[Ints], alphas: Floats) -> Iterable[Floats | None]:
        if not can_leave_queries_out(self.loss, self.space.features):
            return repeat(None, len(folds))
        decomposition = self.decomposition(float(alphas.min()))
        return leave_out_primal(self.space.features, self.loss, self.system, decomposition, folds, alphas)

    def _ridges_without_pairs(self, alphas: Floats) -> Iterator[CentredRidge]:
        return primal_ridges(self.space.features, self.loss, self.decomposition, alphas)

    def _whole_spectrum(self, constant: Floats) -> WholeSpectrum:
        return WholeSpectrum.of_rows(differences_of(self.space.features, self.loss), constant)


@dataclass(frozen=True)
class DualFamily(ClosedForm):
    """Row coefficients: ``a = Fᵀ (F K Fᵀ + αI)⁻¹ t``, which is ``(LK + αI)⁻¹ L y`` (paper A, equation 8).

    O(m³) time and O(m²) memory; O(m²) per additional alpha.
    """

    space: DualSpace
    loss: SquaredLoss

    solver: ClassVar[Solver] = Solver.DUAL

    @cached_property
    def _compacted(self) -> tuple[Differences, Floats]:
        """F, with at most as many differences as rows, and its target."""
        return compacted(self.loss.differences, self.loss.target)

    @cached_property
    def system(self) -> RidgeSystem:
        F, t = self._compacted
        inner = F.apply(np.ascontiguousarray(F.apply(self.space.kernel_matrix).T))
        return RidgeSystem(matrix=(inner + inner.T) / 2, right=t)

    def decompose(self) -> None:
        _ = self.system.tridiagonal

    @cached_property
    def _norm(self) -> float:
        return float(np.abs(self.system.matrix).sum(axis=0).max())

    def _n_digits(self, coef: Floats, alphas: Floats) -> Floats | None:
        digits = super()._n_digits(coef, alphas)
        # Eigenvalues below the rounding errors of the largest are cut off, whatever a smaller alpha makes of
        # them; without an alpha that is the minimum-norm solution.
        lost = (alphas > 0.0) & (alphas <= len(self.system.matrix) * EPS * self._norm)
        return None if digits is None else np.where(lost, 0.0, digits)

    def _needs_weights(self, alphas: Floats) -> bool:
        """Whether ``F K Fᵀ``, which is always singular, lost digits that weights have at these alphas."""
        ill_conditioned = float(alphas.min()) <= WELL_CONDITIONED * self._norm
        return ill_conditioned and self.space.precise_weights is not None

    def _coefficients(self, alphas: Floats) -> Floats:
        if self.space.precise_weights is not None and self._needs_weights(alphas):
            return self.space.precise_weights(self.loss, alphas)
        if len(alphas) > 1 or self.system.is_decomposed:
            solved = self.system.decomposition(float(alphas.min())).solve_all(alphas)
        else:
            solved = self._factorized(float(alphas[0]))[None]
        F = self._compacted[0]
        return np.stack([self.space.from_rows(F.adjoint(z)).T for z in solved])

    def _factorized(self, alpha: float) -> Floats:
        z, rcond = self.system.cholesky(alpha)
        return z if rcond > WELL_CONDITIONED else self.system.spectrum.solve(alpha)

    def _leave_queries_out(self, folds: Sequence[Ints], alphas: Floats) -> Iterable[Floats | None]:
        if self._needs_weights(alphas) or not isinstance(self.loss.differences, QueryDifferences):
            return repeat(None, len(folds))
        return leave_out_dual(self.space.kernel_matrix, self.loss, self.system, folds, alphas)

    def _ridges_without_pairs(self, alphas: Floats) -> Iterator[CentredRidge]:
        if self.space.features is not None and self._needs_weights(alphas):
            spectrum = precise_spectrum(self.space.features, self.loss)
            return primal_ridges(self.space.features, self.loss, lambda _: spectrum, alphas)
        return dual_ridges(self.space.kernel_matrix, self.loss, self.system.decomposition, alphas)

    def _whole_spectrum(self, constant: Floats) -> WholeSpectrum:
        if self.space.features is None:
            return WholeSpectrum.of_matrix(self.system.matrix, constant)
        return WholeSpectrum.of_rows(differences_of(self.space.features, self.loss), constant)
