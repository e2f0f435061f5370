"""Codes: how the values of one column become features, and what weights of these features mean.

A code is numbers and names only. `encode` gives the features of values, in the reading of the code; `shape`
turns the weights of these features back into a function of the column (`rankwise.scoring.shapes`), which
increases with the column if the weights have the signs `signs(1)`, and decreases if they have `signs(-1)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from rankwise.scoring.shapes import (
    Flag,
    Line,
    LogLine,
    Lookup,
    NumberShape,
    OfAge,
    PiecewiseLinear,
    Relative,
    age_in_days,
    by_category,
    signed_log,
)
from rankwise.types import AnyArray, Bools, Floats, Ints, Matrix, Reading


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
        return _marked(scaled[:, None], missing, self.marks_missing)

    def shape(self, weights: Floats) -> NumberShape:
        of_missing = float(self.encode(np.array([np.nan]))[0] @ weights)
        line = LogLine if self.log else Line
        return line(at=self.mean, value=0.0, slope=float(weights[0]) / self.scale, missing=of_missing)

    def feature_names(self, column: str) -> list[str]:
        return [f"log({column})" if self.log else column, *_missing_name(column, self.marks_missing)]

    def describe(self) -> str:
        kind = "log of the number" if self.log else "number"
        return f"{kind}{_about_missing(self.fill, self.marks_missing)}"


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
        filled, knots = np.where(missing, self.fill, x), np.array(self.knots)
        least, most = np.zeros(self.n_gaps), np.ones(self.n_gaps)
        least[:1], most[-1:] = -np.inf, np.inf
        share = np.clip((filled[:, None] - knots[:-1]) / np.diff(knots), least, most)
        return _marked(self.step * share, missing, self.marks_missing)

    def shape(self, weights: Floats) -> PiecewiseLinear:
        of_missing = float(self.encode(np.array([np.nan]))[0] @ weights)
        rises = np.cumsum(self.step * weights[: self.n_gaps])
        return PiecewiseLinear(self.knots, (0.0, *rises.tolist()), of_missing)

    def feature_names(self, column: str) -> list[str]:
        gaps = zip(self.knots, self.knots[1:], strict=False)
        names = [f"{column}[{low:.6g}, {high:.6g}]" for low, high in gaps]
        return [*names, *_missing_name(column, self.marks_missing)]

    def describe(self) -> str:
        span = f"from {self.knots[0]:g} to {self.knots[-1]:g}"
        missing = _about_missing(self.fill, self.marks_missing)
        return f"spline with {len(self.knots)} knots {span}{missing}"


# The codes of numbers, and so those of ages.
NumericCode: TypeAlias = NumberCode | SplineCode


@dataclass(frozen=True, slots=True)
class AgeCode:
    """The age in days before a reference date, as a number or a spline."""

    reading: ClassVar[Reading] = Reading.DATE

    reference: str
    of: NumericCode

    @property
    def kind(self) -> str:
        return "date"

    @property
    def width(self) -> int:
        return self.of.width

    def signs(self, sign: int) -> list[int]:
        return self.of.signs(-sign)  # a later date has a smaller age

    def encode(self, dates: AnyArray) -> Floats:
        return self.of.encode(age_in_days(dates, self.reference))

    def shape(self, weights: Floats) -> OfAge:
        return OfAge(self.reference, self.of.shape(weights))

    def feature_names(self, column: str) -> list[str]:
        return self.of.feature_names(f"age of {column}")

    def describe(self) -> str:
        return f"date: age in days before {self.reference}, as {self.of.describe()}"


_COMPARED = {
    "share": "share of the query's largest",
    "rank": "rank in the query",
    "distance": "distance from the query's mean",
}


@dataclass(frozen=True, slots=True)
class RelativeCode:
    """How a number compares with those of its query, as a number or a spline."""

    relation: str
    of: NumericCode

    @property
    def reading(self) -> Reading:
        return Reading(self.relation)

    @property
    def kind(self) -> str:
        return self.relation

    @property
    def width(self) -> int:
        return self.of.width

    def signs(self, sign: int) -> list[int]:
        return self.of.signs(sign)

    def encode(self, x: Floats) -> Floats:
        return self.of.encode(x)

    def shape(self, weights: Floats) -> Relative:
        return Relative(self.relation, self.of.shape(weights))

    def feature_names(self, column: str) -> list[str]:
        return self.of.feature_names(f"{self.relation} of {column}")

    def describe(self) -> str:
        return f"{_COMPARED[self.relation]}, as {self.of.describe()}"


@dataclass(frozen=True, slots=True)
class FlagCode:
    """1 for true, 0 for false."""

    reading: ClassVar[Reading] = Reading.FLAG

    fill: float
    marks_missing: bool

    @property
    def kind(self) -> str:
        return "flag"

    @property
    def width(self) -> int:
        return 1 + self.marks_missing

    def signs(self, sign: int) -> list[int]:
        return [sign] + [0] * self.marks_missing

    def encode(self, flags: Floats) -> Floats:
        missing = np.isnan(flags)
        return _marked(np.where(missing, self.fill, flags)[:, None], missing, self.marks_missing)

    def shape(self, weights: Floats) -> Flag:
        false, true, missing = (self.encode(np.array([0.0, 1.0, np.nan])) @ weights).tolist()
        return Flag(true=true, false=false, missing=missing)

    def feature_names(self, column: str) -> list[str]:
        return [column, *_missing_name(column, self.marks_missing)]

    def describe(self) -> str:
        return f"flag{_about_missing(self.fill, self.marks_missing)}"


@dataclass(frozen=True, slots=True)
class CategoryCode:
    """One feature per category, 1 where the text is that category.

    Attributes
    ----------
    categories : tuple of str
    has_other : bool
        Whether there is a feature for all other categories. Without one, which means that there were none,
        a new category has no features, and so the mean of the scores of the known ones.
    has_missing : bool
        Whether there is a feature for missing values; without one, they count as another category.
    """

    reading: ClassVar[Reading] = Reading.TEXT

    categories: tuple[str, ...]
    has_other: bool
    has_missing: bool

    @property
    def kind(self) -> str:
        return "category"

    @property
    def width(self) -> int:
        return len(self.categories) + self.has_other + self.has_missing

    def signs(self, sign: int) -> None:
        """Categories have no order."""

    def encode(self, texts: AnyArray) -> Matrix:
        """CSR, because there may be thousands of categories."""
        from scipy import sparse

        found = self.places(texts)
        kept = found >= 0
        offsets = np.concatenate([[0], np.cumsum(kept)])
        shape = len(texts), self.width
        return sparse.csr_matrix((np.ones(kept.sum()), found[kept], offsets), shape=shape)

    def places(self, texts: AnyArray) -> Ints:
        """The feature that is 1 for each text; −1 if none is."""
        k = len(self.categories)
        other = k if self.has_other else -1
        missing = k + self.has_other if self.has_missing else other
        place = by_category(self.categories, range(k))
        found = [missing if text is None else place.get(text, other) for text in texts.tolist()]
        return np.array(found, dtype=np.int64)

    def shape(self, weights: Floats) -> Lookup:
        values, rest = weights[: len(self.categories)], weights[len(self.categories) :].tolist()
        other = rest.pop(0) if self.has_other else 0.0
        return Lookup(self.categories, tuple(values.tolist()), other, rest[0] if self.has_missing else other)

    def feature_names(self, column: str) -> list[str]:
        names = [f"{column}={category}" for category in self.categories]
        return [*names, *[f"{column}: other"] * self.has_other, *_missing_name(column, self.has_missing)]

    def describe(self) -> str:
        other = " and other" if self.has_other else ""
        missing = "; missing is one of its own" if self.has_missing else ""
        n = len(self.categories)
        return f"category: {n} {'category' if n == 1 else 'categories'}{other}{missing}"


Code: TypeAlias = NumericCode | AgeCode | RelativeCode | FlagCode | CategoryCode


def _marked(features: Floats, missing: Bools, marks: bool) -> Floats:
    return np.column_stack([features, missing]) if marks else features


def _missing_name(column: str, marks: bool) -> list[str]:
    return [f"{column}: missing"] if marks else []


def _about_missing(fill: float, marks: bool) -> str:
    return f"; missing counts as {fill:g}, and is marked" if marks else ""
