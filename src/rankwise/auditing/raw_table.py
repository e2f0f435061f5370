"""A table as an audit reads it: one column at a time, whatever the columns hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.mapped import is_on_disk
from rankwise.preferences.queries import Queries, group_rows
from rankwise.rows.column import Column, column_of_numbers, column_of_objects
from rankwise.rows.frames import check_present
from rankwise.rows.ranking import RankingData
from rankwise.rows.series import columns_of_frame
from rankwise.rows.table import Table
from rankwise.types import AnyArray, Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns of which nothing is known to be right.

    Attributes
    ----------
    names : list of str
        The columns that training would use.
    n_rows : int
    column : callable
        Reads the column with a name; label, query and document columns, too.
    label, qid, doc : str or None
        The columns with these roles; without `qid`, all rows are one ranking.
    named : bool
        Whether options can name columns: those of tables, but not those of text and stores.
    """

    names: list[str]
    n_rows: int
    column: Callable[[str], Column]
    label: str
    qid: str | None = None
    doc: str | None = None
    named: bool = True

    @classmethod
    def of_columns(
        cls,
        names: Sequence[str],
        n_rows: int,
        column: Callable[[str], Column],
        *,
        label: str,
        qid: str | None,
        doc: str | None = None,
        features: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
    ) -> RawTable:
        """The columns of a table, of which some are features."""
        reserved = [name for name in (label, qid, doc) if name is not None]
        check_present(list(names), [*reserved, *(features or ()), *(exclude or ())])
        left_out = {*reserved, *(exclude or ())}
        chosen = [name for name in names if name not in left_out] if features is None else list(features)
        return cls(chosen, n_rows, column, label, qid, doc)

    @classmethod
    def of_frame(cls, frame: Any, **roles: Any) -> RawTable:
        """A pandas, polars or pyarrow table; `roles` as in `of_columns`."""
        names, column = columns_of_frame(frame)
        return cls.of_columns(names, len(frame), column, **roles)

    @classmethod
    def of_data(cls, data: RankingData) -> RawTable:
        """Rows that were read without a fault, whose columns are a table's or those of a matrix.

        Those of a sparse matrix are not looked at one by one: there may be many more of them than rows.
        """
        X, (label, qid, doc) = data.X, ("the label", "the query", "the document")
        own = {label: column_of_numbers(data.y)}
        own |= {name: _named(of) for name, of in ((qid, data.qid), (doc, data.docs)) if of is not None}
        if isinstance(X, Table):
            names, read = list(X.columns), X.columns.__getitem__
        elif isinstance(X, np.ndarray):
            place = {data.features.label(j): j for j in range(X.shape[1])}
            names, read = list(place), lambda name: column_of_numbers(X[:, place[name]])
        else:
            names, read = [], own.__getitem__
        return cls(
            names,
            data.n_rows,
            lambda name: own[name] if name in own else read(name),
            label,
            qid if data.has_queries else None,
            doc if data.docs is not None else None,
            named=isinstance(X, Table) or (data.features.names is not None and not is_on_disk(X)),
        )


def _named(labels: AnyArray) -> Column:
    """What queries or documents are called."""
    return column_of_objects(labels.tolist()) if labels.dtype.kind in "OUS" else column_of_numbers(labels)


@dataclass(frozen=True, eq=False)
class UsableRows:
    """The rows of a table that can be learned: those with a finite label and a query.

    Attributes
    ----------
    rows : Ints
    y : Floats, shape (len(rows),)
    queries : Queries
        Of these rows.
    """

    rows: Ints
    y: Floats
    queries: Queries

    @classmethod
    def of(cls, y: Floats, qid: Column | None) -> UsableRows:
        usable: Bools = np.isfinite(y)
        if qid is not None:
            usable &= ~qid.missing()
        rows = np.flatnonzero(usable)
        labels = None if qid is None else qid.values[rows]
        return cls(rows, y[rows], group_rows(labels, len(rows)))
