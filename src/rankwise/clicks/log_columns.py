"""The columns of a click log: how they are called, and their values as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.clicks.log_checks import are_averages, check_counts, check_flags, check_positions, check_varied
from rankwise.errors import DataError, ParameterError, warn_caller
from rankwise.preferences.queries import group_rows
from rankwise.rows.frames import check_present, label_values, number_values
from rankwise.types import AnyArray, Floats, Ints
from rankwise.validation import check_number


@dataclass(frozen=True)
class LogColumns:
    """What the columns of a click log are called; None for a column that the log lacks.

    Attributes
    ----------
    query, doc : str
    clicked : str or dict of str to float
        The column of clicks, or those of several signals with the weight of each.
    position, session, impressions : str or None
        Without sessions, or with impressions, the log is one of counts.
    """

    query: str
    doc: str
    clicked: str | Mapping[str, float]
    position: str | None = None
    session: str | None = None
    impressions: str | None = None

    @property
    def signals(self) -> dict[str, float]:
        """The columns of what users did, with their weights."""
        clicked = {self.clicked: 1.0} if isinstance(self.clicked, str) else self.clicked
        if not isinstance(clicked, Mapping) or not clicked:
            raise ParameterError(
                "The 'clicked' parameter must be a column, or a dictionary of columns and their weights; got "
                f"{self.clicked!r}."
            )
        return {
            name: check_number(f"clicked[{name!r}]", weight, minimum=0.0, exclusive=True)
            for name, weight in clicked.items()
        }

    @property
    def names(self) -> list[str]:
        """All of them."""
        more = (self.position, self.session, self.impressions)
        return [self.query, self.doc, *self.signals, *(name for name in more if name is not None)]


@dataclass(frozen=True)
class LogArrays:
    """The lines of a log as arrays, called as in `ClickLog`."""

    session: Ints
    row: Ints
    position: Ints
    clicked: AnyArray
    shown: Floats | None
    value: Floats | None
    square: Floats | None
    qid: AnyArray
    docs: AnyArray


def log_arrays(
    table: Any, names: list[str], columns: LogColumns, propensity: str | float | None
) -> tuple[LogArrays, AnyArray | float | None]:
    """Check the columns of a narwhals frame, and number its results and sessions; the propensities, too."""
    check_present(names, [*columns.names, *([propensity] if isinstance(propensity, str) else [])])
    if columns.session is not None and columns.impressions is not None:
        raise ParameterError(
            f"A log has either sessions or counts of impressions, not both: {columns.session!r} and "
            f"{columns.impressions!r}."
        )
    table, shown, counts = _actions(table, columns)
    n, weights = len(table), columns.signals
    query, doc = label_values(table, columns.query), label_values(table, columns.doc)
    queries, docs = group_rows(query, n), group_rows(doc, n)
    session = query_of_entry = queries.query_of_row()
    results = group_rows(query_of_entry * docs.n_queries + docs.query_of_row(), n)
    if columns.session is not None:
        sessions = group_rows(label_values(table, columns.session), n)
        session = group_rows(sessions.query_of_row() * queries.n_queries + query_of_entry, n).query_of_row()
    most = max(counts, key=lambda name: float(counts[name].sum()))
    check_varied(f"Column {most!r}", counts[most], shown)
    several = len(weights) > 1
    first = np.unique(results.first_rows())  # results are numbered by first appearance
    arrays = LogArrays(
        session=session,
        row=results.query_of_row(),
        position=_positions(table, columns, n),
        clicked=counts[most],
        shown=shown,
        value=np.sum([w * counts[name] for name, w in weights.items()], axis=0) if several else None,
        square=np.sum([w * w * counts[name] for name, w in weights.items()], axis=0) if several else None,
        qid=query[first],
        docs=doc[first],
    )
    return arrays, number_values(table, propensity) if isinstance(propensity, str) else propensity


def _actions(table: Any, columns: LogColumns) -> tuple[Any, Floats | None, dict[str, AnyArray]]:
    """The rows of a frame that were shown, how often, and what users did; what was clicked was shown."""
    n = len(table)
    counts: dict[str, AnyArray] = {name: label_values(table, name) for name in columns.signals}
    if columns.impressions is None:
        flags: dict[str, AnyArray] = {
            name: check_flags(f"Column {name!r}", values, n) for name, values in counts.items()
        }
        return table, None if columns.session is not None else np.ones(n), flags
    shown = check_counts(f"Column {columns.impressions!r}", label_values(table, columns.impressions), n)
    for name, given in counts.items():
        counts[name] = values = check_counts(f"Column {name!r}", given, n)
        if values.sum() > shown.sum():
            raise DataError(
                f"Column {name!r} counts {values.sum():,.0f} in all, more than the {shown.sum():,.0f} "
                f"impressions of column {columns.impressions!r}; are they mixed up?"
            )
        over = values > shown
        if over.any():
            warn_caller(
                f"Column {name!r} counts more than the impressions in {np.count_nonzero(over):,} of {n:,} "
                "rows; as many impressions as clicks are assumed there."
            )
            shown = np.maximum(shown, values)
    kept = np.flatnonzero(shown)
    if len(kept) == n:
        return table, shown, counts
    return table[kept], shown[kept], {name: values[kept] for name, values in counts.items()}


def _positions(table: Any, columns: LogColumns, n: int) -> Ints:
    """The position of each line; without a column, all are at the top."""
    if columns.position is None:
        return np.ones(n, dtype=np.int64)
    name, values = f"Column {columns.position!r}", label_values(table, columns.position)
    if columns.impressions is not None and are_averages(values):
        raise DataError(
            f"{name} holds averages of positions, which do not say where users looked; leave the "
            "column out, so that clicks are not corrected for the position."
        )
    return check_positions(name, values, n)
