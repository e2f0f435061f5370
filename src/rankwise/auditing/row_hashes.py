"""Equal rows of a table of any kind, found by a number for each row that its columns add to in turn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankwise.rows.column import Column

Hashes = NDArray[np.uint64]

# The multipliers of SplitMix64 (Steele, Lea and Flood 2014).
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def no_hashes(n_rows: int) -> Hashes:
    """The hashes of rows without columns."""
    return np.zeros(n_rows, dtype=np.uint64)


def add_column(hashes: Hashes, column: Column) -> None:
    """Let a column change the hashes of its rows, in place; different rows collide by a chance of 2⁻⁶⁴."""
    values = column.values
    if values.dtype.kind == "O":
        own = np.fromiter(map(hash, map(_plain, values.tolist())), dtype=np.int64, count=len(values))
        bits = own.view(np.uint64)
    elif values.dtype.kind == "M":
        bits = values.view(np.uint64)
    else:
        positive = values + 0.0  # -0.0 equals 0.0
        positive[np.isnan(positive)] = np.nan  # whatever its bits
        bits = positive.view(np.uint64)
    hashes *= np.uint64(31)
    hashes += bits
    hashes ^= hashes >> np.uint64(30)
    hashes *= _FIRST
    hashes ^= hashes >> np.uint64(27)
    hashes *= _SECOND
    hashes ^= hashes >> np.uint64(31)


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | None) else str(value)
