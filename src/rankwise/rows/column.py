"""One column of a table, and what its values are read as: numbers, flags, dates or text."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from rankwise.errors import DataError
from rankwise.numerals import read_float
from rankwise.preferences.queries import Queries, refuse_rounded
from rankwise.rows.relative import relative
from rankwise.types import AnyArray, Bools, Floats, Ints, Reading

# The integer whose successor float64 cannot represent.
_LAST_EXACT = 2**53
# What a column must hold to be read this way, in the words of an error.
_EXPECTED = {
    Reading.NUMBER: "numbers",
    Reading.FLAG: "flags (true and false, or 1 and 0)",
    Reading.DATE: "dates (such as 2024-05-31)",
    Reading.TEXT: "text",
}


@dataclass(frozen=True, eq=False)
class Column:
    """The values of a column, in the reading that is natural to them.

    Attributes
    ----------
    reading : Reading or None
        None if there is none: values of several kinds, or of a kind that no model understands.
    values : array, shape (m,)
        As `rankwise.scoring.shapes` lists them; without a reading, the objects themselves. So are numbers if
        one is an integer that could have lost digits as a float64: as a category, it must be the same
        whatever else is in the column.
    """

    reading: Reading | None
    values: AnyArray

    def __getitem__(self, rows: Ints | slice) -> Column:
        return Column(self.reading, self.values[rows])

    def read(self, reading: Reading, name: str) -> AnyArray:
        """The values as numbers, flags, dates or text; an error names the column and the row."""
        if reading is self.reading and (reading is Reading.TEXT or self.values.dtype.kind != "O"):
            values = self.values
        elif reading.is_relative:
            raise DataError(
                f"Column {name!r} is taken as its {reading} in the query, which needs the query of each row: "
                "pass qid, or a RankingData with queries."
            )
        else:
            if reading is Reading.TEXT:
                refuse_rounded(f"Column {name!r}", self.values)
            convert, missing = _CONVERSIONS[reading]
            values = _each(convert, self.objects(), missing, reading, name)
        if reading is Reading.NUMBER and np.isinf(values).any():
            row = int(np.isinf(values).argmax())
            raise DataError(f"Column {name!r} must hold finite numbers; row {row} is {values[row]}.")
        return values

    def numbers_among(self) -> tuple[Floats, Bools]:
        """The numbers of a column of anything, and which values are neither numbers nor missing."""
        if self.values.dtype.kind == "f":
            return self.values, np.zeros(len(self.values), dtype=bool)
        values = self.objects()
        numbers, others = np.full(len(values), np.nan), np.zeros(len(values), dtype=bool)
        for row, value in enumerate(values):
            if not is_missing(value):
                try:
                    numbers[row] = _number_of(value)
                except (ValueError, TypeError, OverflowError):
                    others[row] = True
        return numbers, others

    def missing(self) -> Bools:
        """Which values are missing."""
        if self.values.dtype.kind == "O":
            return np.fromiter((value is None for value in self.values), dtype=bool, count=len(self.values))
        absent: Bools = (np.isnat if self.values.dtype.kind == "M" else np.isnan)(self.values)
        return absent

    def relative(self, reading: Reading, queries: Queries, name: str) -> Column:
        """The numbers as they compare with those of their query."""
        return Column(reading, relative(self.read(Reading.NUMBER, name), reading, queries))

    def shown(self) -> list[str]:
        """The values as a person would write them."""
        return ["missing" if is_missing(value) else _shown(value) for value in self.objects()]

    def kinds(self) -> str:
        """The kinds of values that have no common reading, with an example of each but the first."""
        first: dict[str, int] = {}
        for row, value in enumerate(self.values):
            if not is_missing(value):
                first.setdefault(type(value).__name__, row)
        rest = [f"{kind} (in row {row})" for kind, row in list(first.items())[1:3]]
        return " and ".join(["values of type " + next(iter(first)), *rest])

    def objects(self) -> Sequence[Any]:
        """The values as Python objects."""
        values: list[Any] = self.values.tolist()
        if self.reading is Reading.FLAG:
            return [value if is_missing(value) else bool(value) for value in values]
        return values

    def __repr__(self) -> str:
        return f"Column({self.reading}, {len(self.values)} values)"


def _each(
    convert: Callable[[Any], Any], values: Sequence[Any], missing: Any, to: Reading, name: str
) -> AnyArray:
    """Convert values that are not missing; an error names the first that cannot be converted."""
    converted = np.full(len(values), missing, dtype=object if missing is None else np.asarray(missing).dtype)
    for row, value in enumerate(values):
        if is_missing(value):
            continue
        try:
            converted[row] = convert(value)
        except (ValueError, TypeError, OverflowError):
            shown = repr(value)
            shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
            raise DataError(f"Column {name!r} must hold {_EXPECTED[to]}; row {row} is {shown}.") from None
    return converted


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    return str(value)


def is_missing(value: Any) -> bool:
    """Whether this is None, NaN, NaT or pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    return isinstance(value, Real) and bool(value != value)


def _flag_of(value: Any) -> bool:
    if value not in (0, 1) or isinstance(value, str):
        raise ValueError
    return bool(value)


def _number_of(value: Any) -> float:
    if not _is_exact(value):
        raise OverflowError
    return read_float(value) if isinstance(value, str | bytes) else float(value)


def _is_exact(number: Any) -> bool:
    """Whether float64 holds a number as it is; identifiers of 64 bits are rather names than numbers."""
    whole = None if isinstance(number, float) else _whole(number)
    return whole is None or (abs(whole) < 2**1023 and int(float(whole)) == whole)


def _whole(number: Any) -> int | None:
    """A whole number of any type as an integer; None if it has decimals."""
    if isinstance(number, int | Integral):
        return int(number)
    is_finite = isinstance(number, Real | Decimal) and math.isfinite(number)
    if not is_finite:
        return None
    whole = int(number)
    return whole if whole == number else None


def _date_of(value: Any) -> np.datetime64:
    """A date, a time or ISO text, in UTC; what has no time zone is taken for UTC."""
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value)
    elif not isinstance(value, (datetime.date, np.datetime64)):
        raise TypeError
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def _text_of(value: Any) -> str:
    """The text of a category: whole numbers without decimals, however the frame stored them."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if not isinstance(value, Real | Decimal):
        raise TypeError
    whole = _whole(value)
    return str(float(value) if whole is None else whole)


# For each reading, the conversion of a value, and what stands for a missing one.
_CONVERSIONS: dict[Reading, tuple[Callable[[Any], Any], Any]] = {
    Reading.NUMBER: (_number_of, np.nan),
    Reading.FLAG: (_flag_of, np.nan),
    Reading.DATE: (_date_of, np.datetime64("NaT", "us")),
    Reading.TEXT: (_text_of, None),
}


def column_of_objects(values: Sequence[Any]) -> Column:
    """A column of Python objects, in the reading that suits all that are not missing."""
    kinds = set(map(type, values))
    if str in kinds and kinds <= {str, type(None), float}:  # text, which needs no look at each value
        texts = [None if value != value else value for value in values] if float in kinds else values
        if float not in set(map(type, texts)):
            return Column(Reading.TEXT, _objects(texts))
    readings = {_reading_of(value) for value in values if not is_missing(value)}
    if readings <= {Reading.NUMBER, Reading.FLAG}:  # a column without any values is one of numbers
        reading: Reading | None = Reading.FLAG if readings == {Reading.FLAG} else Reading.NUMBER
    else:
        reading = readings.pop() if len(readings) == 1 else None
    if reading is None or (reading is Reading.NUMBER and any(map(_may_lose_digits, values))):
        return Column(reading, _objects([None if is_missing(value) else value for value in values]))
    convert, missing = _CONVERSIONS[reading]
    return Column(reading, _each(convert, values, missing, reading, ""))


def _objects(values: Sequence[Any]) -> AnyArray:
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _may_lose_digits(value: Any) -> bool:
    whole = None if isinstance(value, float) else _whole(value)
    return whole is not None and abs(whole) >= _LAST_EXACT


def _reading_of(value: Any) -> Reading | None:
    if isinstance(value, bool | np.bool_):
        return Reading.FLAG
    if isinstance(value, str):
        return Reading.TEXT
    if isinstance(value, datetime.date | np.datetime64):
        return Reading.DATE
    is_number = hasattr(value, "__float__") and not hasattr(value, "__len__")
    return Reading.NUMBER if is_number and _is_exact(value) else None


def column_of_numbers(values: AnyArray, missing: Bools | None = None) -> Column:
    """A column of an array of numbers or booleans, some of which may stand for missing values."""
    floats: Floats = values.astype(np.float64)
    if missing is not None:
        floats[missing] = np.nan
    if values.dtype.kind == "b":
        return Column(Reading.FLAG, floats)
    if values.dtype.kind in "iuO" and values.itemsize == 8 and (np.abs(floats) >= _LAST_EXACT).any():
        objects = values.astype(object)
        if missing is not None:
            objects[missing] = None
        return column_of_objects(objects.tolist())
    return Column(Reading.NUMBER, floats)


def column_of_categories(values: Sequence[Any], name: str) -> Column:
    """A column that its frame declares to be one of categories, which are text even if they are numbers."""
    column = column_of_objects(values)
    numbers = all(isinstance(value, Real | Decimal) for value in values if not is_missing(value))
    if not numbers or column.reading is Reading.FLAG:
        return column
    return Column(Reading.TEXT, column.read(Reading.TEXT, name))
