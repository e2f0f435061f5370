"""The judged rows of a report, and TREC runs as scores of these rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankwise.errors import DataError
from rankwise.features import Features
from rankwise.metrics.runs import align
from rankwise.preferences.queries import Queries
from rankwise.rows.documents import RowsByName, rows_by_name
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import Table
from rankwise.trec import Qrels, Run
from rankwise.types import AnyArray, Floats, Ints, Matrix, Reading


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows with labels, in queries.

    Attributes
    ----------
    y : Floats, shape (m,)
    queries : Queries
    docs : array or None, shape (m,)
    data : RankingData or None
        The same rows with their features; None if all that is known of a row is its name.
    """

    y: Floats
    queries: Queries
    docs: AnyArray | None
    data: RankingData | None = None

    @classmethod
    def of_data(cls, data: RankingData) -> Judged:
        return cls(data.y, data.queries, data.docs, data)

    @property
    def query_labels(self) -> AnyArray:
        return np.array(["all"], dtype=object) if self.queries.labels is None else self.queries.labels

    @property
    def features(self) -> Features:
        data = self.data
        return Features() if data is None else Features(data.feature_names, data.numbered_from)

    @property
    def matrix(self) -> Matrix | None:
        """The features as numbers; None if there are none, or columns of any kind."""
        return None if self.data is None or isinstance(self.data.X, Table) else self.data.X

    def rows_of(self, query: int) -> Ints:
        """The rows of a query, by its position."""
        first, last = self.queries.offsets[query : query + 2]
        order = self.queries.order
        return np.arange(first, last) if order is None else order[first:last]

    @cached_property
    def _by_name(self) -> RowsByName:
        if self.data is None:
            raise DataError("A run is found by query and document, but the rows have no names.")
        return rows_by_name(self.data)

    def scores_of_run(self, run: Run) -> tuple[np.ma.MaskedArray[Any, np.dtype[np.float64]], int]:
        """The scores of a run, masked where it did not retrieve a document, and how many others it did."""
        known, n_unknown = self._by_name, 0
        scores = np.full(len(self.y), np.nan)
        for qid, docs in run.items():
            for doc, score in docs.items():
                rows = known.get((qid, doc), [])
                scores[rows] = score
                n_unknown += not rows
        if np.isnan(scores).all():
            raise DataError("the run and the data share no document of a query.")
        return np.ma.masked_invalid(scores), n_unknown


def with_numbers(data: RankingData, names: Sequence[str] | None = None) -> RankingData:
    """The rows for models that take numbers: a table becomes a matrix of its columns, or of those named."""
    if not isinstance(data.X, Table):
        return data
    wanted = list(data.X.columns if names is None else names)
    table = data.X.matched(wanted)
    X = np.column_stack([table.read(column, Reading.NUMBER) for column in wanted])
    return replace(data, X=X, feature_names=tuple(wanted))


def judged_by(
    runs: Mapping[str, Run], qrels: Qrels, *, complete: bool
) -> tuple[Judged, dict[str, np.ma.MaskedArray[Any, np.dtype[np.float64]]]]:
    """All documents that were judged or retrieved as rows, and the scores of each run."""
    rows = align(runs, qrels, complete=complete)
    return Judged(rows.y, rows.queries, rows.docs), rows.scores
