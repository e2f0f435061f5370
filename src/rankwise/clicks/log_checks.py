"""Checks for click logs: positions, clicks, and the pages on which results were shown."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.types import AnyArray, Bools, Floats, Ints
from rankwise.validation.arrays import check_column, check_labels

# Nobody pages this far, and search engines stop here by default; anything larger is a time stamp or an id.
MAX_POSITION = 10_000


def check_whole(name: str, values: ArrayLike, n: int | None = None) -> Ints:
    """Return whole numbers, one per result shown; floats are accepted if they are whole."""
    array = check_column(name, values, np.size(values) if n is None else n)
    if array.dtype.kind == "O":  # as in a frame whose missing values were filled in
        array = check_column(name, array.tolist())
    if array.dtype.kind not in "biuf" or len(array) == 0:
        raise DataError(f"{name} must contain integers, one per result shown{_contents(array)}.")
    if array.dtype.kind == "f":
        missing = np.isnan(array)
        if missing.any():
            raise DataError(f"{name} has a missing value: entry {int(missing.argmax())} is NaN.")
        broken = ~(np.abs(array) < 2.0**53) | (array != np.rint(array))
        if broken.any():
            at = int(broken.argmax())
            raise DataError(f"{name} must contain integers; entry {at} is {array[at]}.")
    if array.dtype.kind == "u":
        array = np.minimum(array, np.iinfo(np.int64).max)  # larger ones would wrap around
    return array.astype(np.int64)


def _contents(array: AnyArray) -> str:
    if len(array) == 0:
        return ""
    if array.dtype.kind in "mM":
        return "; it contains dates or times"
    return f"; entry 0 is {array[:1].tolist()[0]!r:.40}"


def check_row_numbers(name: str, rows: ArrayLike) -> Ints:
    """Return row numbers, counted from 0."""
    array = check_whole(name, rows)
    if array.min() < 0:
        at = int(array.argmin())
        raise DataError(f"{name} must be at least 0; entry {at} is {array[at]}.")
    return array


def check_positions(name: str, positions: ArrayLike, n: int) -> Ints:
    """Return positions, counted from 1."""
    array = check_whole(name, positions, n)
    if array.min() < 1:
        at = int(array.argmin())
        hint = "; add 1 if the log counts from 0" if array[at] == 0 else ""
        raise DataError(f"{name} must be at least 1, the top of the list; entry {at} is {array[at]}{hint}.")
    if array.max() > MAX_POSITION:
        at = int(array.argmax())
        raise DataError(
            f"{name} must be a position in the list, from 1 to {MAX_POSITION:,}; entry {at} is {array[at]}, "
            "which looks like a time stamp or an id."
        )
    return array


def are_averages(positions: ArrayLike) -> bool:
    """Whether these are numbers with decimals, none of which is missing."""
    array = np.asarray(positions)
    return array.dtype.kind == "f" and bool(np.isfinite(array).all() and (array != np.rint(array)).any())


def check_flags(name: str, flags: ArrayLike, n: int) -> Bools:
    """Return which results were clicked, given as booleans or 0 and 1."""
    array = check_whole(name, flags, n)
    bad = (array != 0) & (array != 1)
    if bad.any():
        at = int(bad.argmax())
        raise DataError(
            f"{name} must be 0 or 1; entry {at} is {array[at]}. Counts need a column of impressions."
        )
    return array.astype(bool)


def check_counts(name: str, counts: ArrayLike, n: int) -> Floats:
    """Return counts of impressions or of what users did."""
    array = check_whole(name, counts, n)
    if array.min() < 0:
        at = int(array.argmin())
        raise DataError(f"{name} must be at least 0; entry {at} is {array[at]}.")
    return array.astype(np.float64)


def check_varied(name: str, clicked: AnyArray, shown: Floats | None = None) -> None:
    """Reject a log without clicks, and one of nothing but clicks."""
    total = float(clicked.sum())
    if total == 0.0 or total == (len(clicked) if shown is None else float(shown.sum())):
        have, lack = ("only clicks", "not clicked") if total else ("no clicks", "clicked")
        raise DataError(f"{name} has {have}: there is nothing to learn unless some results were {lack}.")


def check_propensity(propensity: ArrayLike, n: int) -> Floats:
    """Return probabilities above 0, one per result shown; a single number applies to all."""
    values = np.full(n, propensity) if np.ndim(propensity) == 0 else propensity
    look = check_labels(values, n, name="propensity")
    bad = (look <= 0) | (look > 1)
    if bad.any():
        at = int(bad.argmax())
        raise DataError(f"propensity must be above 0 and at most 1; entry {at} is {look[at]}.")
    return look


def check_pages(session: Ints, row: Ints, position: Ints) -> None:
    """Reject sessions that show a result twice, or two results at one position."""
    same = _first_repeat(session, row)
    if same is not None:
        raise DataError(
            f"Entries {same[0]} and {same[1]} (counting from 0) are the same result in one session: a log "
            "has one entry per result shown, clicked or not, and a query issued again starts a new session."
        )
    same = _first_repeat(session, position)
    if same is not None:
        raise DataError(
            f"Entries {same[0]} and {same[1]} (counting from 0) are different results at position "
            f"{position[same[0]]} of one session: count positions from the top of the whole list, also on "
            "its second page."
        )


def _first_repeat(session: Ints, value: Ints) -> tuple[int, int] | None:
    """The first two entries of some session with equal values, in order of the second; None if all differ."""
    order = np.lexsort((value, session))  # stable: equal entries stay in order
    repeats = (np.diff(session[order]) == 0) & (np.diff(value[order]) == 0)
    if not repeats.any():
        return None
    later = order[1:][repeats]
    at = int(later.argmin())
    return int(order[:-1][repeats][at]), int(later[at])
