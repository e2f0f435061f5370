"""Faults of a table: what is wrong with it, what training makes of it, and which repairs do no harm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from rankwise.auditing.raw_table import RawTable
from rankwise.columns.odd_words import as_dates, dates_among_text
from rankwise.rendering import counted
from rankwise.types import Bools, Ints, Reading

# Examples of each fault that are shown.
EXAMPLES = 3


class Severity(StrEnum):
    """How bad a fault is."""

    MUST_FIX = "must fix"
    LOOK = "look"
    NOTE = "note"


class Repair(StrEnum):
    """What ``rankwise audit --fix`` does about a fault."""

    DROP_ROWS = "rows dropped"
    BLANK = "values made missing"
    READ = "text read as numbers"
    DROP_COLUMN = "column dropped"


@dataclass(frozen=True)
class Fault:
    """Something that is wrong with a table, or that its owner should know before training.

    Attributes
    ----------
    kind : str
        The name of the check, such as ``"missing labels"``.
    severity : Severity
    column : str or None
        The column it is about; None if it is about rows or queries.
    count : int
        How many rows, values or queries have it.
    found, training, remedy : str
        Sentences: what it is, what training makes of it, and the option that handles it.
    examples : tuple of str
    repair : Repair or None
        What fixing does; None if only the owner of the table can tell what is right.
    rows : Ints
        The rows that a repair concerns.
    """

    kind: str
    severity: Severity
    column: str | None
    count: int
    found: str
    training: str
    remedy: str
    examples: tuple[str, ...] = ()
    repair: Repair | None = None
    rows: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings, without the rows."""
        return {name: value for name, value in asdict(self).items() if name != "rows"}

    def __str__(self) -> str:
        shown = f" ({', '.join(self.examples)})" if self.examples else ""
        return " ".join(filter(None, [f"{self.found}{shown}.", self.training, self.remedy]))


def in_order(faults: Sequence[Fault]) -> list[Fault]:
    """The worst first; those of the same severity as they were found."""
    order = list(Severity)
    return sorted(faults, key=lambda fault: order.index(fault.severity))


def rows_shown(rows: Ints) -> tuple[str, ...]:
    """The first rows, counting from 0."""
    return tuple(f"row {row}" for row in rows[:EXAMPLES].tolist())


def fixed(arrow: Any, table: RawTable, faults: Sequence[Fault]) -> tuple[Any, list[str]]:
    """An arrow table with the repairs of the faults, and a sentence for each.

    Columns that the audit was told to leave out are left out of the result, too.
    """
    import pyarrow as pa

    kept: Bools = np.ones(table.n_rows, dtype=bool)
    said, dropped = [], {fault.column for fault in faults if fault.repair is Repair.DROP_COLUMN}
    roles = [name for name in (table.label, table.qid, table.doc) if name is not None]
    unused = [name for name in arrow.column_names if name not in {*roles, *table.names}]
    if unused:
        said.append(f"Excluded, as requested: {', '.join(map(repr, unused))}.")
    for fault in faults:
        if fault.repair is Repair.DROP_ROWS:
            n_before = int(kept.sum())
            kept[fault.rows] = False
            n_dropped = n_before - int(kept.sum())
            said.append(f"Dropped {counted(n_dropped, 'row')} ({fault.kind}).")
        elif fault.repair in (Repair.BLANK, Repair.READ) and fault.column is not None:
            place = arrow.column_names.index(fault.column)
            if fault.column not in dropped:
                repaired = _blanked(arrow, table, fault)
                arrow = arrow.set_column(place, fault.column, repaired)
                said.append(_about(fault))
        elif fault.repair is Repair.DROP_COLUMN:
            said.append(f"Dropped the column {fault.column!r} ({fault.kind}).")
    names = [
        name for name in arrow.column_names if name in roles or (name in table.names and name not in dropped)
    ]
    return arrow.select(names).filter(pa.array(kept)), said


def _blanked(arrow: Any, table: RawTable, fault: Fault) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    assert fault.column is not None
    column = arrow.column(fault.column)
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind):
        wrong = np.zeros(table.n_rows, dtype=bool)
        wrong[fault.rows] = True
        return compute.if_else(pa.array(wrong), pa.scalar(None, kind), column)
    values = table.column(fault.column)
    dates = dates_among_text(values) if values.reading is Reading.TEXT else None
    if dates is not None:
        times = as_dates(values, fault.column, dates)
        days = times.astype("datetime64[D]")
        return pa.array(days if (days == times)[dates].all() else times)
    numbers, _ = values.numbers_among()
    return pa.array(numbers, mask=np.isnan(numbers))


def _about(fault: Fault) -> str:
    if fault.repair is Repair.READ:
        return f"Read the text in {fault.column!r} as numbers."
    return f"Made {counted(len(fault.rows), 'value')} of {fault.column!r} missing ({fault.kind})."
