"""Where RankRLS is solved: the space of features (primal) or the space of examples (dual)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import linalg

from rankwise.losses.squared import SquaredLoss
from rankwise.operators.design import Design
from rankwise.preferences.differences import Differences
from rankwise.preferences.pairs import compacted
from rankwise.solvers.spectrum import EPS, WELL_CONDITIONED, RidgeSystem, Spectrum, truncated
from rankwise.types import Floats


class Space(Protocol):
    """A squared loss with the space its minimizer is looked for in."""

    def solve(self, alpha: float) -> Floats:
        """Coefficients for one alpha, shape (p,) or (p, k), by the cheapest road."""
        ...

    def solve_all(self, alphas: Sequence[float] | Floats) -> Floats:
        """Coefficients for every alpha, shape (n_alphas, p) or (n_alphas, p, k), from one decomposition."""
        ...

    @property
    def with_loss(self) -> Callable[[SquaredLoss], Space]:
        """The space for another loss on the same rows; kernel values and basis vectors stay."""
        ...


@dataclass(frozen=True)
class FeatureSpace:
    """Weights of features: ``(XᵀLX + αI) w = XᵀFᵀt`` (paper A, equation 11).

    O(m n² + n³) for dense X, O(n²) memory beyond X; each further alpha O(n²). On the features of
    `operators.kernel.basis_features` this is Sparse RankRLS (paper B).
    """

    design: Design
    loss: SquaredLoss

    @cached_property
    def system(self) -> RidgeSystem:
        return RidgeSystem(*self.design.difference_system(self.loss.differences, self.loss.target))

    @cached_property
    def precise_spectrum(self) -> Spectrum:
        """The spectrum of ``XᵀLX`` from the singular values of ``FX``, whose condition number is not squared.

        ``FX = QR`` block by block and ``R = U diag(s) Vᵀ``, so ``Λ = s²`` and ``Vᵀr = s Uᵀ Qᵀt``. Singular
        values below ``max(m, n) eps`` times the largest are 0.
        """
        R, projected = self.design.difference_factor(self.loss.differences, self.loss.target)
        U, s, Vt = linalg.svd(R, check_finite=False)
        n = R.shape[1]
        values, target = np.zeros(n), np.zeros((n, *projected.shape[1:]))
        values[: len(s)] = s**2
        target[: len(s)] = (s * (U.T @ projected)[: len(s)].T).T
        return truncated(values[::-1], Vt[::-1].T, target[::-1], (max(self.design.shape) * EPS) ** 2)

    def with_loss(self, loss: SquaredLoss) -> FeatureSpace:
        return replace(self, loss=loss)

    def spectrum(self, smallest_alpha: float) -> Spectrum:
        """The spectrum, accurate for every alpha from `smallest_alpha` on."""
        spectrum = self.system.spectrum
        return spectrum if spectrum.resolves(smallest_alpha) else self.precise_spectrum

    def solve(self, alpha: float) -> Floats:
        """Cholesky; or, when ``XᵀLX + αI`` is so ill-conditioned that digits are lost, the singular values of
        ``FX``, and then the minimum-norm solution if alpha is 0."""
        coef, rcond = self.system.cholesky(alpha)
        return coef if rcond > WELL_CONDITIONED else self.precise_spectrum.solve(alpha)

    def solve_all(self, alphas: Sequence[float] | Floats) -> Floats:
        return self.spectrum(min(alphas)).solve_all(alphas)


@dataclass(frozen=True)
class ExampleSpace:
    """Coefficients of rows: ``a = Fᵀ (F K Fᵀ + αI)⁻¹ t``, which is ``(LK + αI)⁻¹ L y`` (paper A, equation 8).

    O(m³) time and O(m²) memory; each further alpha O(m²).
    """

    kernel: Floats
    loss: SquaredLoss

    def with_loss(self, loss: SquaredLoss) -> ExampleSpace:
        return replace(self, loss=loss)

    @cached_property
    def _compacted(self) -> tuple[Differences, Floats]:
        return compacted(self.loss.differences, self.loss.target)

    @property
    def differences(self) -> Differences:
        """F, with at most as many differences as rows."""
        return self._compacted[0]

    @cached_property
    def system(self) -> RidgeSystem:
        F, t = self._compacted
        inner = F.apply(np.ascontiguousarray(F.apply(self.kernel).T))
        return RidgeSystem(matrix=(inner + inner.T) / 2, right=t)

    def solve(self, alpha: float) -> Floats:
        z, rcond = self.system.cholesky(alpha)
        singular = rcond <= len(self.kernel) * EPS
        return self.differences.adjoint(self.system.spectrum.solve(alpha) if singular else z)

    def solve_all(self, alphas: Sequence[float] | Floats) -> Floats:
        z = self.system.spectrum.solve_all(alphas)
        return np.stack([self.differences.adjoint(one) for one in z])


@dataclass(frozen=True)
class MappedSpace:
    """A space whose coefficients are turned into others: rows into weights ``Xᵀa``, say."""

    inner: FeatureSpace | ExampleSpace
    turn: Callable[[Floats], Floats]

    def with_loss(self, loss: SquaredLoss) -> MappedSpace:
        return replace(self, inner=self.inner.with_loss(loss))

    def solve(self, alpha: float) -> Floats:
        return self.turn(self.inner.solve(alpha))

    def solve_all(self, alphas: Sequence[float] | Floats) -> Floats:
        return np.stack([self.turn(one) for one in self.inner.solve_all(alphas)])
