"""Functions of one column of a table, whose sum is the score of a linear ranker on encoded columns.

A shape is numbers and names only, so that it can be saved, plotted, explained and exported. It is evaluated
on the values of its column in one of these readings:

========  ==========================================  ==============
reading   array                                       missing value
========  ==========================================  ==============
number    float64, finite                             NaN
flag      float64, 1 for true and 0 for false         NaN
date      datetime64, in UTC                          NaT
text      object, of str                              None
share     float64, over the largest of the query      NaN
rank      float64, from 1 for the smallest in it      NaN
distance  float64, from the mean of the query         NaN
========  ==========================================  ==============

None, NaN, NaT and pandas.NA in a frame are all missing values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias, TypeVar

import numpy as np

from rankwise.types import AnyArray, Floats, Reading

V = TypeVar("V")

_DAY = np.timedelta64(1, "D")


def signed_log(x: Floats) -> Floats:
    """``log(1 + x)``, and ``−log(1 − x)`` where x is negative: increasing, and 0 at 0."""
    logs: Floats = np.copysign(np.log1p(np.abs(x)), x)
    return logs


@dataclass(frozen=True, slots=True)
class Line:
    """``value + slope (x − at)``.

    A number is measured from `at`, because multiplying numbers that are large but close together would lose
    the digits in which they differ.
    """

    reading: ClassVar[Reading] = Reading.NUMBER

    at: float
    value: float
    slope: float
    missing: float

    def __call__(self, x: Floats) -> Floats:
        return np.where(np.isnan(x), self.missing, self.value + self.slope * (x - self.at))


@dataclass(frozen=True, slots=True)
class LogLine:
    """``value + slope (signed_log(x) − at)``, for counts and other skewed numbers."""

    reading: ClassVar[Reading] = Reading.NUMBER

    at: float
    value: float
    slope: float
    missing: float

    def __call__(self, x: Floats) -> Floats:
        return np.where(np.isnan(x), self.missing, self.value + self.slope * (signed_log(x) - self.at))


@dataclass(frozen=True, slots=True)
class PiecewiseLinear:
    """Linear between knots, and beyond the outer ones as between them and their neighbors.

    Attributes
    ----------
    knots : tuple of float
        Ascending; a single one means a constant.
    values : tuple of float
        The values at the knots.
    missing : float
    """

    reading: ClassVar[Reading] = Reading.NUMBER

    knots: tuple[float, ...]
    values: tuple[float, ...]
    missing: float
    # The knots, values and slopes as arrays: making them takes longer than 100 values of the function.
    _arrays: tuple[Floats, Floats, Floats] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        knots, values = np.array(self.knots), np.array(self.values)
        slopes = np.diff(values) / np.diff(knots) if len(knots) > 1 else np.zeros(1)
        object.__setattr__(self, "_arrays", (knots, values, slopes))

    @property
    def slopes(self) -> Floats:
        """The slope between each knot and the next; of a constant, one slope of 0."""
        return self._arrays[2]

    def __call__(self, x: Floats) -> Floats:
        knots, values, slopes = self._arrays
        left = knots[1:-1].searchsorted(x, side="right")
        inside = values[left] + slopes[left] * (x - knots[left])
        return np.where(np.isnan(x), self.missing, inside)


NumberShape: TypeAlias = Line | LogLine | PiecewiseLinear


@dataclass(frozen=True, slots=True)
class OfAge:
    """A shape of the age in days before a reference date; a later date has a negative age.

    Attributes
    ----------
    reference : str
        A date and time in UTC, as ``2024-05-31T12:00:00``.
    shape : Line, LogLine or PiecewiseLinear
    """

    reading: ClassVar[Reading] = Reading.DATE

    reference: str
    shape: NumberShape

    @property
    def missing(self) -> float:
        return self.shape.missing

    def __call__(self, dates: AnyArray) -> Floats:
        return self.shape(age_in_days(dates, self.reference))


def age_in_days(dates: AnyArray, reference: str) -> Floats:
    """The days from each date to the reference; NaN for NaT."""
    past: AnyArray = np.datetime64(reference) - dates
    return np.asarray(past / _DAY, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Relative:
    """A shape of numbers as they compare with those of their query.

    Attributes
    ----------
    relation : str
        How they compare: "share", "rank" or "distance", which is how the column must be read.
    shape : Line, LogLine or PiecewiseLinear
    """

    relation: str
    shape: NumberShape

    @property
    def reading(self) -> Reading:
        return Reading(self.relation)

    @property
    def missing(self) -> float:
        return self.shape.missing

    def __call__(self, x: Floats) -> Floats:
        return self.shape(x)


# The two ways to write a flag: which one a frame uses depends on the library, and on missing values.
_ALSO = {"true": "1", "false": "0", "1": "true", "0": "false"}


def by_category(categories: Sequence[str], values: Iterable[V]) -> dict[str, V]:
    """The values by category; if the categories are those of a flag, by either way to write it."""
    known = dict(zip(categories, values, strict=True))
    if set(known) <= {"true", "false"} or set(known) <= {"1", "0"}:
        known |= {_ALSO[category]: value for category, value in known.items()}
    return known


@dataclass(frozen=True, slots=True)
class Lookup:
    """A value for each category, and one for all others, seen in training or not.

    Attributes
    ----------
    categories : tuple of str
        Distinct.
    values : tuple of float
    other, missing : float
    """

    reading: ClassVar[Reading] = Reading.TEXT

    categories: tuple[str, ...]
    values: tuple[float, ...]
    other: float
    missing: float
    _known: dict[str, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", by_category(self.categories, self.values))

    def __call__(self, texts: AnyArray) -> Floats:
        known, other = self._known, self.other
        found = [self.missing if text is None else known.get(text, other) for text in texts.tolist()]
        return np.array(found, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Flag:
    """A value for true and one for false."""

    reading: ClassVar[Reading] = Reading.FLAG

    true: float
    false: float
    missing: float

    def __call__(self, flags: Floats) -> Floats:
        return np.where(np.isnan(flags), self.missing, np.where(flags != 0.0, self.true, self.false))


Shape: TypeAlias = NumberShape | OfAge | Relative | Lookup | Flag
