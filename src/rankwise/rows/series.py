"""The columns of frames of any library, read from the buffers behind them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from rankwise.rows.column import Column, column_of_categories, column_of_numbers, column_of_objects
from rankwise.rows.frames import as_narwhals, whole_numbers
from rankwise.types import Reading

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def columns_of_frame(frame: Any) -> tuple[list[Any], Callable[[Any], Column]]:
    """The names of the columns of a frame, and a function that reads the one with a name."""
    pandas = sys.modules.get("pandas")  # which only a frame of its own has imported for sure
    if pandas is not None and isinstance(frame, pandas.DataFrame) and frame.columns.is_unique and len(frame):
        return frame.columns.tolist(), lambda name: _column_of_pandas(frame[name])
    table, names = as_narwhals(frame)
    return names, lambda name: column_of_series(table.get_column(name))


def _column_of_pandas(series: Any) -> Column:
    """Numbers, flags, times and text without narwhals, whose series takes longer to make than 100 rows."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        if dtype in _FLOATS or dtype.kind in "iub":
            return column_of_numbers(series.to_numpy())
        if dtype.kind == "M":
            return Column(Reading.DATE, series.to_numpy().astype("datetime64[us]"))
        if dtype.kind == "O":
            return column_of_objects(series.tolist())
    elif dtype.type is str and getattr(dtype, "storage", None) == "pyarrow":
        # pandas would put NaN in place of each missing text.
        return column_of_objects(series.array.__arrow_array__().to_pylist())
    import narwhals as nw

    return column_of_series(nw.from_native(series, series_only=True))


def column_of_series(series: Any) -> Column:
    """The column that a narwhals series is."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_float():
        floats = series if dtype == nw.Float64 else series.cast(nw.Float64)
        return column_of_numbers(np.asarray(floats.to_numpy(), dtype=np.float64))
    if dtype.is_integer() or dtype == nw.Boolean:
        if not series.null_count():
            return column_of_numbers(whole_numbers(series))
        missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
        filled = series.fill_null(0 if dtype.is_integer() else False)
        return column_of_numbers(whole_numbers(filled), missing)
    if dtype in (nw.Categorical, nw.Enum):
        return column_of_categories(series.to_list(), series.name)
    if dtype == nw.Datetime:
        if dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return Column(Reading.DATE, np.asarray(series.to_numpy()).astype("datetime64[us]"))
    return column_of_objects(series.to_list())
