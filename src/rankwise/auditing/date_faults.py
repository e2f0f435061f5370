"""Faults of dates: text among them, and dates that stand for missing ones."""

from __future__ import annotations

import numpy as np

from rankwise.auditing.faults import EXAMPLES, Fault, Repair, Severity
from rankwise.auditing.sentinels import date_sentinels, sentinel_fault
from rankwise.columns.odd_words import as_dates
from rankwise.rendering import counted
from rankwise.rows.column import Column
from rankwise.types import AnyArray, Bools


def look_at_dates(values: AnyArray, name: str) -> list[Fault]:
    """Dates that stand for a missing value."""
    days, counts = np.unique(values[~np.isnat(values)], return_counts=True)
    return [
        sentinel_fault(name, str(one.astype("datetime64[D]")), np.flatnonzero(values == one), len(values))
        for one in date_sentinels(days, counts)
    ]


def look_at_text_of_dates(column: Column, name: str, dates: Bools) -> list[Fault]:
    """The text in a column of dates, or that all dates are text, and what is wrong with the dates."""
    others = np.flatnonzero(~dates & ~column.missing())
    found = _odd(column, name, others) if len(others) else _as_text(column, name, dates)
    return [found, *look_at_dates(as_dates(column, name, dates), name)]


def _odd(column: Column, name: str, rows: AnyArray) -> Fault:
    return Fault(
        "text in a column of dates",
        Severity.LOOK,
        name,
        len(rows),
        f"{name!r} holds dates, but {counted(len(rows), 'value is none', 'values are none')}",
        "Training treats all of them as categories.",
        "",
        tuple(f"{column.values[row]!r:.40} in row {row}" for row in rows[:EXAMPLES].tolist()),
        Repair.BLANK,
        rows,
    )


def _as_text(column: Column, name: str, dates: Bools) -> Fault:
    return Fault(
        "dates as text",
        Severity.LOOK,
        name,
        int(dates.sum()),
        f"{name!r} holds dates as text",
        "Training treats them as categories.",
        f'Store them as dates, or use --columns FILE with {{"{name}": "date", "*": "auto"}}.',
        tuple(map(str, column.values[dates][:EXAMPLES])),
    )
