"""How far each column of a model moves scores, by what is known of its values in training."""

from __future__ import annotations

import numpy as np

from rankwise.columns.profile import ColumnProfile
from rankwise.model.model import Model
from rankwise.scoring.additive import AdditiveFunction
from rankwise.scoring.functions import LinearFunction
from rankwise.scoring.shapes import Shape
from rankwise.types import AnyArray, Floats, Reading

_MICROSECONDS_PER_DAY = 86_400_000_000
# Dates as NumPy can count them in microseconds.
_MOST_DAYS = 100_000_000
_SHARES = np.array([0.05, 0.05, *[0.1] * 8, 0.05, 0.05])


def spreads(model: Model) -> dict[str, float]:
    """The standard deviation of what each column adds to the score, approximated by deciles and frequencies.

    Interactions are not counted. Empty for functions that are no sums, and if the values are not known.
    """
    function = model.function
    known = {} if model.profile is None else model.profile.columns
    if isinstance(function, AdditiveFunction):
        return {
            term.column: _spread_of_shape(term.shape, known[term.column])
            for term in function.terms
            if term.column in known and known[term.column].reading is term.shape.reading
        }
    if isinstance(function, LinearFunction) and function.weights.ndim == 1:
        weights = zip(model.features.labels, np.abs(function.weights).tolist(), strict=True)
        return {
            name: weight * _deviation(_points(known[name].quantiles), _SHARES)
            for name, weight in weights
            if name in known and known[name].quantiles
        }
    return {}


def _spread_of_shape(shape: Shape, column: ColumnProfile) -> float:
    values, shares = _values_of(column)
    return _deviation(shape(values), shares)


def _values_of(column: ColumnProfile) -> tuple[AnyArray, Floats]:
    """Values of a column as its shape reads them, with a missing one, and the shares of rows with them."""
    if column.reading is Reading.TEXT:
        names = [*column.frequencies, "\0", None]  # a category that no model knows, and none
        return np.array(names, dtype=object), np.array(
            [*column.frequencies.values(), column.other, column.missing]
        )
    if column.reading is Reading.FLAG:
        shares = [column.frequencies.get(name, 0.0) for name in ("false", "true")]
        return np.array([0.0, 1.0, np.nan]), np.array([*shares, column.missing])
    present = _points(column.quantiles) if column.quantiles else np.empty(0)
    shares_present = (1.0 - column.missing) * _SHARES[: len(present)]
    values: AnyArray = np.append(present, np.nan)
    if column.reading is Reading.DATE:
        days = np.clip(np.nan_to_num(values), -_MOST_DAYS, _MOST_DAYS) * _MICROSECONDS_PER_DAY
        values = np.where(
            np.isnan(values), np.datetime64("NaT"), days.astype(np.int64).astype("datetime64[us]")
        )
    return values, np.append(shares_present, column.missing)


def _points(quantiles: tuple[float, ...]) -> Floats:
    """Values that stand for the rows between deciles; the shares of rows for which they do are `_SHARES`."""
    q = np.array(quantiles)
    inner = (q[1:-2] + q[2:-1]) / 2.0
    return np.concatenate([_tail(q[0], q[1], q[2]), inner, _tail(q[-1], q[-2], q[-3])])


def _tail(end: float, decile: float, next_one: float) -> list[float]:
    """Two values beyond the first or the last decile: extremes say little unless there is nothing else."""
    if decile == next_one:
        return [end, decile]
    beyond = decile + 0.75 * (decile - next_one)
    return [min(max(beyond, min(end, decile)), max(end, decile))] * 2


def _deviation(values: Floats, shares: Floats) -> float:
    total = float(shares.sum())
    if not total > 0.0:
        return 0.0
    # Relative to one of them, so that numbers that are large but close keep their digits.
    values = np.asarray(values, dtype=np.float64) - values[0]
    mean = float(shares @ values) / total
    return float(np.sqrt(max(0.0, float(shares @ (values - mean) ** 2) / total)))
