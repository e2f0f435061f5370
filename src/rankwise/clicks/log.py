"""Click logs: which results were shown where, and which of them were clicked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rankwise.clicks.log_checks import (
    check_clicks,
    check_pages,
    check_positions,
    check_propensity,
    check_row_numbers,
)
from rankwise.clicks.position_bias import estimate_position_bias
from rankwise.errors import DataError, blaming, warn_caller
from rankwise.preferences.queries import group_rows
from rankwise.readers.tables import read_columns_of
from rankwise.rows.documents import find_row, rows_by_name
from rankwise.rows.ranking import RankingData
from rankwise.types import AnyArray, Bools, Floats, Ints
from rankwise.validation import check_column


@dataclass(frozen=True, eq=False, repr=False)
class ClickLog:
    """User sessions; every array has one entry per result shown.

    `rows_from_clicks`, `pairs_from_clicks` and `grades_from_clicks` turn a log into training data;
    `click_likelihood` tests whether position bias matters.

    Attributes
    ----------
    session : Ints
        The session in which the result was shown; each session issues one query.
    row : Ints
        The row of the data that was shown or, before `match`, the number of the result.
    position : Ints
        The position at which it was shown, counted from 1.
    clicked : bool array
    propensity : Floats
        The probability, above 0, that a user examines a result at this position.
    qid, docs : array or None
        The query and document label of each result, by number, in a log that has not been matched to data.

    See Also
    --------
    rows_from_clicks : Weighted rows to train on.
    pairs_from_clicks : Preferences to train on.
    make_click_log : Simulate a log.

    Examples
    --------
    >>> from rankwise.clicks import ClickLog
    >>> clicked, look = [0, 1, 1, 0], [1.0, 0.5, 1.0, 0.5]
    >>> ClickLog.from_arrays(["s1", "s1", "s2", "s2"], [3, 5, 5, 3], [1, 2, 1, 2], clicked, look)
    ClickLog(2 sessions, 4 results shown, 2 clicks)
    """

    session: Ints
    row: Ints
    position: Ints
    clicked: Bools
    propensity: Floats
    qid: AnyArray | None = None
    docs: AnyArray | None = None

    @classmethod
    def from_arrays(
        cls,
        session: ArrayLike | Iterable[Hashable],
        row: ArrayLike,
        position: ArrayLike,
        clicked: ArrayLike,
        propensity: ArrayLike | None = None,
    ) -> Self:
        """Build a log from arrays after checking them; each has one entry per result shown.

        Parameters
        ----------
        session : array-like of hashables
            Session labels of any kind.
        row : array-like of int
            The row of the data that was shown, counted from 0.
        position : array-like of int
            The position at which it was shown, counted from 1.
        clicked : array-like of bool, or of 0 and 1
        propensity : array-like or float, optional
            The probability that users examine a result at its position, above 0 and at most 1; with 1, the
            position does not matter. By default it is estimated from rows that were shown at several
            positions.
        """
        rows = check_row_numbers("row", row)
        n = len(rows)
        places = check_positions("position", position, n)
        clicks = check_clicks("clicked", clicked, n)
        sessions = group_rows(check_column("session", session, n), n)
        return cls._checked(sessions.query_of_row(), rows, places, clicks, propensity)

    @classmethod
    def from_frame(
        cls,
        df: Any,
        *,
        query: str,
        doc: str,
        position: str,
        clicked: str,
        session: str,
        propensity: str | float | None = None,
    ) -> Self:
        """Build a log from the columns of a pandas, polars or pyarrow table with one row per result shown.

        Results that were shown but not clicked must be in the table. The rows of the data with their features
        are found by `match`.

        Parameters
        ----------
        df : DataFrame or Table
        query, doc : str
            The columns of query and document labels, of any type.
        position : str
            The column of positions, counted from 1 at the top of the list.
        clicked : str
            The column that says whether the result was clicked, as booleans or 0 and 1.
        session : str
            The column of session labels. A session that issues several queries is split by query; if it
            issues a query twice, each time needs a label of its own.
        propensity : str or float, optional
            As in `from_arrays`, in a column or, for all results, as a number.

        Examples
        --------
        >>> import pandas as pd
        >>> from rankwise import RankingData
        >>> from rankwise.clicks import ClickLog
        >>> shown = pd.DataFrame({"session": [1, 1, 2, 2], "query": "shoes", "doc": ["a", "b", "b", "a"],
        ...                       "position": [1, 2, 1, 2], "clicked": [0, 1, 1, 0]})
        >>> log = ClickLog.from_frame(shown, query="query", doc="doc", position="position",
        ...                           clicked="clicked", session="session")
        >>> data = RankingData.from_arrays([[0.3], [0.7]], y=[0, 0], qid=["shoes"] * 2, docs=["b", "a"])
        >>> log.match(data).row
        array([1, 0, 0, 1])
        """
        from rankwise.rows.frames import click_columns

        columns = click_columns(
            df,
            query=query,
            doc=doc,
            session=session,
            position=position,
            clicked=clicked,
            propensity=propensity,
        )
        n = len(columns.query)
        queries, docs, sessions = (
            group_rows(labels, n) for labels in (columns.query, columns.doc, columns.session)
        )
        query_of_entry, doc_of_entry = queries.query_of_row(), docs.query_of_row()
        results = group_rows(query_of_entry * docs.n_queries + doc_of_entry, n)
        pages = group_rows(sessions.query_of_row() * queries.n_queries + query_of_entry, n)
        log = cls._checked(
            pages.query_of_row(),
            results.query_of_row(),
            check_positions(f"Column {position!r}", columns.position, n),
            check_clicks(f"Column {clicked!r}", columns.clicked, n),
            columns.propensity,
        )
        first = np.unique(results.first_rows())  # results are numbered by first appearance
        return replace(log, qid=columns.query[first], docs=columns.doc[first])

    @classmethod
    def _checked(
        cls, session: Ints, row: Ints, position: Ints, clicked: Bools, propensity: ArrayLike | None
    ) -> Self:
        check_pages(session, row, position)
        return cls(session, row, position, clicked, np.ones(len(row))).with_propensity(propensity)

    @property
    def n_sessions(self) -> int:
        return len(np.unique(self.session))

    def with_propensity(self, propensity: ArrayLike | None = None) -> Self:
        """The same log with other propensities, given as in `from_arrays`; estimated by default."""
        if propensity is None:
            return replace(self, propensity=estimate_position_bias(self.row, self.position, self.clicked))
        return replace(self, propensity=check_propensity(propensity, len(self.row)))

    def match(self, data: RankingData) -> Self:
        """Find the results in data by query and document, and leave out those that it does not contain.

        Labels are compared as text, so the query 7 of a frame is the query "7" of a file. A warning counts
        the results that are left out. Propensities do not change: also results without features tell where
        users look.

        Returns
        -------
        ClickLog
            Its ``row`` counts rows of `data`.
        """
        if self.qid is None or self.docs is None:
            raise DataError("The log refers to rows by number, so there are no labels to match.")
        row_of = rows_by_name(data)
        names = list(zip(map(str, self.qid.tolist()), map(str, self.docs.tolist()), strict=True))
        rows = (find_row(row_of, *name) for name in names)
        found = np.array([-1 if row is None else row for row in rows])
        kept = found[self.row] >= 0
        if not self.clicked[kept].any():
            (query, doc), (other_query, other_doc) = names[0], next(iter(row_of))
            raise DataError(
                "No clicked result is in the data: the log starts with the document "
                f"{doc!r} of the query {query!r}, the data with {other_doc!r} of {other_query!r}."
            )
        if not kept.all():
            warn_caller(
                f"{np.count_nonzero(~kept):,} of {len(kept):,} results shown, and "
                f"{np.count_nonzero(found < 0):,} of {len(found):,} documents, are not in the data; they are "
                "left out."
            )
        return type(self)(
            session=self.session[kept],
            row=found[self.row[kept]],
            position=self.position[kept],
            clicked=self.clicked[kept],
            propensity=self.propensity[kept],
        )

    def __repr__(self) -> str:
        shown = f"{len(self.row):,} results shown"
        return f"ClickLog({self.n_sessions:,} sessions, {shown}, {int(self.clicked.sum()):,} clicks)"


def read_click_log(
    path: Path,
    *,
    query: str,
    doc: str,
    position: str,
    clicked: str,
    session: str,
    propensity: str | float | None = None,
) -> ClickLog:
    """Read a click log with the columns of `ClickLog.from_frame`; other columns may hold anything."""
    labels, known = [query, doc, session], [propensity] if isinstance(propensity, str) else []
    table = read_columns_of(path, [*labels, position, clicked, *known], labels)
    with blaming(path):
        return ClickLog.from_frame(
            table,
            query=query,
            doc=doc,
            position=position,
            clicked=clicked,
            session=session,
            propensity=propensity,
        )
