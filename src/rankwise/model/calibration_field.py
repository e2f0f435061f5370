"""Storage of a calibration in a model file."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from rankwise.model.fields import Field, array, value
from rankwise.scoring.calibration import Calibration
from rankwise.tensor_file import Content, RefusedError

PREFIX = "calibration"
_SLOPE_OF_SIZE = rf"{PREFIX}\.([1-9][0-9]{{0,8}})\.slope"


def _parts(prefix: str) -> dict[str, Field]:
    """Named as the attributes of `Calibration`."""
    bins = f"{prefix}-bins"
    return {
        "slope": value(f"{prefix}.slope", float),
        "slope_error": value(f"{prefix}.slope_error", float, minimum=0.0),
        "expected_calibration_error": value(f"{prefix}.expected_calibration_error", float, minimum=0.0),
        "predicted": array(f"{prefix}.predicted", bins),
        "observed": array(f"{prefix}.observed", bins),
        "observed_error": array(f"{prefix}.observed_error", bins),
        "n_pairs_in_bin": array(f"{prefix}.n_pairs_in_bin", bins, "i"),
        "source": value(f"{prefix}.source", str),
    }


@dataclass(frozen=True)
class CalibrationField:
    """The slope of probabilities and its curve; a file may omit them."""

    name: str
    prefix: str = PREFIX
    optional: bool = True

    def pack(self, attribute: Calibration, content: Content) -> None:
        for name, part in _parts(self.prefix).items():
            part.pack(getattr(attribute, name), content)

    def is_in(self, content: Content) -> bool:
        return f"{self.prefix}.slope" in content.values

    def unpack(self, content: Content) -> Calibration:
        found = Calibration(**{name: part.unpack(content) for name, part in _parts(self.prefix).items()})
        if not np.isfinite(found.slope):
            raise RefusedError(f"the value '{self.prefix}.slope' must be a finite number")
        return found


@dataclass(frozen=True)
class CalibrationsField:
    """The calibrations of models of several sizes, by size; a file may omit any of them."""

    name: str
    optional: bool = False

    def pack(self, attribute: dict[int, Calibration], content: Content) -> None:
        for size, calibration in attribute.items():
            self._of(size).pack(calibration, content)

    def is_in(self, content: Content) -> bool:
        return True

    def unpack(self, content: Content) -> dict[int, Calibration]:
        sizes = sorted(
            int(found[1]) for key in content.values if (found := re.fullmatch(_SLOPE_OF_SIZE, key))
        )
        return {size: self._of(size).unpack(content) for size in sizes}

    def _of(self, size: int) -> CalibrationField:
        return CalibrationField(self.name, f"{PREFIX}.{size}")
