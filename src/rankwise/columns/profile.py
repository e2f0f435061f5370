"""How the values of columns are distributed: what a model saw in training, and drift is measured against."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankwise.columns.codes import CategoryCode
from rankwise.columns.encoding import Encoding
from rankwise.rows.table import Table
from rankwise.types import AnyArray, Floats, Matrix, Reading, is_sparse

# The least value, the nine deciles, and the largest.
N_QUANTILES = 11
LEVELS = tuple(k / (N_QUANTILES - 1) for k in range(N_QUANTILES))
# Of wider rows, such as those of words, no column means anything by itself.
MOST_COLUMNS = 4096
# Effects smaller than this, relative to the largest, are rounding.
NO_EFFECT = 1e-9
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
    reached : tuple of float
        The shares of values, of those that are not missing, that are at most each quantile: where values
        repeat, more than the tenths.
    contribution, effect : float or None
        What the column adds to the scores, by the weights with which the rows were learned: the mean, and the
        standard deviation within queries. None unless scores are sums over columns.
    """

    reading: Reading
    missing: float = 0.0
    quantiles: tuple[float, ...] = ()
    frequencies: Mapping[str, float] = field(default_factory=dict)
    reached: tuple[float, ...] = ()
    contribution: float | None = None
    effect: float | None = None

    @property
    def other(self) -> float:
        """The share of rows with a category that the model does not know by name; 0 for other columns."""
        if self.reading is not Reading.TEXT:
            return 0.0
        return max(0.0, 1.0 - self.missing - sum(self.frequencies.values()))

    @property
    def steps(self) -> tuple[Floats, Floats]:
        """The distinct quantiles, and the share of the values that are at most each of them.

        Files of early versions do not say more of these shares than how many tenths they reach.
        """
        values, last = np.unique(self.quantiles[::-1], return_index=True)
        reached = np.array(self.reached or LEVELS)
        return values, reached[len(reached) - 1 - last]

    def mixed(self, other: ColumnProfile, share: float) -> ColumnProfile:
        """The profile of rows of which this share has the other one."""
        both = dict.fromkeys((*self.frequencies, *other.frequencies), 0.0)
        quantiles, reached = _mixed_quantiles(self, other, share)
        known = None not in (self.effect, other.effect, self.contribution, other.contribution)
        return ColumnProfile(
            self.reading,
            _between(self.missing, other.missing, share),
            quantiles,
            {
                name: _between(self.frequencies.get(name, 0.0), other.frequencies.get(name, 0.0), share)
                for name in both
            },
            reached,
            _between(self.contribution or 0.0, other.contribution or 0.0, share) if known else None,
            math.hypot((1.0 - share) ** 0.5 * (self.effect or 0.0), share**0.5 * (other.effect or 0.0))
            if known
            else None,
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

    def with_effects(self, contributions: Mapping[str, float], effects: Mapping[str, float]) -> Profile:
        """The profile with what each column adds to the scores, by name."""
        columns = {
            name: replace(column, contribution=contributions[name], effect=effects[name])
            for name, column in self.columns.items()
        }
        return replace(self, columns=columns)

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
    ordered = np.sort(numbers_of(present, reading))
    quantiles = _quantiles(ordered[:, None])[:, 0]
    return ColumnProfile(reading, missing, tuple(quantiles.tolist()), reached=_reached(ordered, quantiles))


def numbers_of(values: AnyArray, reading: Reading) -> Floats:
    """Numbers as they are, and dates as days since 1970-01-01; NaN where they are missing."""
    if reading is not Reading.DATE:
        return values
    days = values.astype("datetime64[us]").astype(np.int64) / _MICROSECONDS_PER_DAY
    return np.where(np.isnat(values), np.nan, days)


def _of_matrix(X: Any, names: list[str]) -> dict[str, ColumnProfile]:
    """Features are numbers, none of them missing; those that a sparse matrix does not store are 0."""
    by_column = X.tocsc() if is_sparse(X) else X
    at_once = max(1, _BLOCK // max(1, X.shape[0]))
    found = []
    for first in range(0, X.shape[1], at_once):
        block = by_column[:, first : first + at_once]
        values = np.array(block.toarray() if is_sparse(X) else block, dtype=np.float64).T
        ordered = np.sort(values, axis=1)
        quantiles = _quantiles(ordered.T).T
        found += [
            ColumnProfile(Reading.NUMBER, quantiles=tuple(own.tolist()), reached=_reached(column, own))
            for column, own in zip(ordered, quantiles, strict=True)
        ]
    return dict(zip(names, found, strict=True))


def _quantiles(ordered: Floats) -> Floats:
    """Of each column, whose values ascend: those that are the first to reach 0, 1, ..., 10 tenths of them."""
    n_rows, gaps = len(ordered), N_QUANTILES - 1
    if n_rows == 0:
        return ordered
    return ordered[[max(0, -(-k * n_rows // gaps) - 1) for k in range(N_QUANTILES)]]


def _reached(ordered: Floats, quantiles: Floats) -> tuple[float, ...]:
    return tuple((np.searchsorted(ordered, quantiles, side="right") / max(1, len(ordered))).tolist())


def _between(own: float, other: float, share: float) -> float:
    return (1.0 - share) * own + share * other


def _mixed_quantiles(
    own: ColumnProfile, other: ColumnProfile, share: float
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The quantiles of either that are the first to reach each level in the mixture, and what they reach."""
    if not own.quantiles or not other.quantiles:
        known = own if own.quantiles else other
        return known.quantiles, known.reached
    present = (1.0 - share) * (1.0 - own.missing), share * (1.0 - other.missing)
    values = np.unique([*own.quantiles, *other.quantiles])
    reached = sum(
        weight * np.interp(values, *one.steps, left=0.0, right=1.0)
        for weight, one in zip(present, (own, other), strict=True)
    ) / sum(present)
    # Sums of shares may be a rounding error below a level.
    first = np.minimum(np.searchsorted(reached, np.array(LEVELS) - 1e-12), len(values) - 1)
    return tuple(values[first].tolist()), tuple(reached[first].tolist())
