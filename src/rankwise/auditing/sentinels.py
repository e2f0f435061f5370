"""Numbers and dates that stand for a missing value."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.auditing.faults import Fault, Repair, Severity, rows_shown
from rankwise.rendering import counted
from rankwise.types import AnyArray, Floats, Ints

# Numbers that often stand for a missing value, and dates that do.
SENTINELS = (-1.0, *(sign * number for number in (99.0, 999.0, 9999.0, 99999.0) for sign in (1.0, -1.0)))
DATE_SENTINELS = tuple(
    np.datetime64(day, "us") for day in ("1970-01-01", "1900-01-01", "1899-12-30", "0001-01-01", "9999-12-31")
)
# A sentinel occurs at least so often, as a share of the rows and as a number.
LEAST_SHARE, LEAST_TIMES = 0.002, 3
# It is apart from the rest by this many times their interquartile range, and by half of their whole range.
QUARTILES_AWAY = 3.0


def sentinels(values: Floats, counts: Ints) -> list[float]:
    """Those of the usual ones that are the smallest or the largest value, frequent, and far from the rest."""
    found: list[float] = []
    for _ in range(2):  # -999 may hide behind -9999
        for end in (0, -1):
            own = values[end] if len(values) > 3 else np.nan
            rest = np.delete(values, end) if own in SENTINELS else values
            often = counts[end] >= max(LEAST_TIMES, LEAST_SHARE * counts.sum())
            if own in SENTINELS and often and _is_apart(float(own), rest, np.delete(counts, end)):
                found.append(float(own))
                values, counts = rest, np.delete(counts, end)
    return found


def _is_apart(value: float, rest: Floats, counts: Ints) -> bool:
    if value == -1.0:  # the rest are amounts or counts, of which not just a few
        return bool(rest[0] >= 0.0) and len(rest) >= 5
    gap = float(np.abs(rest - value).min())
    low, high = rest[np.searchsorted(np.cumsum(counts), np.array([0.25, 0.75]) * counts.sum())]
    return gap > max(QUARTILES_AWAY * float(high - low), 0.5 * float(rest[-1] - rest[0]))


def date_sentinels(days: AnyArray, counts: Ints) -> list[Any]:
    """Those of the usual ones that are frequent, and far from the rest."""
    found = []
    for sentinel in DATE_SENTINELS:
        rest, n_times = days[days != sentinel], int(counts[days == sentinel].sum())
        if len(rest) < 2 or n_times < max(LEAST_TIMES, LEAST_SHARE * counts.sum()):
            continue
        if np.abs(rest - sentinel).min() > max(np.timedelta64(365, "D"), (rest[-1] - rest[0]) // 4):
            found.append(sentinel)
    return found


def sentinel_fault(name: str, shown: str, rows: Ints, n_rows: int) -> Fault:
    return Fault(
        "sentinel",
        Severity.LOOK,
        name,
        len(rows),
        f"{name!r}: {shown} in {counted(len(rows), 'row')} ({len(rows) / n_rows:.1%}), far from all other "
        "values, seems to stand for a missing one",
        "Training treats it as a value, which distorts the scale of the column.",
        "As a missing value, it would get its own weight (--columns auto).",
        rows_shown(rows),
        Repair.BLANK,
        rows,
    )
