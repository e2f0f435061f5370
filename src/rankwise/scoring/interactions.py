"""Functions of two columns: tables of values with two axes, linear between the points of an axis.

An axis has a point for each knot or category, and special points for what has no place among these. What is
beyond the outer knots counts as being at them: where there are no rows, products of two lines run away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np

from rankwise.rows.table import Table
from rankwise.scoring.shapes import (
    Flag,
    Lookup,
    OfAge,
    PiecewiseLinear,
    Shape,
    age_in_days,
    by_category,
)
from rankwise.types import AnyArray, Floats, Ints, Reading

MISSING = "missing"
OTHER = "other"


@dataclass(frozen=True, slots=True)
class KnotAxis:
    """Numbers: the knots, at least two, in ascending order, and a point for missing numbers."""

    reading: ClassVar[Reading] = Reading.NUMBER
    special: ClassVar[tuple[str, ...]] = (MISSING,)

    knots: tuple[float, ...]

    @property
    def points(self) -> tuple[str, ...]:
        return (*(f"{knot:.6g}" for knot in self.knots), *self.special)

    def locate(self, x: Floats) -> tuple[Ints, Floats]:
        """The point at or before each value, and the way from there to the next point, from 0 to 1."""
        missing, knots = np.isnan(x), np.array(self.knots)
        inside = np.clip(np.where(missing, knots[0], x), knots[0], knots[-1])
        left = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, len(knots) - 2)
        way = (inside - knots[left]) / (knots[left + 1] - knots[left])
        return np.where(missing, len(knots), left), np.where(missing, 0.0, way)

    def shape(self, values: Floats) -> PiecewiseLinear:
        """The function of the column alone that has these values at the points."""
        *at_knots, missing = values.tolist()
        span = self.knots[-1] - self.knots[0]
        # Two more knots make it constant beyond the outer ones.
        knots = (self.knots[0] - span, *self.knots, self.knots[-1] + span)
        return PiecewiseLinear(knots, (at_knots[0], *at_knots, at_knots[-1]), missing)


@dataclass(frozen=True, slots=True)
class AgeAxis:
    """Dates, by their age in days before a reference date."""

    reading: ClassVar[Reading] = Reading.DATE
    special: ClassVar[tuple[str, ...]] = (MISSING,)

    reference: str
    ages: KnotAxis

    @property
    def points(self) -> tuple[str, ...]:
        return self.ages.points

    def locate(self, dates: AnyArray) -> tuple[Ints, Floats]:
        return self.ages.locate(age_in_days(dates, self.reference))

    def shape(self, values: Floats) -> OfAge:
        return OfAge(self.reference, self.ages.shape(values))


@dataclass(frozen=True, slots=True)
class FlagAxis:
    """False, true, and missing."""

    reading: ClassVar[Reading] = Reading.FLAG
    special: ClassVar[tuple[str, ...]] = (MISSING,)

    @property
    def points(self) -> tuple[str, ...]:
        return ("false", "true", *self.special)

    def locate(self, flags: Floats) -> tuple[Ints, Floats]:
        places = np.where(np.isnan(flags), 2, np.where(flags != 0.0, 1, 0))
        return places, np.zeros(len(flags))

    def shape(self, values: Floats) -> Flag:
        false, true, missing = values.tolist()
        return Flag(true=true, false=false, missing=missing)


@dataclass(frozen=True, slots=True)
class CategoryAxis:
    """The categories, a point for all others, seen in training or not, and one for missing text."""

    reading: ClassVar[Reading] = Reading.TEXT
    special: ClassVar[tuple[str, ...]] = (OTHER, MISSING)

    categories: tuple[str, ...]

    @property
    def points(self) -> tuple[str, ...]:
        return (*self.categories, *self.special)

    def locate(self, texts: AnyArray) -> tuple[Ints, Floats]:
        n = len(self.categories)
        place = by_category(self.categories, range(n))
        places = [n + 1 if text is None else place.get(text, n) for text in texts.tolist()]
        return np.array(places, dtype=np.int64), np.zeros(len(texts))

    def shape(self, values: Floats) -> Lookup:
        *of_categories, other, missing = values.tolist()
        return Lookup(self.categories, tuple(of_categories), other, missing)


Axis: TypeAlias = KnotAxis | AgeAxis | FlagAxis | CategoryAxis


@dataclass(frozen=True, slots=True)
class Interaction:
    """Two columns of a table and their joint share of the score.

    Attributes
    ----------
    columns : tuple of str
        The two columns.
    axes : tuple of Axis
        Their axes.
    values : tuple of tuple of float
        A row for each point of the first axis, a column for each point of the second. Over the training rows,
        the mean of the values is 0 along either axis: what one column adds alone is not in here.
    """

    columns: tuple[str, str]
    axes: tuple[Axis, Axis]
    values: tuple[tuple[float, ...], ...]

    @property
    def name(self) -> str:
        return " × ".join(self.columns)

    def renamed(self, names: Mapping[str, str]) -> Interaction:
        """The same function of columns with other names."""
        first, second = self.columns
        return replace(self, columns=(names[first], names[second]))

    def read(self, rows: Table) -> Floats:
        """The values at the rows."""
        first, second = self.axes
        return self(rows.read(self.columns[0], first.reading), rows.read(self.columns[1], second.reading))

    def __call__(self, first: AnyArray, second: AnyArray) -> Floats:
        """The values at these values of the two columns, linear between points along either axis."""
        table = np.array(self.values)
        (i, s), (j, t) = self.axes[0].locate(first), self.axes[1].locate(second)
        below, right = np.minimum(i + 1, len(table) - 1), np.minimum(j + 1, table.shape[1] - 1)
        at_first = table[i, j] + t * (table[i, right] - table[i, j])
        at_next = table[below, j] + t * (table[below, right] - table[below, j])
        return np.asarray(at_first + s * (at_next - at_first))

    def products(self) -> list[tuple[Shape, Shape]]:
        """Functions of the first column and of the second whose products add up to this one.

        For each point of the axis with fewer points, a function that is 1 there and 0 at all other points,
        and the values along the other axis. Languages that know functions of one column can write these.
        """
        (first, second), table = self.axes, np.array(self.values)
        if len(table) <= table.shape[1]:
            lines = zip(np.eye(len(table)), table, strict=True)
            return [(first.shape(here), second.shape(along)) for here, along in lines if along.any()]
        lines = zip(np.eye(table.shape[1]), table.T, strict=True)
        return [(first.shape(along), second.shape(here)) for here, along in lines if along.any()]

    def positions(self) -> tuple[Shape, Shape]:
        """Functions of the two columns that count the points of their axes, from 0: where to look."""
        first, second = (axis.shape(np.arange(len(axis.points), dtype=np.float64)) for axis in self.axes)
        return first, second
