"""The documents that can be judged: their features, and what raters see of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankwise.errors import DataError
from rankwise.preferences.queries import Queries
from rankwise.rows.documents import RowsByName, names_of, row_named, rows_by_name
from rankwise.rows.ranking import RankingData
from rankwise.types import AnyArray, Floats, Ints, Matrix


@dataclass(frozen=True, eq=False)
class Collection:
    """Rows by the names of their queries and documents.

    Attributes
    ----------
    X : Matrix, shape (m, n)
        The features that have weights.
    data : RankingData
        The rows as they were read, with query and document labels.
    shown : dict of str to list of str
        What raters see of each row, by column.
    columns : array of str, shape (n,)
        The column that each feature comes from; those of a column are adjacent.
    """

    X: Matrix
    data: RankingData
    shown: Mapping[str, Sequence[str]]
    columns: AnyArray

    def __post_init__(self) -> None:
        for (query, doc), rows in self._rows.items():
            if len(rows) > 1:
                row_named(self._rows, query, doc)  # raises
        if len(self.names) != self.queries.n_queries:
            raise DataError(
                "Some query labels are different but the same as text, such as 1 and '1'; rename them."
            )

    @property
    def queries(self) -> Queries:
        return self.data.queries

    @cached_property
    def _rows(self) -> RowsByName:
        return rows_by_name(self.data)

    @cached_property
    def names(self) -> dict[str, int]:
        """The number of each query, by its label as text."""
        assert self.queries.labels is not None
        return {str(label): q for q, label in enumerate(self.queries.labels.tolist())}

    @cached_property
    def docs(self) -> list[str]:
        """The label of each document, as text."""
        return [str(doc) for doc in names_of(self.data)[1].tolist()]

    def query(self, name: str) -> int:
        """The number of a query, which must exist."""
        if name not in self.names:
            raise DataError(f"The data has no query {name!r:.80}.")
        return self.names[name]

    def row(self, query: str, doc: str) -> int:
        """The row of a document, which must exist."""
        return row_named(self._rows, query, doc)

    def name(self, query: int) -> str:
        assert self.queries.labels is not None
        return str(self.queries.labels[query])

    def effects(self, query: int, weights: Floats) -> dict[str, float]:
        """How far weights move the documents of a query apart, by column: a standard deviation.

        For a column that is one feature, its sign is that of the weight.
        """
        rows = self.queries.rows_of(query)
        X = self.X[rows]
        values = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)
        starts = self._starts
        terms = np.add.reduceat((values - values[0]) * weights, starts, axis=1)
        spread = terms.std(axis=0)
        alone = np.diff(np.append(starts, len(weights))) == 1
        signed = np.where(alone & (weights[starts] < 0.0), -spread, spread)
        return dict(zip(map(str, self.columns[starts].tolist()), signed.tolist(), strict=True))

    @cached_property
    def _starts(self) -> Ints:
        """The first feature of each column."""
        return np.flatnonzero(np.append(True, self.columns[1:] != self.columns[:-1]))
