"""The quality of a ranker by day, week or month."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.metrics.evaluation import evaluate
from rankwise.metrics.named_measures import MeasureLike, get_measure
from rankwise.metrics.significance import margin_of_mean
from rankwise.preferences.queries import Queries
from rankwise.rendering import TableRows
from rankwise.rows.column import column_of_objects
from rankwise.types import AnyArray, Floats, Reading

# Up to so many days are shown day by day, and up to so many week by week.
MOST_DAYS, MOST_DAYS_IN_WEEKS = 21, 371
# 1970-01-01 was a Thursday.
_MONDAY = 3


def quality_over_time(
    y: Floats, scores: Floats, queries: Queries, time: ArrayLike, measure: MeasureLike
) -> TableRows:
    """The mean of a measure in each period, with half of its 95 % interval over queries; O(m log m).

    Queries count where they are first seen; those without a date, or for which the measure is undefined, are
    left out.
    """
    dates = _dates(time, len(y))
    ordered = queries.grouped(dates)
    first = np.fmin.reduceat(ordered, queries.offsets[:-1])
    chosen = get_measure(measure)
    values = evaluate(y, scores, queries, [chosen]).per_query[chosen.name]
    counted = ~np.isnat(first) & ~np.isnan(values)
    if not counted.any():
        raise DataError("No query has both a date and labels by which its quality can be measured.")
    unit, periods = _periods(first[counted].astype("datetime64[D]"))
    found: list[dict[str, Any]] = []
    for period in np.unique(periods):
        own = values[counted][periods == period]
        mean = {chosen.name: float(own.mean()), "margin": margin_of_mean(own, np.ones(len(own)))}
        found.append({unit: str(period), "queries": len(own)} | mean)
    return TableRows(found)


def _dates(time: ArrayLike, n_rows: int) -> AnyArray:
    values: AnyArray = np.asarray(time)
    if values.shape != (n_rows,):
        raise DataError(f"time must have one date per row: {n_rows}; got shape {values.shape}.")
    if values.dtype.kind != "M":
        values = column_of_objects(values.tolist()).read(Reading.DATE, "time")
    return values.astype("datetime64[us]")


def _periods(days: AnyArray) -> tuple[str, AnyArray]:
    """What periods are called, and the first day of that of each day."""
    span = int((days.max() - days.min()).astype(np.int64)) + 1
    if span <= MOST_DAYS:
        return "day", days
    if span <= MOST_DAYS_IN_WEEKS:
        weekday = (days.astype(np.int64) + _MONDAY) % 7
        return "week", days - weekday
    return "month", days.astype("datetime64[M]").astype("datetime64[D]")
