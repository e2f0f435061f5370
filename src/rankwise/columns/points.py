"""Points between which the features of a code are linear, and how values lie between them.

The features of a spline are linear between its knots, and those of two columns together are bilinear between
pairs of knots: those of a value are a combination of the features at two points of a spline, or at four of a
pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Protocol, TypeAlias

import numpy as np

from rankwise.columns.codes import AgeCode, CategoryCode, Code, FlagCode, RelativeCode
from rankwise.columns.interaction_codes import AxisCode, InteractionCode
from rankwise.columns.number_codes import SplineCode
from rankwise.operators.blocks import dense
from rankwise.scoring.shapes import age_in_days
from rankwise.types import AnyArray, Floats, Ints

# The points of each value, shape (m, n_shares), and the share of each of them.
Shares: TypeAlias = tuple[Ints, Floats]


class CodePoints(Protocol):
    """The points of a code.

    Attributes
    ----------
    features : Floats or CSR array, shape (n_points, n_features)
        The features at each point.
    n_points : int
    n_shares : int
        How many points a value combines.
    """

    @property
    def features(self) -> Any: ...

    @property
    def n_points(self) -> int: ...

    @property
    def n_shares(self) -> int: ...

    def locate(self, *values: AnyArray) -> Shares:
        """The points of values, and their shares."""
        ...


@singledispatch
def points_of(code: Any) -> CodePoints:
    """The points of the code of a column, of an axis or of two columns together."""
    return FeaturePoints(code)


@dataclass(frozen=True)
class FeaturePoints:
    """One point for each feature, whose share is the feature: for few features."""

    code: Code

    @property
    def features(self) -> Floats:
        return np.eye(self.code.width)

    @property
    def n_points(self) -> int:
        return self.code.width

    @property
    def n_shares(self) -> int:
        return self.code.width

    def locate(self, *values: AnyArray) -> Shares:
        share = dense(self.code.encode(*values))
        return np.broadcast_to(np.arange(self.n_shares), share.shape), share


@dataclass(frozen=True)
class KnotPoints:
    """The knots, and a point of missing values.

    Attributes
    ----------
    knots : Floats
    features : Floats
        At the knots and, in the last row, of missing values.
    beyond : bool
        Whether the features go on beyond the outer knots as they do between the last two.
    """

    knots: Floats
    features: Floats
    beyond: bool
    n_shares = 2

    @property
    def n_points(self) -> int:
        return len(self.features)

    def locate(self, *values: AnyArray) -> Shares:
        (x,) = values
        low = np.searchsorted(self.knots[1:-1], x, side="right")
        upper = (x - self.knots[low]) / np.diff(self.knots)[low]
        if not self.beyond:
            np.clip(upper, 0.0, 1.0, out=upper)
        place, share = np.stack([low, low + 1], axis=1), np.stack([1.0 - upper, upper], axis=1)
        missing = np.isnan(x)
        place[missing], share[missing] = len(self.knots), (1.0, 0.0)
        return place, share


@dataclass(frozen=True)
class CategoryPoints:
    """The categories, and a point of those without features, the last one.

    Attributes
    ----------
    means : tuple of float, optional
        What the features are less than those of the code.
    """

    code: CategoryCode
    means: tuple[float, ...] | None = None
    n_shares = 1

    @property
    def features(self) -> Any:
        width = self.code.width
        if self.means is None:
            from scipy import sparse

            return sparse.eye_array(width + 1, width, format="csr")
        return np.vstack([np.eye(width) - np.array(self.means), np.zeros((1, width))])

    @property
    def n_points(self) -> int:
        return self.code.width + 1

    def locate(self, *values: AnyArray) -> Shares:
        place = self.code.places(*values)[:, None]
        return np.where(place < 0, self.code.width, place), np.ones(place.shape)


@dataclass(frozen=True)
class AgePoints:
    """Points of the ages of dates."""

    of: CodePoints
    reference: str

    @property
    def features(self) -> Any:
        return self.of.features

    @property
    def n_points(self) -> int:
        return self.of.n_points

    @property
    def n_shares(self) -> int:
        return self.of.n_shares

    def locate(self, *values: AnyArray) -> Shares:
        return self.of.locate(*(age_in_days(dates, self.reference) for dates in values))


@dataclass(frozen=True)
class PairPoints:
    """Every point of one axis with every point of another."""

    code: InteractionCode
    axes: tuple[CodePoints, CodePoints]

    @property
    def features(self) -> Floats:
        first, second = (axis.features for axis in self.axes)
        i, j = self.code.factors
        products: Floats = first[:, None, i] * second[None, :, j]
        return products.reshape(-1, self.code.width)

    @property
    def n_shares(self) -> int:
        return self.axes[0].n_shares * self.axes[1].n_shares

    @property
    def n_points(self) -> int:
        return self.axes[0].n_points * self.axes[1].n_points

    def locate(self, *values: AnyArray) -> Shares:
        (place, share), (other, share_of_other) = (
            axis.locate(own) for axis, own in zip(self.axes, values, strict=True)
        )
        both = place[:, :, None] * self.axes[1].n_points + other[:, None, :]
        shares = share[:, :, None] * share_of_other[:, None, :]
        return both.reshape(len(place), -1), shares.reshape(len(place), -1)


@points_of.register(SplineCode)
def _of_spline(code: SplineCode) -> CodePoints:
    if code.n_gaps == 0:
        return FeaturePoints(code)
    return KnotPoints(np.array(code.knots), code.encode(np.append(code.knots, np.nan)), beyond=True)


@points_of.register(CategoryCode)
def _of_categories(code: CategoryCode) -> CodePoints:
    return CategoryPoints(code)


@points_of.register(AgeCode)
def _of_age(code: AgeCode) -> CodePoints:
    return AgePoints(points_of(code.of), code.reference)


@points_of.register(RelativeCode)
def _of_relative(code: RelativeCode) -> CodePoints:
    return points_of(code.of)


@points_of.register(AxisCode)
def _of_axis(code: AxisCode) -> CodePoints:
    if isinstance(code.of, CategoryCode):
        return CategoryPoints(code.of, code.means)
    knots = (0.0, 1.0) if isinstance(code.of, FlagCode) else code.of.knots
    points = KnotPoints(np.array(knots), code.at_points(), beyond=False)
    return points if code.reference is None else AgePoints(points, code.reference)


@points_of.register(InteractionCode)
def _of_interaction(code: InteractionCode) -> CodePoints:
    return PairPoints(code, (points_of(code.axes[0]), points_of(code.axes[1])))
