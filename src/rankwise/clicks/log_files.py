"""Files of click logs, whose columns are found by their usual names unless others are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.clicks.log import ClickLog
from rankwise.errors import blaming
from rankwise.readers.arrow_tables import open_table
from rankwise.readers.ubi import load_ubi
from rankwise.rows.frames import as_narwhals, check_present, label_values
from rankwise.types import AnyArray

_USUAL_CLICKED = ("clicked", "clicks", "click")
_JSON = {".json", ".jsonl", ".ndjson"}


def read_click_log(
    path: Path,
    *,
    query: str = "qid",
    doc: str = "doc",
    clicked: str | Mapping[str, float] | None = None,
    position: str | None = None,
    session: str | None = None,
    impressions: str | None = None,
    propensity: str | float | None = None,
) -> ClickLog:
    """Read a click log with the columns of `ClickLog.from_frame`; other columns may hold anything.

    Columns that are None have their usual names, if the log has them; an empty name stands for no column.
    Logs of User Behavior Insights (see `ClickLog.from_ubi`) have the usual names.
    """
    names, read = _open(path, [query, doc, session or "session"])
    if clicked is None:
        clicked = _clicked(names)
    signals = [clicked] if isinstance(clicked, str) else list(clicked)

    def found(name: str | None, usual: str) -> str | None:
        return (usual if usual in names else None) if name is None else name or None

    position = found(position, "position")
    session = found(session, "session") if not impressions else session or None
    impressions = found(impressions, "impressions") if session is None else impressions or None
    with blaming(path):
        known = [propensity] if isinstance(propensity, str) else []
        more = [name for name in (position, session, impressions, *known) if name is not None]
        return ClickLog.from_frame(
            read([query, doc, *signals, *more]),
            query=query,
            doc=doc,
            clicked=clicked,
            position=position,
            session=session,
            impressions=impressions,
            propensity=propensity,
        )


def read_interleaved_log(
    path: Path, *, unit: str = "session", team: str = "team", clicked: str | None = None
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Read the columns of `interleaving_test`; a result without a team has an empty cell."""
    names, read = open_table(path, [unit, team])
    clicked = _clicked(names) if clicked is None else clicked
    with blaming(path):
        table, found = as_narwhals(read([unit, team, clicked]))
        check_present(found, [unit, team, clicked])
        teams = np.array(table.get_column(team).to_list(), dtype=object)
        return label_values(table, unit), teams, label_values(table, clicked)


def _clicked(names: list[str]) -> str:
    """What the column of clicks is usually called, in a log with these columns."""
    return next((name for name in _USUAL_CLICKED if name in names), _USUAL_CLICKED[0])


def _open(path: Path, labels: list[str]) -> tuple[list[str], Callable[[list[str]], Any]]:
    """The names of the columns, and what reads some of them."""
    if not _JSON.intersection(suffix.lower() for suffix in path.suffixes):
        return open_table(path, labels)
    table = load_ubi(path)
    return table.column_names, lambda names: table
