"""The codes of columns and of pairs of columns: a table in, features out; weights in, a function out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from rankwise.columns.codes import CategoryCode, Code
from rankwise.columns.interaction_codes import InteractionCode, InteractionSearch
from rankwise.errors import ParameterError
from rankwise.features import Features
from rankwise.operators.blocks import dense
from rankwise.preferences.queries import Queries, group_rows
from rankwise.rendering import html_table, text_table
from rankwise.rows.table import Table, table_of
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.types import AnyArray, Floats, Ints, Matrix
from rankwise.validation.problems import taken_apart

# Features are stored as CSR if at most one in this many can be different from zero.
FEATURES_PER_ENTRY = 4
# Rows that are encoded together: few enough for the features of a column to stay in the processor's cache.
ROWS_AT_ONCE = 4096


# Codes with the values that they encode, of one column or of two.
Values: TypeAlias = list[tuple[Any, tuple[AnyArray, ...]]]


@dataclass(frozen=True)
class Encoding:
    """What the columns of a table become, each alone and some of them together.

    Attributes
    ----------
    codes : dict of str to Code
        The columns that are used, in the order of their features.
    labels : tuple of str, optional
        What all columns are called if they are found by position, as those of an array.
    interactions : tuple of InteractionCode
        Pairs of these columns, whose features follow those of the columns.
    search : InteractionSearch, optional
        How these were found, unless the user named them.
    """

    codes: Mapping[str, Code]
    labels: tuple[str, ...] | None = None
    interactions: tuple[InteractionCode, ...] = ()
    search: InteractionSearch | None = None

    @property
    def columns(self) -> list[str]:
        """The columns that a table must have."""
        return list(self.codes if self.labels is None else self.labels)

    @property
    def feature_names(self) -> list[str]:
        of_columns = [name for column, code in self.codes.items() for name in code.feature_names(column)]
        return [*of_columns, *(name for code in self.interactions for name in code.feature_names())]

    @property
    def n_features(self) -> int:
        return sum(code.width for code in (*self.codes.values(), *self.interactions))

    @property
    def features(self) -> Features:
        """The columns of the table; those found by position have no names."""
        return Features(tuple(self.columns) if self.labels is None else None, count=len(self.columns))

    @property
    def compares_rows(self) -> bool:
        """Whether the features of a row depend on the other rows of its query."""
        return any(code.reading.is_relative for code in self.codes.values())

    def table(self, X: Any, qid: Any = None) -> Table:
        """X as `encode` and functions of the columns take it; a data set stands for qid as well."""
        table = table_of(X, self.columns if self.labels is None else None)
        _, qid, _ = taken_apart(X, None, qid)
        compared = self.compares_rows and qid is not None
        return self.in_queries(table, group_rows(qid, table.n_rows) if compared else None)

    def in_queries(self, table: Table, queries: Queries | None) -> Table:
        """The table with columns that compare the rows of a query read so; without queries, as it is."""
        if queries is None or not self.compares_rows:
            return table
        called = {} if self.labels is None else dict(zip(self.labels, table.columns, strict=False))
        columns = dict(table.columns)
        for column, code in self.codes.items():
            name = called.get(column, column)
            if code.reading.is_relative and name in columns:
                columns[name] = columns[name].relative(code.reading, queries, name)
        return replace(table, columns=columns)

    @property
    def is_sparse(self) -> bool:
        """Whether most features of a row must be zero."""
        codes = (*self.codes.values(), *self.interactions)
        n_entries = sum(1 if isinstance(code, CategoryCode) else code.width for code in codes)
        return n_entries * FEATURES_PER_ENTRY <= self.n_features

    def read(self, table: Table) -> Values:
        """The values of a table for each code, of columns and then of pairs."""
        table = table.matched(list(self.codes), self.labels)
        of_columns = [(code, (table.read(column, code.reading),)) for column, code in self.codes.items()]
        return [*of_columns, *((code, code.read(table)) for code in self.interactions)]

    def encode(self, table: Table) -> Matrix:
        """The features of the rows: C-ordered or, where most of them must be zero, CSR.

        What compares the rows of a query must have been read so (`in_queries`).
        """
        values = self.read(table)
        if not self.is_sparse:
            return dense_features(values, table.n_rows, self.n_features)
        from scipy import sparse

        every = [sparse.csr_matrix(code.encode(*own)) for code, own in values]
        return sparse.csr_matrix(sparse.hstack(every))

    def function(self, weights: Floats) -> AdditiveFunction:
        """The sum of functions of columns, and of two columns, that the weights of the features stand for."""
        widths = [code.width for code in (*self.codes.values(), *self.interactions)]
        of_code = iter(np.split(weights, np.cumsum(widths)[:-1]))
        terms = tuple(Term(column, code.shape(next(of_code))) for column, code in self.codes.items())
        interactions = tuple(code.function(next(of_code)) for code in self.interactions)
        return AdditiveFunction(terms, self.labels, interactions)

    def signs(self, of_columns: Ints) -> Ints:
        """The signs of the weights of features that make the function monotone in the columns.

        Parameters
        ----------
        of_columns : array of int
            1, −1 or 0 for each of `columns`: increasing, decreasing or either.
        """
        sign_of = dict(zip(self.columns, of_columns.tolist(), strict=True))
        signs: list[int] = []
        for column, code in self.codes.items():
            of_features = code.signs(sign_of[column])
            if of_features is None and sign_of[column] != 0:
                raise ParameterError(
                    f"monotonic_cst names {column!r}, which is a category and has no order; only "
                    "columns of numbers can have a sign."
                )
            signs += of_features or [0] * code.width
        for interaction in self.interactions:
            for column in interaction.columns:
                if sign_of[column] != 0:
                    raise ParameterError(
                        f"monotonic_cst names {column!r}, but the interaction {interaction.name} has no "
                        "sign; leave one of them out."
                    )
            signs += [0] * interaction.width
        return np.array(signs, dtype=np.int64)

    @property
    def places(self) -> list[list[int]]:
        """The columns that each code reads, and then those that each interaction reads, by position."""
        place = {column: c for c, column in enumerate(self.columns)}
        together = [[place[column] for column in code.columns] for code in self.interactions]
        return [[place[column]] for column in self.codes] + together

    def shares(self) -> Floats:
        """Which share of each feature is that of each column, shape (n_features, columns)."""
        widths = [code.width for code in (*self.codes.values(), *self.interactions)]
        of_code = np.zeros((len(widths), len(self.columns)))
        for row, columns in zip(of_code, self.places, strict=True):
            row[columns] = 1.0 / len(columns)
        return np.repeat(of_code, widths, axis=0)

    def __repr__(self) -> str:
        return f"Encoding({len(self.codes)} columns, {self.n_features} features)"

    def __str__(self) -> str:
        return text_table(("column", "becomes"), list(self.describe().items()))

    def _repr_html_(self) -> str:
        return html_table(("column", "becomes"), list(self.describe().items()))

    def describe(self) -> dict[str, str]:
        """What each column, and each pair, became, in words."""
        of_columns = {column: code.describe() for column, code in self.codes.items()}
        searched = () if self.search is None else self.search.found
        z = {one.columns: f"; gain {one.z:.1f} standard errors" for one in searched}
        return of_columns | {
            code.name: f"table of {code.describe()}{z.get(code.columns, '')}" for code in self.interactions
        }


def values_at(values: Values, rows: slice | Ints) -> Values:
    """The values in some rows."""
    return [(code, tuple(of_column[rows] for of_column in own)) for code, own in values]


def dense_features(values: Values, n_rows: int, n_features: int) -> Floats:
    """The features of values, in C order."""
    X = np.empty((n_rows, n_features))
    for first in range(0, n_rows, ROWS_AT_ONCE):
        rows, start = slice(first, first + ROWS_AT_ONCE), 0
        for code, own in values_at(values, rows):
            block = dense(code.encode(*own))
            X[rows, start : start + block.shape[1]] = block
            start += block.shape[1]
    return X
