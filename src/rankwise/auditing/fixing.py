"""The harmless repairs of a table: rows that cannot be learned, values that are none, columns without use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.auditing.faults import Fault, Repair
from rankwise.auditing.raw_table import RawTable
from rankwise.rendering import counted
from rankwise.types import Bools


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
        said.append(f"Left out, as asked: {', '.join(map(repr, unused))}.")
    for fault in faults:
        if fault.repair is Repair.DROP_ROWS:
            n_before = int(kept.sum())
            kept[fault.rows] = False
            n_dropped = n_before - int(kept.sum())
            said.append(f"Dropped {counted(n_dropped, 'row')} ({fault.kind}).")
        elif fault.repair is Repair.BLANK and fault.column is not None:
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
    numbers, _ = table.column(fault.column).numbers_among()
    return pa.array(numbers, mask=np.isnan(numbers))


def _about(fault: Fault) -> str:
    if not len(fault.rows):
        return f"Read the text in {fault.column!r} as numbers."
    return f"Made {counted(len(fault.rows), 'value')} of {fault.column!r} missing ({fault.kind})."
