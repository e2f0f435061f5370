"""Click logs in CSV and Parquet files."""

from __future__ import annotations

from pathlib import Path

from rankwise.clicks.log import ClickLog
from rankwise.errors import DataError, FileFormatError
from rankwise.readers.tables import read_columns_of


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
    try:
        return ClickLog.from_frame(
            table,
            query=query,
            doc=doc,
            position=position,
            clicked=clicked,
            session=session,
            propensity=propensity,
        )
    except DataError as error:
        raise FileFormatError(path, str(error)) from error
