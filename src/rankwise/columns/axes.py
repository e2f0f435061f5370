"""One side of an interaction: functions of a column whose products with those of another are features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from rankwise.columns.codes import CategoryCode, FlagCode
from rankwise.columns.number_codes import SplineCode
from rankwise.scoring.interactions import AgeAxis, Axis, CategoryAxis, FlagAxis, KnotAxis
from rankwise.scoring.shapes import age_in_days
from rankwise.types import AnyArray, Bools, Floats, Reading

# What the functions of an axis are made of.
AxisBasis: TypeAlias = SplineCode | FlagCode | CategoryCode


@dataclass(frozen=True, slots=True)
class AxisCode:
    """The features of a code, held constant beyond its outer knots, less their means over training rows.

    Because of the means, nothing that one column adds alone can be said with products. Where a value is
    missing, or a category unknown, and has no feature of its own, all functions are 0.

    Attributes
    ----------
    of : SplineCode, FlagCode or CategoryCode
    means : tuple of float
    reference : str, optional
        Of dates: `of` is a code of the age in days before it.
    """

    of: AxisBasis
    means: tuple[float, ...]
    reference: str | None = None

    @property
    def reading(self) -> Reading:
        return self.of.reading if self.reference is None else Reading.DATE

    @property
    def width(self) -> int:
        return self.of.width

    def encode(self, values: AnyArray) -> Floats:
        features, known = self._features(values)
        return np.where(known[:, None], features - np.array(self.means), 0.0)

    def centered(self, values: AnyArray) -> AxisCode:
        """The same functions, less their means over these values."""
        features, known = self._features(values)
        return replace(self, means=tuple(features[known].mean(axis=0).tolist()))

    def _features(self, values: AnyArray) -> tuple[Floats, Bools]:
        """The features with their means, and which values have features."""
        if self.reference is not None:
            values = age_in_days(values, self.reference)
        if isinstance(self.of, CategoryCode):
            places = self.of.places(values)
            return (places[:, None] == np.arange(self.width)).astype(float), places >= 0
        top = self.of.step if isinstance(self.of, SplineCode) else 1.0
        return np.clip(self.of.encode(values), 0.0, top), ~np.isnan(values)

    @property
    def axis(self) -> Axis:
        """The points between which the functions are linear."""
        if isinstance(self.of, FlagCode):
            return FlagAxis()
        if isinstance(self.of, CategoryCode):
            return CategoryAxis(self.of.categories)
        knots = KnotAxis(self.of.knots)
        return knots if self.reference is None else AgeAxis(self.reference, knots)

    def at_points(self) -> Floats:
        """The functions at the points of the axis, one row each."""
        if isinstance(self.of, CategoryCode):
            n, features = len(self.of.categories), np.eye(self.width) - np.array(self.means)
            other = features[[n]] if self.of.has_other else np.zeros((1, self.width))
            return np.vstack([features[:n], other, features[[-1]] if self.of.has_missing else other])
        points = np.array((0.0, 1.0) if isinstance(self.of, FlagCode) else self.of.knots)
        return replace(self, reference=None).encode(np.append(points, np.nan))

    def feature_names(self, column: str) -> list[str]:
        return self.of.feature_names(column if self.reference is None else f"age of {column}")

    def describe(self) -> str:
        if isinstance(self.of, SplineCode):
            return f"{len(self.of.knots)} knots"
        return "flag" if isinstance(self.of, FlagCode) else f"{len(self.of.categories)} categories"
