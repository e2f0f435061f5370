"""Codes of numbers: one feature, or one per gap between knots.

The methods are those that `rankwise.columns.codes` describes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from rankwise.scoring.shapes import Line, LogLine, NumberShape, PiecewiseLinear, signed_log
from rankwise.types import Bools, Floats, Reading


@dataclass(frozen=True, slots=True)
class NumberCode:
    """A number, or its logarithm, measured from its mean in units of its standard deviation.

    Attributes
    ----------
    log : bool
        Whether mean and scale are those of `signed_log`.
    mean, scale : float
    fill : float
        What a missing number counts as.
    marks_missing : bool
        Whether there is one more feature, 1 where the number is missing.
    """

    reading: ClassVar[Reading] = Reading.NUMBER

    log: bool
    mean: float
    scale: float
    fill: float
    marks_missing: bool

    @property
    def kind(self) -> str:
        return "log" if self.log else "number"

    @property
    def width(self) -> int:
        return 1 + self.marks_missing

    def signs(self, sign: int) -> list[int]:
        return [sign] + [0] * self.marks_missing

    def encode(self, x: Floats) -> Floats:
        missing = np.isnan(x)
        filled = np.where(missing, self.fill, x)
        scaled = ((signed_log(filled) if self.log else filled) - self.mean) / self.scale
        return marked(scaled[:, None], missing, self.marks_missing)

    def shape(self, weights: Floats) -> NumberShape:
        of_missing = float(self.encode(np.array([np.nan]))[0] @ weights)
        line = LogLine if self.log else Line
        return line(at=self.mean, value=0.0, slope=float(weights[0]) / self.scale, missing=of_missing)

    def feature_names(self, column: str) -> list[str]:
        return [f"log({column})" if self.log else column, *name_of_missing(column, self.marks_missing)]

    def describe(self) -> str:
        kind = "log of the number" if self.log else "number"
        return f"{kind}{about_missing(self.fill, self.marks_missing)}"


@dataclass(frozen=True, slots=True)
class SplineCode:
    """A piecewise linear function: one feature per gap between knots, which rises from 0 to `step` across it.

    The weight of a feature is the rise of the function across its gap, so that non-negative weights make it
    increase, and a penalty on weights is one on steep parts. The first and the last feature continue beyond
    the outer knots. With `step`, a function that is linear in the quantiles costs the same for any number of
    knots, and the same as a standardized number.
    """

    reading: ClassVar[Reading] = Reading.NUMBER

    knots: tuple[float, ...]
    fill: float
    marks_missing: bool

    @property
    def kind(self) -> str:
        return "spline"

    @property
    def n_gaps(self) -> int:
        return len(self.knots) - 1

    @property
    def width(self) -> int:
        return self.n_gaps + self.marks_missing

    def signs(self, sign: int) -> list[int]:
        return [sign] * self.n_gaps + [0] * self.marks_missing

    @property
    def step(self) -> float:
        # A uniform variable of variance 1 has a range of √12.
        return float(np.sqrt(12.0 / max(1, self.n_gaps)))

    def encode(self, x: Floats) -> Floats:
        missing = np.isnan(x)
        filled, knots = np.where(missing, self.fill, x), np.array(self.knots)[:, None]
        least, most = np.zeros((self.n_gaps, 1)), np.ones((self.n_gaps, 1))
        least[:1], most[-1:] = -np.inf, np.inf
        # One gap after the other, because loops over rows are long and those over gaps short.
        share = filled - knots[:-1]
        share /= np.diff(knots, axis=0)
        np.clip(share, least, most, out=share)
        share *= self.step
        return marked(share.T, missing, self.marks_missing)

    def shape(self, weights: Floats) -> PiecewiseLinear:
        of_missing = float(self.encode(np.array([np.nan]))[0] @ weights)
        rises = np.cumsum(self.step * weights[: self.n_gaps])
        return PiecewiseLinear(self.knots, (0.0, *rises.tolist()), of_missing)

    def feature_names(self, column: str) -> list[str]:
        gaps = zip(self.knots, self.knots[1:], strict=False)
        names = [f"{column}[{low:.6g}, {high:.6g}]" for low, high in gaps]
        return [*names, *name_of_missing(column, self.marks_missing)]

    def describe(self) -> str:
        span = f"from {self.knots[0]:g} to {self.knots[-1]:g}"
        missing = about_missing(self.fill, self.marks_missing)
        return f"spline with {len(self.knots)} knots {span}{missing}"


# The codes of numbers, and so those of ages.
NumericCode: TypeAlias = NumberCode | SplineCode


def marked(features: Floats, missing: Bools, marks: bool) -> Floats:
    return np.column_stack([features, missing]) if marks else features


def name_of_missing(column: str, marks: bool) -> list[str]:
    return [f"{column}: missing"] if marks else []


def about_missing(fill: float, marks: bool) -> str:
    return f"; missing counts as {fill:g}, and is marked" if marks else ""
