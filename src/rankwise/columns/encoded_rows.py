"""The features of a large table, of which only points are stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.columns.encoding import ROWS_AT_ONCE, Encoding, Values, dense_features, values_at
from rankwise.columns.points import points_of
from rankwise.factored_rows import FactoredRows
from rankwise.rows.table import Table
from rankwise.types import Floats, Ints

# Features that would take so many bytes are not stored if their points take at most this share of them.
LARGE, SHARE = 1 << 26, 0.5
# An entry of a sparse matrix takes a number and its place.
ENTRY_BYTES = 12


def rows_of(encoding: Encoding, table: Table) -> Any:
    """The features of a table for linear models: a matrix or, if these take much less, `FactoredRows`."""
    in_matrix = 8 * table.n_rows * encoding.n_features
    is_small = in_matrix < LARGE or encoding.is_sparse
    if is_small or bytes_of_large(encoding, table.n_rows) == in_matrix:
        return encoding.encode(table)
    return factored(encoding, table)


def bytes_of_large(encoding: Encoding, n_rows: int) -> int:
    """How many bytes `rows_of` stores of the features of a large table."""
    in_matrix = 8 * n_rows * encoding.n_features
    n_shares = sum(points_of(code).n_shares for code in (*encoding.codes.values(), *encoding.interactions))
    # Those of columns alone are few.
    of_points = sum(points_of(code).n_points * code.width for code in encoding.interactions)
    as_points = ENTRY_BYTES * (n_rows * n_shares + of_points)
    return as_points if as_points <= SHARE * in_matrix else in_matrix


def factored(encoding: Encoding, table: Table) -> FactoredRows:
    """The features of a table as products.

    P has the shares of the points between which the values of a row lie, and C the features at these points.
    """
    values = encoding.read(table)
    return FactoredRows(_factors(values, table.n_rows), _Encoded(values, (table.n_rows, encoding.n_features)))


@dataclass(frozen=True)
class _Encoded:
    """Features that are computed when rows are indexed."""

    values: Values
    shape: tuple[int, int]

    def __getitem__(self, rows: Ints | slice) -> Floats:
        values = values_at(self.values, rows)
        return dense_features(values, len(values[0][1][0]), self.shape[1])


def _factors(values: Values, n_rows: int) -> tuple[Any, Any]:
    """P and C."""
    from scipy import sparse

    points = [points_of(code) for code, _ in values]
    ends = np.cumsum([0, *(of_code.n_shares for of_code in points)])
    first = np.cumsum([0, *(of_code.n_points for of_code in points)])
    place, share = np.empty((n_rows, ends[-1]), dtype=np.int32), np.empty((n_rows, ends[-1]))
    for start in range(0, n_rows, ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        for c, (_, own) in enumerate(values_at(values, rows)):
            found, share[rows, ends[c] : ends[c + 1]] = points[c].locate(*own)
            place[rows, ends[c] : ends[c + 1]] = found + first[c]
    kind = np.int32 if share.size <= np.iinfo(np.int32).max else np.int64
    offsets = int(ends[-1]) * np.arange(n_rows + 1, dtype=kind)
    shape = (n_rows, int(first[-1]))
    of_rows = sparse.csr_array((share.ravel(), place.ravel(), offsets), shape=shape)
    at_points = sparse.block_diag([of_code.features for of_code in points], format="csr")
    return of_rows, sparse.csr_array(at_points)
