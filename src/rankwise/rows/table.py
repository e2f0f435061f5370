"""Rows as columns of any kind, with missing values: what rankers with `columns` take besides arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from rankwise.errors import DataError
from rankwise.features import Features, features_of, matrix_of
from rankwise.rows.column import Column, column_of_numbers, column_of_objects
from rankwise.rows.frames import check_present
from rankwise.rows.series import column_of_series, columns_of_frame
from rankwise.types import AnyArray, Ints, Reading, is_sparse
from rankwise.validation.arrays import refuse_masked


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, by name.

    Attributes
    ----------
    columns : dict of str to Column
    named : bool
        Whether the names are the user's; the columns of an array are only numbered.
    """

    columns: Mapping[str, Column]
    named: bool = True

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values())).values)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self.columns)

    def __getitem__(self, rows: Ints | slice) -> Table:
        return Table({name: column[rows] for name, column in self.columns.items()}, self.named)

    def __len__(self) -> int:
        return self.n_rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise DataError("A table of columns is not a matrix of numbers; only rankers with 'columns' take it.")

    def read(self, column: str, reading: Reading) -> AnyArray:
        """The values of a column as numbers, flags, dates or text."""
        return self.columns[column].read(reading, column)

    def matched(self, names: Sequence[str], labels: Sequence[str] | None = None) -> Table:
        """The columns with these names, in this order.

        Parameters
        ----------
        names : sequence of str
        labels : sequence of str, optional
            What to call the columns if they are known by position only; by default, `names`.
        """
        if self.named and labels is None:
            check_present(list(self.columns), list(names))
            return Table({name: self.columns[name] for name in names})
        labels = names if labels is None else labels
        if len(labels) != len(self.columns):
            # In words that scikit-learn's estimator checks require.
            raise DataError(
                f"X has {len(self.columns)} features, but ColumnEncoder is expecting {len(labels)} features "
                f"as input: {', '.join(map(repr, labels[:20]))}."
            )
        by_position = dict(zip(labels, self.columns.values(), strict=True))
        return Table({name: by_position[name] for name in names}, named=False)


def table_of(X: Any, wanted: Sequence[str] | None = None) -> Table:
    """The columns of a frame, an array or a data set.

    Columns of an array, and of a frame that only numbers them, are called ``x0``, ``x1``, ...; those of a
    data set by its names.

    Parameters
    ----------
    X : frame, array or data set
    wanted : sequence of str, optional
        The columns that will be used, if they have names: no others of a frame are read.
    """
    features, X = features_of(X), matrix_of(X)
    if isinstance(X, Table):
        return X
    if is_sparse(X):
        raise DataError("Columns cannot be encoded from sparse X; pass a table or a dense array.")
    if hasattr(X, "columns") or hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__"):
        return _of_frame(X, wanted)
    return _of_array(X, features)


def _of_frame(frame: Any, wanted: Sequence[str] | None) -> Table:
    names, column = columns_of_frame(frame)
    texts = [isinstance(name, str) for name in names]
    named = names != list(range(len(names)))  # pandas numbers columns that have no names
    if named and not all(texts):
        odd = names[texts.index(False)]
        raise DataError(f"Column names must be text; got {odd!r}, a name of type {type(odd).__name__}.")
    if named and wanted is not None:
        check_present(names, list(wanted))
        names = list(wanted)
    labels = names if named else [f"x{c}" for c in range(len(names))]
    columns = {label: column(name) for label, name in zip(labels, names, strict=True)}
    return _checked(columns, named=named)


def read_columns(table: Any, names: Sequence[str]) -> Table:
    """The columns with these names of a narwhals frame."""
    return _checked({name: column_of_series(table.get_column(name)) for name in names}, named=True)


def stacked(tables: Sequence[Table]) -> Table:
    """The rows of tables with the same columns, one below the other."""
    columns = {}
    for name in tables[0].columns:
        parts = [table.columns[name] for table in tables]
        readings = {part.reading for part in parts}
        columns[name] = (
            Column(parts[0].reading, np.concatenate([part.values for part in parts]))
            if len(readings) == 1
            else column_of_objects([value for part in parts for value in part.objects()])
        )
    return Table(columns, tables[0].named)


def _of_array(X: Any, features: Features) -> Table:
    refuse_masked("X", X)
    try:
        array = np.asarray(X)
    except ValueError:
        raise DataError("X must be a table or an array with rows of equal length.") from None
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported: X must hold real numbers.")
    if array.ndim != 2:
        hint = " Reshape your data using X.reshape(-1, 1) if it is one column." if array.ndim == 1 else ""
        raise DataError(f"X must be two-dimensional; got {array.ndim} dimension(s).{hint}")
    are_numbers = array.dtype.kind in "biuf"
    columns = {
        features.label(c): column_of_numbers(values) if are_numbers else column_of_objects(values.tolist())
        for c, values in enumerate(array.T)
    }
    return _checked(columns, named=features.names is not None, n_rows=array.shape[0])


def _checked(columns: dict[str, Column], *, named: bool, n_rows: int | None = None) -> Table:
    if not columns:
        # In words that scikit-learn's estimator checks require.
        raise DataError(f"X has 0 feature(s) (shape=({n_rows or 0}, 0)) while a minimum of 1 is required.")
    table = Table(columns, named)
    if table.n_rows == 0:
        raise DataError("The table has no rows.")
    return table
