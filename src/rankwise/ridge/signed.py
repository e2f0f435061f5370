"""RankRLS with weights whose signs are given: non-negative least squares on a triangular factor.

With ``RᵀR = XᵀLX + αI`` and ``Rᵀd = XᵀFᵀt``, the objective is ``‖Rw − d‖²`` up to a constant. Put features of
any sign first, and the last rows of R concern only the others: these solve a non-negative least squares
problem of their own, exactly, and the rest follows by back-substitution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import linalg
from scipy.optimize import nnls

from rankwise.errors import ParameterError
from rankwise.ridge.closed_form import PrimalFamily
from rankwise.ridge.leave_out.left_out_batches import batches_of_rows, can_leave_queries_out
from rankwise.ridge.leave_out.left_out_systems import leaves_enough
from rankwise.ridge.moments.moment_family import ROUNDINGS_PER_UNKNOWN, MomentFamily
from rankwise.ridge.moments.quadratic import UNIT_ROUNDOFF, Quadratic
from rankwise.ridge.spectrum import EPS, RidgeSystem
from rankwise.ridge.tridiagonal import WELL_CONDITIONED
from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Bools, Floats, Ints


@dataclass(frozen=True)
class Optimality:
    """How far weights are from the conditions of Karush, Kuhn and Tucker, which only the minimizer meets.

    Attributes
    ----------
    residual : float
        The largest violation, relative to the terms that rounding errors are relative to: about 1e-16 at the
        minimum.
    contradicted : array of bool, shape (n,)
        The features whose weight is 0 because a weight of the other sign would fit the labels better.
    """

    residual: float
    contradicted: Bools


def optimality(quadratic: Quadratic, alpha: float, coef: Floats, signs: Ints) -> Optimality:
    """Check that no weight of an allowed sign can be changed for the better.

    For half the gradient ``g = (A + αI)w − b``: ``g_j = 0`` if w_j is free or not 0, and ``signs_j g_j ≥ 0``
    if it is 0. As ``|A_ij| ≤ s_i s_j`` and ``|b_j| ≤ s_j √c`` with ``s_j² = A_jj + α``, g_j is measured
    relative to ``s_j (√c + Σ_i s_i |w_i|)``.
    """
    system, scale = MomentFamily(quadratic).scaled_system(alpha)
    return _scaled_optimality(system, float(quadratic.constant), coef * scale, signs)


def _scaled_optimality(system: RidgeSystem, constant: float, weights: Floats, signs: Ints) -> Optimality:
    size = np.sqrt(max(constant, 0.0)) + float(np.abs(weights).sum())
    pull = (system.matrix @ weights - system.right) / (size or 1.0)
    at_bound = (signs != 0) & (weights == 0.0)
    violation = np.where(at_bound, np.maximum(-signs * pull, 0.0), np.abs(pull))
    wrong = np.maximum(-signs * weights, 0.0) / (size or 1.0)
    rounding = ROUNDINGS_PER_UNKNOWN * len(weights) * UNIT_ROUNDOFF
    return Optimality(float(max(violation.max(), wrong.max())), at_bound & (signs * pull > rounding))


def signed_least_squares(R: Floats, d: Floats, signs: Ints) -> Floats:
    """The w with these signs that minimizes ``‖Rw − d‖²``, for R of full column rank; O(n³) as a rule.

    Lawson and Hanson, "Solving Least Squares Problems" (1974), chapter 23.
    """
    order = np.argsort(signs != 0, kind="stable")
    turned, n_free = np.where(signs < 0, -1.0, 1.0), int(np.count_nonzero(signs == 0))
    n = len(signs)
    triangle = linalg.qr(np.column_stack([(R * turned)[:, order], d]), mode="r", check_finite=False)[0]
    T, t, free, bound = triangle[:n, :n], triangle[:n, n], slice(n_free), slice(n_free, None)
    weights = np.zeros(n)
    if n_free < n:
        weights[bound] = nnls(np.ascontiguousarray(T[bound, bound]), t[bound])[0]
    rest = t[free] - T[free, bound] @ weights[bound]
    weights[free] = linalg.solve_triangular(T[free, free], rest, check_finite=False)
    unordered = np.empty(n)
    unordered[order] = weights
    return unordered * turned


@dataclass(frozen=True)
class SignedMoments(MomentFamily):
    """The minimizers of ``wᵀAw − 2bᵀw + α‖w‖²`` with given signs, one per α > 0; O(n³) each as a rule.

    If A and b are off, the minimizer over a convex set moves no further than the bound for that over all
    weights, so `error_bound` holds as it is.

    Attributes
    ----------
    signs : Ints, shape (n,)
        −1, 0 (any) or 1.
    """

    signs: Ints

    def _solve_each(self, alphas: Sequence[float]) -> Iterator[tuple[Floats, bool]]:
        """Solve for one alpha after the other, with features brought to one scale.

        As a rule, the weights of an alpha that are not 0 are those of the alpha before. They then take one
        Cholesky factorization, and the conditions of optimality tell that they are the solution.
        """
        support: Bools | None = None
        for alpha in alphas:
            if alpha <= 0.0:
                raise ParameterError(f"monotonic_cst needs an alpha above 0; got {alpha:g}.")
            system, scale = self.scaled_system(alpha)
            with one_blas_thread(system.is_small):
                known = None if support is None else self._with_support(system, support)
                weights, is_resolved = self._search(system) if known is None else (known, True)
            support = (weights != 0.0) | (self.signs == 0)
            yield weights / scale, is_resolved

    def _search(self, system: RidgeSystem) -> tuple[Floats, bool]:
        factor, rcond = system.factor(0.0)
        if rcond <= WELL_CONDITIONED:
            return signed_least_squares(*_nearest_factor(system), self.signs), False
        R = np.tril(factor).T
        d = linalg.solve_triangular(R, system.right, trans="T", check_finite=False)
        return signed_least_squares(R, d, self.signs), True

    def _with_support(self, system: RidgeSystem, support: Bools) -> Floats | None:
        """The minimizer among the weights with this support, unless other weights are better."""
        weights = np.zeros(len(support))
        if support.any():
            part = RidgeSystem(system.matrix[np.ix_(support, support)], system.right[support])
            weights[support], rcond = part.cholesky(0.0)
            if rcond <= WELL_CONDITIONED:
                return None
        found = _scaled_optimality(system, float(self.loss.constant), weights, self.signs)
        return weights if found.residual <= ROUNDINGS_PER_UNKNOWN * len(weights) * UNIT_ROUNDOFF else None


def moment_family(quadratic: Quadratic, signs: Ints | None) -> MomentFamily:
    """The models that moments give, with weights of given signs or, without, of any."""
    return MomentFamily(quadratic) if signs is None else SignedMoments(quadratic, signs)


def _nearest_factor(system: RidgeSystem) -> tuple[Floats, Floats]:
    """R and d of the system whose eigenvalues are not below the rounding errors of the largest."""
    values, vectors = linalg.eigh(system.matrix, check_finite=False)
    root = np.sqrt(np.maximum(values, len(values) * EPS * values[-1]))
    return root[:, None] * vectors.T, (vectors.T @ system.right) / root


@dataclass(frozen=True)
class SignedFamily(PrimalFamily):
    """`PrimalFamily` in a space whose weights have given signs.

    O(m n²) to form ``XᵀLX``, and O(n³) per alpha. Leaving out a query of h rows takes O(h n²), and O(n³) per
    alpha.
    """

    @property
    def _signs(self) -> Ints:
        assert self.space.signs is not None
        return self.space.signs

    @cached_property
    def _factor_of_rows(self) -> tuple[Floats, Floats]:
        return self.loss.factor(self.space.features)

    def decompose(self) -> None:
        _ = self.quadratic

    def leave_pair_out(self, y: Floats, alphas: Floats) -> Floats:
        raise ParameterError(
            "cv='leave-pair-out' is not available with monotonic_cst; set cv to a number of folds."
        )

    def _coefficients(self, alphas: Floats) -> Floats:
        found = SignedMoments(self.quadratic, self._signs).solve(alphas)
        weights = [
            coef if is_resolved else self._from_rows(alpha)
            for alpha, coef, is_resolved in zip(alphas.tolist(), found.coef, found.is_resolved, strict=True)
        ]
        return np.stack([self.space.from_weights(one) for one in weights])

    def _from_rows(self, alpha: float) -> Floats:
        """The weights where ``XᵀLX`` has lost digits that ``FX`` still has."""
        R, d = self._factor_of_rows
        n = R.shape[1]
        scale = np.sqrt((R**2).sum(axis=0) + alpha)
        stacked = np.vstack([R, np.sqrt(alpha) * np.eye(n)]) / scale
        with one_blas_thread(n <= SMALL):
            weights = signed_least_squares(stacked, np.append(d, np.zeros(n)), self._signs)
        return np.asarray(weights / scale)

    def _leave_queries_out(self, folds: Sequence[Ints], alphas: Floats) -> Iterator[Floats | None]:
        design = self.space.features
        if not can_leave_queries_out(self.loss, design):
            yield from (None for _ in folds)
            return
        for batch in batches_of_rows(self.loss, design, folds):
            rows = batch.centred_rows(design)
            Z, t, X = batch.removed(rows), batch.removed_target(self.loss.target), batch.scored(rows)
            scores = np.full((len(X), len(alphas)), np.nan)
            places = [slice(*ends) for ends in pairwise(batch.offsets)]
            for place, ends in zip(places, pairwise(batch.removed_offsets), strict=True):
                coef = self._without(Z[slice(*ends)], t[slice(*ends)], alphas)
                if coef is not None:
                    scores[place] = X[place] @ coef.T
            yield from (None if np.isnan(fold).all() else fold for fold in batch.by_fold(scores))

    def _without(self, Z: Floats, t: Floats, alphas: Floats) -> Floats | None:
        """The weights without some differences, for every alpha; None if too few digits would be left."""
        rest = self.quadratic.without(Z, t)
        total, left, smallest = np.diag(self.quadratic.matrix), np.diag(rest.matrix), alphas.min()
        if not leaves_enough(left + smallest, total + smallest):
            return None
        found = SignedMoments(rest, self._signs).solve(alphas)
        return found.coef if found.is_resolved.all() else None
