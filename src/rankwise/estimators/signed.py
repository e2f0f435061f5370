"""Linear RankRLS rankers whose weights may have given signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.errors import DataError, ParameterError
from rankwise.estimators.linear_ranker import LinearRanker
from rankwise.estimators.ridge_ranker import RidgeRanker
from rankwise.moments.quadratic import Quadratic
from rankwise.solvers.cg_result import RidgeSolutions
from rankwise.solvers.closed_form import PrimalFamily
from rankwise.solvers.moments import MomentFamily
from rankwise.solvers.ridge_family import RidgeFamily
from rankwise.solvers.signed import SignedMoments, optimality
from rankwise.solvers.spaces import Space, linear_space
from rankwise.types import Floats, Ints, Matrix
from rankwise.validation import check_signs


class SignedRanker(RidgeRanker, LinearRanker):
    """A linear ranker with the parameter `monotonic_cst`, and a certificate of what it leads to."""

    monotonic_cst: Any

    kkt_residual_: float
    contradicted_signs_: list[str]

    def _checked_signs(self) -> Ints | None:
        if self.monotonic_cst is None:
            return None
        encoding = self._inputs.encoding
        if encoding is None:
            return check_signs(self.monotonic_cst, self._inputs.features.labels)
        return encoding.signs(check_signs(self.monotonic_cst, encoding.columns))

    def _linear_space(self, X: Matrix, reference: Ints) -> Space:
        return linear_space(X, reference, self._checked_signs())

    def _check_signs_fit(self, n_targets: int) -> None:
        if self.monotonic_cst is not None and n_targets > 1:
            raise ParameterError(f"monotonic_cst supports one target; y has {n_targets}.")

    def _moment_family(self, quadratic: Quadratic) -> MomentFamily:
        self._check_signs_fit(n_targets=quadratic.constant.size)
        signs = self._checked_signs()
        return MomentFamily(quadratic) if signs is None else SignedMoments(quadratic, signs)

    def _record(self, family: RidgeFamily, found: RidgeSolutions, place: int) -> None:
        if isinstance(family, PrimalFamily):
            self._certify(family.quadratic, float(found.alphas[place]), found.coef[place])
        super()._record(family, found, place)

    def _certify(self, quadratic: Quadratic, alpha: float, coef: Floats) -> None:
        """Set the attributes that say what the signs led to."""
        for name in ("kkt_residual_", "contradicted_signs_"):
            self.__dict__.pop(name, None)
        signs = self._checked_signs()
        if signs is None:
            return
        found = optimality(quadratic, alpha, coef, signs)
        if found.contradicted.any() and not coef.any():
            raise DataError(
                "The labels contradict every sign of monotonic_cst, so all weights would be 0; check the "
                "signs, and that higher labels are better."
            )
        self.kkt_residual_ = found.residual
        self.contradicted_signs_ = self._inputs.weight_labels[np.flatnonzero(found.contradicted)].tolist()
