"""Codes of two columns together: products of functions of one with functions of the other are features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.columns.axes import AxisCode
from rankwise.rows.table import Table
from rankwise.scoring.interactions import Interaction
from rankwise.types import AnyArray, Floats


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
        i, j = np.divmod(np.array(self.kept, dtype=np.int64), self.axes[1].width)
        return u[:, i] * v[:, j]

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
