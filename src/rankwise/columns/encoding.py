"""The codes of all columns of a table: a table in, features out; weights in, a function of the table out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rankwise.columns.codes import Code
from rankwise.errors import ParameterError
from rankwise.features import Features
from rankwise.rows.table import Table
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.types import Floats, Ints, Matrix

# Features are stored as CSR if at most one in this many can be different from zero.
FEATURES_PER_ENTRY = 4


@dataclass(frozen=True)
class Encoding:
    """What each column of a table becomes.

    Attributes
    ----------
    codes : dict of str to Code
        The columns that are used, in the order of their features.
    labels : tuple of str, optional
        What all columns are called if they are found by position, as those of an array.
    """

    codes: Mapping[str, Code]
    labels: tuple[str, ...] | None = None

    @property
    def columns(self) -> list[str]:
        """The columns that a table must have."""
        return list(self.codes if self.labels is None else self.labels)

    @property
    def feature_names(self) -> list[str]:
        return [name for column, code in self.codes.items() for name in code.feature_names(column)]

    @property
    def n_features(self) -> int:
        return sum(code.width for code in self.codes.values())

    @property
    def features(self) -> Features:
        """The columns of the table; those found by position have no names."""
        return Features(tuple(self.columns) if self.labels is None else None, count=len(self.columns))

    def encode(self, table: Table) -> Matrix:
        """The features of the rows: C-ordered or, where most of them must be zero, CSR."""
        table = table.matched(list(self.codes), self.labels)
        blocks = [code.encode(table.read(column, code.reading)) for column, code in self.codes.items()]
        n_entries = sum(block.shape[1] if isinstance(block, np.ndarray) else 1 for block in blocks)
        if n_entries * FEATURES_PER_ENTRY <= self.n_features:
            from scipy import sparse

            return sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(block) for block in blocks]))
        X, start = np.empty((table.n_rows, self.n_features)), 0
        for block in blocks:
            X[:, start : start + block.shape[1]] = block if isinstance(block, np.ndarray) else block.toarray()
            start += block.shape[1]
        return X

    def function(self, weights: Floats) -> AdditiveFunction:
        """The sum of functions of the columns that the weights of the features stand for."""
        terms, start = [], 0
        for column, code in self.codes.items():
            terms.append(Term(column, code.shape(weights[start : start + code.width])))
            start += code.width
        return AdditiveFunction(tuple(terms), self.labels)

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
                    f"monotonic_cst names {column!r}, which is a category and has no order; a column of "
                    f"numbers has one."
                )
            signs += of_features or [0] * code.width
        return np.array(signs, dtype=np.int64)

    def describe(self) -> dict[str, str]:
        """What each column became, in words."""
        return {column: code.describe() for column, code in self.codes.items()}
