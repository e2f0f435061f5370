"""How the larger parts of a model are stored in its file: encoding, moments, calibrations and path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.columns.encoding import Encoding
from rankwise.columns.profile import N_QUANTILES, ColumnProfile, Profile
from rankwise.columns.stored import encoding_of, plain_encoding
from rankwise.model.fields import Field, array, check_within, value
from rankwise.model.history import History
from rankwise.model.stored_history import history_of, plain_history
from rankwise.path.graphs import PreferenceGraph
from rankwise.path.path_solutions import PathSolutions
from rankwise.ridge.moments import file as moments_file
from rankwise.ridge.moments.moments import Moments
from rankwise.scoring.calibration import Calibration
from rankwise.tensor_file import Content, RefusedError
from rankwise.types import Floats, Reading

_CALIBRATION = "calibration"
_PROFILE = "profile"
_SLOPE_OF_SIZE = rf"{_CALIBRATION}\.([1-9][0-9]{{0,8}})\.slope"


@dataclass(frozen=True)
class EncodingField:
    """The encoding of columns, of models that have one; the features of the file are then its features."""

    name: str
    optional: bool = True

    def pack(self, attribute: Encoding, content: Content) -> None:
        content.values[self.name] = plain_encoding(attribute)

    def is_in(self, content: Content) -> bool:
        return self.name in content.values

    def unpack(self, content: Content) -> Encoding:
        encoding = encoding_of(content.values.pop(self.name))
        n_columns = content.sizes["features"]
        if len(encoding.columns) != n_columns:
            raise RefusedError(f"{len(encoding.columns)} columns are encoded; the model needs {n_columns}")
        content.sizes["features"] = encoding.n_features
        return encoding


@dataclass(frozen=True)
class HistoryField:
    """How the model was made and updated; files of early versions do not say."""

    name: str
    optional: bool = True

    def pack(self, attribute: History, content: Content) -> None:
        content.values[self.name] = plain_history(attribute)

    def is_in(self, content: Content) -> bool:
        return self.name in content.values

    def unpack(self, content: Content) -> History:
        return history_of(content.values.pop(self.name))


@dataclass(frozen=True)
class ProfileField:
    """How the columns of training rows are distributed, in the order of the model; a file may omit it."""

    name: str
    optional: bool = True

    def pack(self, attribute: Profile, content: Content) -> None:
        columns = list(attribute.columns.values())
        none = (np.nan,) * N_QUANTILES
        content.tensors |= {
            f"{_PROFILE}.missing": np.array([column.missing for column in columns]),
            f"{_PROFILE}.quantiles": np.array([column.quantiles or none for column in columns]),
            f"{_PROFILE}.reached": np.array([column.reached or none for column in columns]),
            f"{_PROFILE}.effects": np.array(
                [(column.contribution, column.effect) for column in columns], dtype=np.float64
            ),
        }
        content.values |= {
            f"{_PROFILE}.n_rows": attribute.n_rows,
            f"{_PROFILE}.names": list(attribute.columns),
            f"{_PROFILE}.readings": [str(column.reading) for column in columns],
            f"{_PROFILE}.frequencies": [dict(column.frequencies) for column in columns],
        }

    def is_in(self, content: Content) -> bool:
        return f"{_PROFILE}.missing" in content.tensors

    def unpack(self, content: Content) -> Profile:
        missing = content.take_tensor(f"{_PROFILE}.missing", "f", "profiled")
        quantiles = content.take_tensor(f"{_PROFILE}.quantiles", "f", "profiled quantiles", nan=True)
        n_rows = value(f"{_PROFILE}.n_rows", int, minimum=1).unpack(content)
        names, readings, frequencies = (
            value(f"{_PROFILE}.{part}", list).unpack(content) for part in ("names", "readings", "frequencies")
        )
        if not len(names) == len(readings) == len(frequencies) == len(missing) == len(set(map(str, names))):
            raise RefusedError("the parts of the profile must describe the same columns")
        if quantiles.shape[1] != N_QUANTILES or (np.diff(quantiles, axis=1) < 0.0).any():
            raise RefusedError(f"the quantiles of the profile must be {N_QUANTILES} ascending numbers")
        if not all(map(_are_shares, frequencies)) or ((missing < 0.0) | (missing > 1.0)).any():
            raise RefusedError("the profile must hold shares from 0 to 1")
        are_text = all(isinstance(text, str) for text in (*names, *readings))
        if not are_text or not set(readings) <= set(map(str, Reading)):
            raise RefusedError("the profile must hold names and readings of columns")
        reached, effects = _since_drift(content, len(missing))
        columns = [
            ColumnProfile(Reading(reading), absent, _numbers(own), shares, _numbers(levels), *added)
            for reading, absent, own, shares, levels, added in zip(
                readings, missing.tolist(), quantiles, frequencies, reached, effects, strict=True
            )
        ]
        return Profile(dict(zip(names, columns, strict=True)), n_rows)


def _numbers(found: Floats) -> tuple[float, ...]:
    """The numbers of a line of a tensor; none if it holds NaN in their place."""
    return () if np.isnan(found).any() else tuple(found.tolist())


def _since_drift(content: Content, n_columns: int) -> tuple[Floats, list[tuple[float | None, ...]]]:
    """What the first files with a profile lack: shares at the quantiles, and what columns add to scores."""
    if f"{_PROFILE}.reached" not in content.tensors:
        return np.full((n_columns, N_QUANTILES), np.nan), [(None, None)] * n_columns
    reached = content.take_tensor(f"{_PROFILE}.reached", "f", "profiled quantiles", nan=True)
    if (reached < 0.0).any() or (reached > 1.0).any() or (np.diff(reached, axis=1) < 0.0).any():
        raise RefusedError("the profile must hold ascending shares from 0 to 1")
    effects = content.take_tensor(f"{_PROFILE}.effects", "f", "profiled added", nan=True)
    if effects.shape[1] != 2 or (effects[:, 1] < 0.0).any():
        raise RefusedError("the effects of the profile must be a mean and a standard deviation per column")
    return reached, [(None, None) if np.isnan(own).any() else tuple(own.tolist()) for own in effects]


def _are_shares(found: Any) -> bool:
    return isinstance(found, dict) and all(
        type(share) in (int, float) and 0.0 <= share <= 1.0 for share in found.values()
    )


@dataclass(frozen=True)
class MomentsField:
    """The moments that a model can be updated from; a file may omit them."""

    name: str
    optional: bool = True

    def pack(self, attribute: Moments, content: Content) -> None:
        moments_file.pack_moments(attribute, content)

    def is_in(self, content: Content) -> bool:
        return any(name.startswith(moments_file.PREFIX) for name in content.tensors)

    def unpack(self, content: Content) -> Moments:
        return moments_file.unpack_moments(content)


def _calibration_parts(prefix: str) -> dict[str, Field]:
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
    prefix: str = _CALIBRATION
    optional: bool = True

    def pack(self, attribute: Calibration, content: Content) -> None:
        for name, part in _calibration_parts(self.prefix).items():
            part.pack(getattr(attribute, name), content)

    def is_in(self, content: Content) -> bool:
        return f"{self.prefix}.slope" in content.values

    def unpack(self, content: Content) -> Calibration:
        found = Calibration(
            **{name: part.unpack(content) for name, part in _calibration_parts(self.prefix).items()}
        )
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
        return CalibrationField(self.name, f"{_CALIBRATION}.{size}")


@dataclass(frozen=True)
class PathField:
    """The solutions along a path, stored as tensors and a number; a file may omit them."""

    name: str
    optional: bool = True

    def pack(self, attribute: PathSolutions, content: Content) -> None:
        graph = attribute.graph
        better, worse = graph.ends
        content.tensors |= {
            "path.better": better,
            "path.worse": worse,
            "path.weight": graph.weight,
            "path.levels": attribute.levels,
            "path.offsets": attribute.offsets,
            "path.pairs": attribute.pairs,
            "path.changes": attribute.changes,
        }
        content.values["path.least"] = attribute.least

    def is_in(self, content: Content) -> bool:
        return "path.levels" in content.tensors

    def unpack(self, content: Content) -> PathSolutions:
        """Reject anything that could lead the kernels out of bounds, since they check nothing themselves."""
        graph = PreferenceGraph(
            better=content.take_tensor("path.better", "i", "path-pairs").astype(np.int64),
            worse=content.take_tensor("path.worse", "i", "path-pairs").astype(np.int64),
            weight=_positive("path.weight", content.take_tensor("path.weight", "f", "path-pairs")),
            n_rows=content.sizes["basis"],
        )
        check_within("path.better", graph.better, graph.n_rows)
        check_within("path.worse", graph.worse, graph.n_rows)
        levels = _positive("path.levels", content.take_tensor("path.levels", "f", "breakpoints"))
        offsets = content.take_tensor("path.offsets", "i", "breakpoints").astype(np.int64)
        pairs = content.take_tensor("path.pairs", "i", "path-changes")
        changes = content.take_tensor("path.changes", "f", "path-changes").astype(np.float64)
        check_within("path.pairs", pairs, graph.n_pairs)
        if len(levels) == 0 or (np.diff(levels) > 0).any():
            raise RefusedError("the tensor 'path.levels' must be non-empty and never increase")
        if offsets[0] != 0 or offsets[-1] != len(changes) or (np.diff(offsets) < 0).any():
            raise RefusedError(
                "the tensor 'path.offsets' must start at 0, never decrease and end at the number of changes"
            )
        least = content.values.pop("path.least", None)
        if not isinstance(least, float) or not 0.0 <= least <= levels[-1]:
            raise RefusedError("the value 'path.least' must be a level, at most the last of 'path.levels'")
        return PathSolutions(graph, levels, least, offsets, pairs.astype(np.int32), changes)


def _positive(name: str, values: Floats) -> Floats:
    if not (values > 0.0).all():
        raise RefusedError(f"the tensor '{name}' must hold positive numbers")
    return values.astype(np.float64)
