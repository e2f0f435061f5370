"""Codes of two columns together: products of functions of one with functions of the other are features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from rankwise.columns.codes import CategoryCode, FlagCode
from rankwise.columns.number_codes import SplineCode
from rankwise.rows.table import Table
from rankwise.scoring.interactions import AgeAxis, Axis, CategoryAxis, FlagAxis, Interaction, KnotAxis
from rankwise.scoring.shapes import age_in_days
from rankwise.types import AnyArray, Bools, Floats, Ints, Reading

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


@dataclass(frozen=True)
class FoundInteraction:
    """Two columns, and how much their products explained when they were found."""

    columns: tuple[str, str]
    gain: float
    z: float
    stage: int


@dataclass(frozen=True)
class InteractionSearch:
    """What a search found.

    Attributes
    ----------
    found : tuple of FoundInteraction
        In the order in which they were found.
    tried : int
        The number of pairs of columns that were scored.
    alphas : tuple of float
        The alpha of the model of each stage.
    """

    found: tuple[FoundInteraction, ...]
    tried: int
    alphas: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class InteractionCode:
    """One feature for each function of one column and each of another: their product.

    Attributes
    ----------
    columns : tuple of str
    axes : tuple of AxisCode
    kept : tuple of int, optional
        The products that are features, by place; all of them by default.
    """

    columns: tuple[str, str]
    axes: tuple[AxisCode, AxisCode]
    kept: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        return " × ".join(self.columns)

    @property
    def width(self) -> int:
        return self.axes[0].width * self.axes[1].width if self.kept is None else len(self.kept)

    def read(self, table: Table) -> tuple[AnyArray, AnyArray]:
        """The values of the two columns, each in the reading of its axis."""
        first, second = self.axes
        return table.read(self.columns[0], first.reading), table.read(self.columns[1], second.reading)

    def encode(self, first: AnyArray, second: AnyArray) -> Floats:
        """The features of these values of the two columns."""
        u, v = self.axes[0].encode(first), self.axes[1].encode(second)
        if self.kept is None:
            return (u[:, :, None] * v[:, None, :]).reshape(len(u), -1)
        i, j = self.factors
        return u[:, i] * v[:, j]

    @property
    def factors(self) -> tuple[Ints, Ints]:
        """The functions of the two axes of which each feature is the product."""
        width = self.axes[1].width
        kept = (
            np.arange(self.axes[0].width * width)
            if self.kept is None
            else np.array(self.kept, dtype=np.int64)
        )
        return np.divmod(kept, width)

    def function(self, weights: Floats) -> Interaction:
        """The function of the two columns that the weights of the features stand for."""
        first, second = self.axes
        of_products = np.zeros(first.width * second.width)
        of_products[slice(None) if self.kept is None else list(self.kept)] = weights
        by_axis = of_products.reshape(first.width, second.width)
        values = first.at_points() @ by_axis @ second.at_points().T
        return Interaction(self.columns, (first.axis, second.axis), tuple(map(tuple, values.tolist())))

    def feature_names(self) -> list[str]:
        first, second = (
            axis.feature_names(column) for column, axis in zip(self.columns, self.axes, strict=True)
        )
        names = [f"{one} × {other}" for one in first for other in second]
        return names if self.kept is None else [names[place] for place in self.kept]

    def describe(self) -> str:
        of = " × ".join(axis.describe() for axis in self.axes)
        return of if self.kept is None else f"{of}, {len(self.kept)} combinations"
