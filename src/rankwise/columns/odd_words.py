"""A few words that make text of a column of numbers, or of dates."""

from __future__ import annotations

import re
from datetime import datetime

import numpy as np

from rankwise.errors import DataError, warn_caller
from rankwise.numerals import is_number
from rankwise.rendering import counted
from rankwise.rows.column import Column
from rankwise.types import AnyArray, Bools, Ints, Reading

# Text of which more than this share are numbers, or dates, is rather a column of those with a few words.
MOSTLY = 0.5
# About so many texts must be mostly dates before all are looked at.
FIRST_LOOK = 100
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def refuse_mostly_numbers(column: Column, name: str) -> None:
    rows = words_among_numbers(column)
    if len(rows):
        word, row = column.values[rows[0]], rows[0]
        raise DataError(
            f"Column {name!r} holds numbers as text, but {word[:40]!r} in row {row}; clean it or, if it "
            f"is a category, say so: columns={{{name!r}: 'category'}}."
        )


def words_among_numbers(column: Column) -> Ints:
    """The rows of the few words that made a column of numbers one of text; all numbers may be codes."""
    texts = column.values[~column.missing()].tolist()
    n_words = sum(not is_number(text) for text in texts)
    if not 0 < n_words < (1 - MOSTLY) * len(texts):
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero([text is not None and not is_number(text) for text in column.values])


def warn_of_dates_as_text(column: Column, name: str) -> None:
    """Say that a column of dates and a few words becomes one of categories."""
    dates = dates_among_text(column)
    if dates is None or dates.all():
        return
    rows = np.flatnonzero(~dates & ~column.missing())
    if len(rows):
        more = f" and {counted(len(rows) - 1, 'other value')}" if len(rows) > 1 else ""
        warn_caller(
            f"Column {name!r} holds dates, but {column.values[rows[0]][:40]!r} in row {rows[0]}{more} cannot "
            f"be read as a date, so the column is treated as a category; make such values missing."
        )


def dates_among_text(column: Column) -> Bools | None:
    """Which values of a column of text are dates, such as 2024-05-31; None unless most of them are."""
    texts = [text for text in column.values if text is not None]
    some = texts[:: max(1, len(texts) // FIRST_LOOK)]
    if sum(map(_is_date, some)) <= MOSTLY * len(some):
        return None
    known = {text for text in set(texts) if _is_date(text)}
    dates = np.fromiter((text in known for text in column.values), dtype=np.bool_, count=len(column.values))
    return dates if dates.sum() > MOSTLY * len(texts) else None


def _is_date(text: str) -> bool:
    if _ISO_DATE.match(text) is None:  # also 20240531 is ISO, but rather a number
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def as_dates(column: Column, name: str, dates: Bools) -> AnyArray:
    """These values as dates, and all others missing."""
    texts = column.values.copy()
    texts[~dates] = None
    return Column(Reading.TEXT, texts).read(Reading.DATE, name)
