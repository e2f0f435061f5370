"""Click logs: which results were shown where, and which of them were clicked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rankwise.clicks.log_checks import (
    check_counts,
    check_flags,
    check_pages,
    check_positions,
    check_propensity,
    check_row_numbers,
    check_varied,
)
from rankwise.clicks.log_columns import LogColumns, log_arrays
from rankwise.clicks.position_bias import estimate_position_bias
from rankwise.errors import DataError, blaming, warn_caller
from rankwise.files import as_path
from rankwise.preferences.queries import group_rows
from rankwise.readers.ubi import load_ubi
from rankwise.rows.documents import find_row, rows_by_name
from rankwise.rows.frames import as_narwhals
from rankwise.rows.ranking import RankingData
from rankwise.types import AnyArray, Bools, Floats, Ints
from rankwise.validation import check_column


@dataclass(frozen=True, eq=False, repr=False)
class ClickLog:
    """A click log: what users were shown and what they clicked, with one entry per result shown.

    In a log of *counts*, an entry stands for all the times that a result was shown at a position.
    `rows_from_clicks`, `pairs_from_clicks` and `grades_from_clicks` turn a log into training data;
    `click_likelihood` tests whether position bias matters.

    Attributes
    ----------
    session : Ints
        The session in which the result was shown; each session issues one query. In a log of counts, the
        query.
    row : Ints
        The row of the data that was shown or, before `match`, the number of the result.
    position : Ints
        The position at which it was shown, counted from 1.
    clicked : bool array, or Floats
        Whether it was clicked or, in a log of counts, how often.
    propensity : Floats
        The probability, above 0, that a user examines a result at this position.
    qid, docs : array or None
        The query and document label of each result, by number, in a log that has not been matched to data.
    shown : Floats or None
        How often the result was shown, in a log of counts; None in a log of sessions.
    value, square : Floats or None
        With several signals, the sums of their weights and of the squares of their weights; `clicked` is then
        the most frequent signal, from which the propensities are estimated.

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
    clicked: Bools | Floats
    propensity: Floats
    qid: AnyArray | None = None
    docs: AnyArray | None = None
    shown: Floats | None = None
    value: Floats | None = None
    square: Floats | None = None

    @classmethod
    def from_arrays(
        cls,
        session: ArrayLike | Iterable[Hashable],
        row: ArrayLike,
        position: ArrayLike,
        clicked: ArrayLike,
        propensity: ArrayLike | None = None,
        *,
        shown: ArrayLike | None = None,
    ) -> Self:
        """Build a log from arrays after checking them; each has one entry per result shown.

        Parameters
        ----------
        session : array-like of hashables
            Session labels of any kind; with `shown`, query labels.
        row : array-like of int
            The row of the data that was shown, counted from 0.
        position : array-like of int
            The position at which it was shown, counted from 1.
        clicked : array-like of bool, or of 0 and 1
            Whether the result was clicked.
        propensity : array-like or float, optional
            The probability that users examine a result at its position, above 0 and at most 1; with 1, the
            position does not matter. By default it is estimated from rows that were shown at several
            positions.
        shown : array-like of int, optional
            How often it was shown; `clicked` then counts clicks. Entries may repeat.
        """
        rows = check_row_numbers("row", row)
        n = len(rows)
        places = check_positions("position", position, n)
        times = None if shown is None else check_counts("shown", shown, n)
        clicks = check_flags("clicked", clicked, n) if times is None else check_counts("clicked", clicked, n)
        if times is not None and ((clicks > times).any() or not times.all()):
            raise DataError("shown must be at least 1 and at least clicked.")
        check_varied("clicked", clicks, times)
        sessions = group_rows(check_column("session", session, n), n, "session").query_of_row()
        return cls(sessions, rows, places, clicks, np.ones(n), shown=times)._checked(propensity)

    @classmethod
    def from_frame(
        cls,
        df: Any,
        *,
        query: str,
        doc: str,
        clicked: str | Mapping[str, float],
        position: str | None = None,
        session: str | None = None,
        impressions: str | None = None,
        propensity: str | float | None = None,
    ) -> Self:
        """Build a log from the columns of a pandas, polars or pyarrow table.

        Results that were shown but not clicked must be in the table. The rows of the data with their features
        are found by `match`. Without `session`, the log is one of counts.

        Parameters
        ----------
        df : DataFrame or Table
            One row per result shown. With `impressions`, counts of a result may be split over several rows,
            for example by position or day.
        query, doc : str
            The columns of query and document labels, of any type.
        clicked : str or dict of str to float
            The column of clicks, as booleans or 0 and 1; with `impressions`, the number of clicks. Several
            signals are given with their weights, as in ``{"clicks": 1, "purchases": 10}``.
        position : str, optional
            The column of positions, counted from 1 at the top of the list. Without it, there is no correction
            for the position.
        session : str, optional
            The column of session labels. A session with several queries is split by query; if it issues the
            same query twice, each time needs its own label. Pairs need sessions.
        impressions : str, optional
            The column with the number of times that the result was shown.
        propensity : str or float, optional
            As in `from_arrays`: the name of a column, or one number for all results.

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
        >>> counts = pd.DataFrame({"query": "shoes", "doc": ["a", "b"], "shown": [50, 40], "clicks": [3, 8]})
        >>> ClickLog.from_frame(counts, query="query", doc="doc", impressions="shown", clicked="clicks")
        ClickLog(counts of 1 queries, 90 results shown, 11 clicks)
        """
        table, names = as_narwhals(df)
        columns = LogColumns(query, doc, clicked, position, session, impressions)
        arrays, look = log_arrays(table, names, columns, propensity)
        return cls(**vars(arrays), propensity=np.ones(len(arrays.row)))._checked(look)

    @classmethod
    def from_ubi(
        cls,
        path: str | PathLike[str],
        *,
        clicked: str | Mapping[str, float] = "click",
        propensity: float | None = None,
    ) -> Self:
        """Read queries and events logged by OpenSearch's User Behavior Insights.

        Every issued query counts as a session. The results shown are those of its impression events or, if it
        has none, those that the engine returned (``query_response_hit_ids``), plus those that were clicked.
        Queries are identified by their text, documents by their ``object_id``.

        Parameters
        ----------
        path : path
            JSON with one object per line, as exported or as in a bulk request; queries and events may be in
            any order. ``.gz``, ``.bz2`` and ``.xz`` are decompressed.
        clicked : str or dict of str to float, default="click"
            The actions that count as clicks, by ``action_name``, as in ``{"click": 1, "purchase": 10}``.
        propensity : float, optional
            As in `from_arrays`.
        """
        path = as_path(path)
        with blaming(path):
            return cls.from_frame(
                load_ubi(path),
                query="qid",
                doc="doc",
                clicked=clicked,
                position="position",
                session="session",
                propensity=propensity,
            )

    def _checked(self, propensity: ArrayLike | None) -> Self:
        if self.shown is None:
            check_pages(self.session, self.row, self.position)
        return self.with_propensity(propensity)

    def times(self) -> Floats:
        """How often each entry was shown."""
        return np.ones(len(self.row)) if self.shown is None else self.shown

    def values(self) -> tuple[Floats, Floats]:
        """The sum of the weights of each entry's signals, and the sum of their squares."""
        if self.value is not None and self.square is not None:
            return self.value, self.square
        clicks = self.clicked.astype(np.float64)
        return clicks, clicks

    @property
    def n_sessions(self) -> int:
        return len(np.unique(self.session))

    def with_propensity(self, propensity: ArrayLike | None = None) -> Self:
        """The same log with other propensities, given as in `from_arrays`; estimated by default."""
        if propensity is None:
            look = estimate_position_bias(self.row, self.position, self.clicked, self.shown)
            return replace(self, propensity=look)
        return replace(self, propensity=check_propensity(propensity, len(self.row)))

    def match(self, data: RankingData) -> Self:
        """Find the results in data by query and document, and drop those that it does not contain.

        Labels are compared as text, so the query 7 of a frame is the query "7" of a file. A warning says how
        many results were dropped. Propensities do not change, because results without features also show
        where users look.

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
            times = self.times()
            warn_caller(
                f"{times[~kept].sum():,.0f} of {times.sum():,.0f} results shown, and "
                f"{np.count_nonzero(found < 0):,} of {len(found):,} documents, are not in the data; they are "
                "left out."
            )
        parts = {
            field.name: values[kept]
            for field in fields(self)
            if field.name not in ("qid", "docs") and (values := getattr(self, field.name)) is not None
        }
        return type(self)(**{**parts, "row": found[self.row[kept]]})

    def __repr__(self) -> str:
        unit, of = ("sessions", "") if self.shown is None else ("queries", "counts of ")
        shown, clicks = float(self.times().sum()), float(self.clicked.sum())
        return f"ClickLog({of}{self.n_sessions:,} {unit}, {shown:,.0f} results shown, {clicks:,.0f} clicks)"
