"""Storage of a calibration in a model file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.persist.fields import array, value
from rankwise.scoring.calibration import Calibration
from rankwise.tensor_file import Content, RefusedError

# Named as the attributes of `Calibration`.
_PARTS = {
    "slope": value("calibration.slope", float),
    "slope_error": value("calibration.slope_error", float, minimum=0.0),
    "expected_calibration_error": value("calibration.expected_calibration_error", float, minimum=0.0),
    "predicted": array("calibration.predicted", "calibration-bins"),
    "observed": array("calibration.observed", "calibration-bins"),
    "observed_error": array("calibration.observed_error", "calibration-bins"),
    "n_pairs_in_bin": array("calibration.n_pairs_in_bin", "calibration-bins", "i"),
    "source": value("calibration.source", str),
}


@dataclass(frozen=True)
class CalibrationField:
    """The slope of probabilities and its curve; a file may omit them."""

    name: str
    optional: bool = True

    def pack(self, attribute: Calibration, content: Content) -> None:
        for name, part in _PARTS.items():
            part.pack(getattr(attribute, name), content)

    def is_in(self, content: Content) -> bool:
        return "calibration.slope" in content.values

    def unpack(self, content: Content) -> Calibration:
        found = Calibration(**{name: part.unpack(content) for name, part in _PARTS.items()})
        if not np.isfinite(found.slope):
            raise RefusedError("the value 'calibration.slope' must be a finite number")
        return found
