"""Codes: how the values of one column become features, and what weights of these features mean.

A code is numbers and names only. `encode` gives the features of values, in the reading of the code; `shape`
turns the weights of these features back into a function of the column (`rankwise.scoring.shapes`), which
increases with the column if the weights have the signs `signs(1)`, and decreases if they have `signs(-1)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from rankwise.columns.number_codes import NumericCode, about_missing, marked, name_of_missing
from rankwise.scoring.shapes import Flag, Lookup, OfAge, Relative, age_in_days, by_category
from rankwise.types import AnyArray, Floats, Ints, Matrix, Reading


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
        return marked(np.where(missing, self.fill, flags)[:, None], missing, self.marks_missing)

    def shape(self, weights: Floats) -> Flag:
        false, true, missing = (self.encode(np.array([0.0, 1.0, np.nan])) @ weights).tolist()
        return Flag(true=true, false=false, missing=missing)

    def feature_names(self, column: str) -> list[str]:
        return [column, *name_of_missing(column, self.marks_missing)]

    def describe(self) -> str:
        return f"flag{about_missing(self.fill, self.marks_missing)}"


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
        return [*names, *[f"{column}: other"] * self.has_other, *name_of_missing(column, self.has_missing)]

    def describe(self) -> str:
        other = " and other" if self.has_other else ""
        missing = "; missing is one of its own" if self.has_missing else ""
        n = len(self.categories)
        return f"category: {n} {'category' if n == 1 else 'categories'}{other}{missing}"


Code: TypeAlias = NumericCode | AgeCode | RelativeCode | FlagCode | CategoryCode
