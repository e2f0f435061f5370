"""The signs that `monotonic_cst` gives to weights, and what they lead to."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.columns.encoding import Encoding
from rankwise.columns.inputs import Inputs
from rankwise.errors import DataError
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.ridge.signed import optimality
from rankwise.types import Floats, Ints
from rankwise.validation import check_signs


def columns_with_sign(monotonic_cst: Any, encoding: Encoding) -> list[str]:
    """The columns in which the score must be monotone."""
    if monotonic_cst is None:
        return []
    signs = check_signs(monotonic_cst, encoding.columns)
    return [column for column, sign in zip(encoding.columns, signs.tolist(), strict=True) if sign != 0]


def signs_of_weights(monotonic_cst: Any, inputs: Inputs) -> Ints:
    """1, −1 or 0 (either) for each weight of such rows as those of the fit; columns may have been named."""
    encoding = inputs.encoding
    if encoding is None:
        return check_signs(monotonic_cst, inputs.features.labels)
    return encoding.signs(check_signs(monotonic_cst, encoding.columns))


def certificate_of_signs(
    signs: Ints, inputs: Inputs, quadratic: Quadratic, alpha: float, coef: Floats
) -> dict[str, Any]:
    """What an `Outcome` says of what the signs led to."""
    found = optimality(quadratic, alpha, coef, signs)
    if found.contradicted.any() and not coef.any():
        raise DataError(
            "The labels contradict every sign of monotonic_cst, so all weights would be 0; check the "
            "signs, and that higher labels are better."
        )
    contradicted = inputs.weight_labels[np.flatnonzero(found.contradicted)].tolist()
    return {"kkt_residual": found.residual, "contradicted_signs": contradicted}
