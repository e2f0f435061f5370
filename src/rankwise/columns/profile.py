"""How the values of columns are distributed: what a model saw in training, and drift is measured against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwise.columns.codes import CategoryCode
from rankwise.columns.encoding import Encoding
from rankwise.rows.table import Table
from rankwise.types import AnyArray, Floats, Matrix, Reading, is_sparse

# The least value, the nine deciles, and the largest.
N_QUANTILES = 11
# Of wider rows, such as those of words, no column means anything by itself.
MOST_COLUMNS = 4096
# Numbers that are sorted together.
_BLOCK = 1 << 20
_MICROSECONDS_PER_DAY = 86_400_000_000


@dataclass(frozen=True)
class ColumnProfile:
    """How the values of one column are distributed; every row counts once, whatever its weight.

    Attributes
    ----------
    reading : Reading
        What the values are taken for. Those that compare the rows of a query are the comparisons.
    missing : float
        The share of rows without a value.
    quantiles : tuple of float
        Of numbers and dates, the least value, the nine deciles, and the largest, all of them observed; dates
        are in days since 1970-01-01. Empty for flags and text, and if there are no values.
    frequencies : dict of str to float
        The shares of rows with the categories that the model knows, or with the flags "false" and "true".
    """

    reading: Reading
    missing: float = 0.0
    quantiles: tuple[float, ...] = ()
    frequencies: Mapping[str, float] = field(default_factory=dict)

    @property
    def other(self) -> float:
        """The share of rows with a category that the model does not know by name; 0 for other columns."""
        if self.reading is not Reading.TEXT:
            return 0.0
        return max(0.0, 1.0 - self.missing - sum(self.frequencies.values()))

    def mixed(self, other: ColumnProfile, share: float) -> ColumnProfile:
        """The profile of rows of which this share has the other one; quantiles are interpolated."""
        both = dict.fromkeys((*self.frequencies, *other.frequencies), 0.0)
        return ColumnProfile(
            self.reading,
            _between(self.missing, other.missing, share),
            _mixed_quantiles(self, other, share),
            {
                name: _between(self.frequencies.get(name, 0.0), other.frequencies.get(name, 0.0), share)
                for name in both
            },
        )


@dataclass(frozen=True)
class Profile:
    """How the columns of rows are distributed.

    Attributes
    ----------
    columns : dict of str to ColumnProfile
        The columns that a model uses, in its order.
    n_rows : int
        The number of rows that were looked at, which may be a sample.
    """

    columns: Mapping[str, ColumnProfile]
    n_rows: int

    @classmethod
    def of(cls, rows: Matrix | Table, encoding: Encoding | None, names: list[str]) -> Profile:
        """Look at all of these rows; O(m log m) per column.

        Parameters
        ----------
        rows : array, CSR matrix or Table
            As the function of a model takes them.
        encoding : Encoding or None
            What the columns of a table become.
        names : list of str
            What to call the columns of a matrix.
        """
        if isinstance(rows, Table):
            assert encoding is not None
            columns = _of_table(rows.matched(list(encoding.codes), encoding.labels), encoding)
        else:
            columns = _of_matrix(rows, names)
        return cls(columns, rows.shape[0])

    def mixed(self, other: Profile, share: float) -> Profile:
        """The profile of rows of which this share has the other one."""
        columns = {name: own.mixed(other.columns[name], share) for name, own in self.columns.items()}
        return Profile(columns, self.n_rows + other.n_rows)


def _of_table(table: Table, encoding: Encoding) -> dict[str, ColumnProfile]:
    return {
        name: _of_values(
            table.read(name, code.reading),
            code.reading,
            code.categories if isinstance(code, CategoryCode) else (),
        )
        for name, code in encoding.codes.items()
    }


def _of_values(values: AnyArray, reading: Reading, categories: tuple[str, ...]) -> ColumnProfile:
    n_rows = len(values)
    if reading is Reading.TEXT:
        counts = Counter(values.tolist())
        known = {name: counts[name] / n_rows for name in categories}
        return ColumnProfile(reading, counts[None] / n_rows, frequencies=known)
    absent = np.isnat(values) if reading is Reading.DATE else np.isnan(values)
    present, missing = values[~absent], float(absent.mean())
    if reading is Reading.FLAG:
        true = int(present.sum())
        shares = {"false": (len(present) - true) / n_rows, "true": true / n_rows}
        return ColumnProfile(reading, missing, frequencies=shares)
    if reading is Reading.DATE:
        present = present.astype("datetime64[us]").astype(np.int64) / _MICROSECONDS_PER_DAY
    return ColumnProfile(reading, missing, tuple(_quantiles(np.sort(present)[:, None])[:, 0].tolist()))


def _of_matrix(X: Any, names: list[str]) -> dict[str, ColumnProfile]:
    """Features are numbers, none of them missing; those that a sparse matrix does not store are 0."""
    by_column = X.tocsc() if is_sparse(X) else X
    at_once = max(1, _BLOCK // max(1, X.shape[0]))
    quantiles = []
    for first in range(0, X.shape[1], at_once):
        block = by_column[:, first : first + at_once]
        values = np.array(block.toarray() if is_sparse(X) else block, dtype=np.float64).T
        quantiles += _quantiles(np.sort(values, axis=1).T).T.tolist()
    found = (ColumnProfile(Reading.NUMBER, quantiles=tuple(own)) for own in quantiles)
    return dict(zip(names, found, strict=True))


def _quantiles(ordered: Floats) -> Floats:
    """Of each column, whose values ascend: those that are the first to reach 0, 1, ..., 10 tenths of them."""
    n_rows, gaps = len(ordered), N_QUANTILES - 1
    if n_rows == 0:
        return ordered
    return ordered[[max(0, -(-k * n_rows // gaps) - 1) for k in range(N_QUANTILES)]]


def _between(own: float, other: float, share: float) -> float:
    return (1.0 - share) * own + share * other


def _mixed_quantiles(own: ColumnProfile, other: ColumnProfile, share: float) -> tuple[float, ...]:
    """Where the mean of two distribution functions, linear between quantiles, reaches each level."""
    if not own.quantiles or not other.quantiles:
        return own.quantiles or other.quantiles
    present = (1.0 - share) * (1.0 - own.missing), share * (1.0 - other.missing)
    levels = np.linspace(0.0, 1.0, N_QUANTILES)
    at = np.unique([*own.quantiles, *other.quantiles])
    # Where a value is several quantiles, the function jumps: it has one level before and one at the value.
    below, upto = (
        sum(
            weight * _reached(np.array(one.quantiles), levels, at, side)
            for weight, one in zip(present, (own, other), strict=True)
        )
        / sum(present)
        for side in ("left", "right")
    )
    ascending = np.column_stack([below, upto]).ravel()
    return tuple(np.interp(levels, np.maximum.accumulate(ascending), np.repeat(at, 2)).tolist())


def _reached(quantiles: Floats, levels: Floats, at: Floats, side: str) -> Floats:
    """The level that a distribution has reached before each of these values ("left"), or at it ("right")."""
    next_one = np.minimum(np.searchsorted(quantiles, at, "left"), N_QUANTILES - 1)
    last_one = np.maximum(np.searchsorted(quantiles, at, "right") - 1, 0)
    gap = quantiles[next_one] - quantiles[last_one]
    between = np.divide(at - quantiles[last_one], gap, out=np.zeros(len(at)), where=gap > 0.0)
    rising = levels[last_one] + between * (levels[next_one] - levels[last_one])
    return np.where(gap > 0.0, rising, levels[next_one if side == "left" else last_one])
