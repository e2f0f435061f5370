"""The signs that `monotonic_cst` gives to weights, and what they lead to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.columns.encoding import Encoding
from rankwise.columns.inputs import Inputs
from rankwise.errors import DataError, ParameterError
from rankwise.ridge.closed_form import PrimalFamily
from rankwise.ridge.moments.moment_family import MomentFamily
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.ridge.signed import moment_family, optimality
from rankwise.types import Floats, Ints
from rankwise.validation import check_signs


def columns_with_sign(monotonic_cst: Any, encoding: Encoding) -> list[str]:
    """The columns in which the score must be monotone."""
    if monotonic_cst is None:
        return []
    signs = check_signs(monotonic_cst, encoding.columns)
    return [column for column, sign in zip(encoding.columns, signs.tolist(), strict=True) if sign != 0]


@dataclass(frozen=True)
class Signs:
    """The sign of each weight.

    Attributes
    ----------
    of_weights : Ints or None
        1, −1 or 0 (either); None if weights may have any sign.
    inputs : Inputs
        The rows that have the weights.
    """

    of_weights: Ints | None
    inputs: Inputs

    @classmethod
    def of(cls, monotonic_cst: Any, inputs: Inputs) -> Signs:
        """Check the parameter for rows such as those of the fit; it may speak of columns."""
        signs = None
        if monotonic_cst is not None and inputs.encoding is None:
            signs = check_signs(monotonic_cst, inputs.features.labels)
        elif monotonic_cst is not None and inputs.encoding is not None:
            encoding = inputs.encoding
            signs = encoding.signs(check_signs(monotonic_cst, encoding.columns))
        return cls(signs, inputs)

    def check_targets(self, n_targets: int) -> None:
        if self.of_weights is not None and n_targets > 1:
            raise ParameterError(f"monotonic_cst supports one target; y has {n_targets}.")

    def family(self, quadratic: Quadratic) -> MomentFamily:
        """The models that moments give."""
        self.check_targets(quadratic.constant.size)
        return moment_family(quadratic, self.of_weights)

    def certificate(self, quadratic: Quadratic, alpha: float, coef: Floats) -> dict[str, Any]:
        """What an `Outcome` says of what the signs led to; nothing without signs."""
        if self.of_weights is None:
            return {}
        found = optimality(quadratic, alpha, coef, self.of_weights)
        if found.contradicted.any() and not coef.any():
            raise DataError(
                "The labels contradict every sign of monotonic_cst, so all weights would be 0; check the "
                "signs, and that higher labels are better."
            )
        contradicted = self.inputs.weight_labels[np.flatnonzero(found.contradicted)].tolist()
        return {"kkt_residual": found.residual, "contradicted_signs": contradicted}

    def certificate_of(self, family: Any, alpha: float, coef: Floats) -> dict[str, Any]:
        """The same for a model of a family; signs need the primal one."""
        return self.certificate(family.quadratic, alpha, coef) if isinstance(family, PrimalFamily) else {}
