"""All faults of a table, found in one pass over its columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwise.auditing.column_faults import ColumnFacts, look_at
from rankwise.auditing.faults import EXAMPLES, Fault, Repair, Severity, in_order, rows_shown
from rankwise.auditing.judged_faults import judgment_faults, label_faults, query_faults
from rankwise.auditing.leaks import REVEALS, Sample, leak_faults, readable
from rankwise.auditing.raw_table import RawTable, UsableRows
from rankwise.columns.context import constant_in_first_queries, is_context
from rankwise.long_tasks import step
from rankwise.preferences.digests import mixed
from rankwise.rendering import counted
from rankwise.rows.column import Column
from rankwise.types import Floats, Ints

# Queries in which a column must be constant before all of them are looked at.
FIRST_QUERIES = 50
# A column with this share of different values tells rows apart, so that equal rows are the same row twice.
TELLS_ROWS_APART = 0.5

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class TableAudit:
    """What is wrong with a table, the worst first.

    Attributes
    ----------
    faults : list of Fault
    n_rows : int
    n_queries : int or None
        Of the rows that can be learned; None without queries.
    needs_encoding : dict of str to str
        The columns that `columns` must encode, and why.
    """

    faults: list[Fault]
    n_rows: int
    n_queries: int | None
    needs_encoding: dict[str, str]

    @property
    def must_fix(self) -> list[Fault]:
        """What training stops at, or what would make it worthless."""
        return [fault for fault in self.faults if fault.severity is Severity.MUST_FIX]


def audit_table(table: RawTable, *, reveals: float = REVEALS) -> TableAudit:
    """Find the faults of a table; O(m log m) for each column, of which one is in memory at a time.

    Parameters
    ----------
    table : RawTable
    reveals : float
        The share of pairs that a column orders if it gives the label away.
    """
    y, faults = label_faults(table.column(table.label), table.label)
    qid = None if table.qid is None else table.column(table.qid)
    if qid is not None and table.qid is not None:
        faults += query_faults(qid, table.qid)
    judged = UsableRows.of(y, qid)
    faults += judgment_faults(judged, named=table.named)
    hashes, twice = no_hashes(table.n_rows), np.empty(0, dtype=np.int64)
    if qid is not None:
        add_column(hashes, qid)
    if table.doc is not None:
        doc = table.column(table.doc)
        add_column(hashes, doc)
        twice = _again(hashes)
    looked = _Looked(table, judged, hashes, {}, {}, [])
    for place, name in enumerate(table.names):
        step(name, done=place / len(table.names))
        looked.at(name, table.column(name))
    for facts in looked.facts.values():
        faults += facts.faults
    tells_apart = table.doc is not None or any(
        facts.distinct >= TELLS_ROWS_APART for facts in looked.facts.values()
    )
    alike = list(equal_rows(hashes, y, same_row=tells_apart, named=table.named)) if table.names else []
    faults += alike
    if table.doc is not None:
        others = np.setdiff1d(twice, np.concatenate([twice[:0], *(fault.rows for fault in alike)]))
        faults += _documents_twice(others, table.doc)
    faults += leak_faults(looked.ordered, reveals, named=table.named)
    needs = {name: facts.needs_encoding for name, facts in looked.facts.items() if facts.needs_encoding}
    faults += [*_encoded(needs), *_context(looked.context)]
    n_queries = None if qid is None else judged.queries.n_queries
    return TableAudit(in_order(faults), table.n_rows, n_queries, needs)


@dataclass
class _Looked:
    """What was found in the columns so far."""

    table: RawTable
    judged: UsableRows
    hashes: Hashes
    facts: dict[str, ColumnFacts]
    ordered: dict[str, float]
    context: list[str]

    def __post_init__(self) -> None:
        self.sample = Sample.of(self.judged) if len(self.judged.y) else None

    def at(self, name: str, column: Column) -> None:
        facts = self.facts[name] = look_at(column, name, named=self.table.named)
        add_column(self.hashes, column)
        if self.sample is not None and readable(column) and not column.missing().all():
            self.ordered[name] = self.sample.ordered(column[self.sample.rows])
        is_constant = any(fault.kind in ("constant", "all missing") for fault in facts.faults)
        if self.judged.queries.labels is not None and not is_constant and self._is_context(column):
            self.context.append(name)

    def _is_context(self, column: Column) -> bool:
        rows, queries = self.judged.rows, self.judged.queries
        values = column.values if len(rows) == self.table.n_rows else column.values[rows]
        first = min(FIRST_QUERIES, queries.n_queries)
        if not first or not constant_in_first_queries(values, queries, first):
            return False
        return is_context(values, queries)


def _documents_twice(again: Ints, doc: str) -> Iterator[Fault]:
    """Rows of documents that an earlier row of the query has, which differ from it."""
    if len(again):
        yield Fault(
            "documents twice in a query",
            Severity.LOOK,
            doc,
            len(again),
            f"{counted(len(again), 'row')} of a document that its query already has, with other values",
            "Training treats them as different documents.",
            "",
            rows_shown(again),
        )


def equal_rows(hashes: Hashes, y: Floats, *, same_row: bool, named: bool = True) -> Iterator[Fault]:
    """Rows that equal an earlier one of their query, with the same label and with another one."""
    again = _again(hashes)
    if not len(again):
        return
    order = np.argsort(hashes, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(hashes[order]) != 0]))
    group = np.empty(len(y), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(y))))
    first = order[starts][group]
    same = (y[again] == y[first[again]]) | (np.isnan(y[again]) & np.isnan(y[first[again]]))
    exact, other = again[same], again[~same]
    if len(exact):
        yield Fault(
            "duplicate rows",
            Severity.NOTE,
            None,
            len(exact),
            f"{counted(len(exact), 'row equals', 'rows equal')} an earlier row of the query, label and all",
            "Training counts them again.",
            ""
            if same_row or not named
            else "If they are the same documents, name the column of documents with --doc.",
            _pairs_shown(exact, first),
            Repair.DROP_ROWS if same_row else None,
            exact,
        )
    judged = other[~(np.isnan(y[other]) | np.isnan(y[first[other]]))]
    if len(judged):
        yield Fault(
            "contradictory duplicates",
            Severity.LOOK,
            None,
            len(judged),
            f"{counted(len(judged), 'row equals', 'rows equal')} an earlier row of the query in all but the "
            "label",
            "No model can learn both labels; training finds a compromise.",
            "",
            _pairs_shown(judged, first),
        )


def _again(hashes: Hashes) -> Ints:
    """The rows that are not the first ones with their hash."""
    order = np.argsort(hashes, kind="stable")
    return np.sort(order[1:][hashes[order[1:]] == hashes[order[:-1]]])


def _pairs_shown(rows: Ints, first: Ints) -> tuple[str, ...]:
    return tuple(f"rows {first[row]} and {row}" for row in rows[:EXAMPLES].tolist())


def _encoded(needs: dict[str, str]) -> Iterator[Fault]:
    if needs:
        yield Fault(
            "columns to encode",
            Severity.NOTE,
            None,
            len(needs),
            f"{counted(len(needs), 'column is', 'columns are')} not plain numbers",
            "Training stops, unless columns are encoded.",
            "Train with --columns auto.",
            tuple(f"{name}: {why}" for name, why in list(needs.items())[: 2 * EXAMPLES]),
        )


def _context(names: list[str]) -> Iterator[Fault]:
    if names:
        yield Fault(
            "context columns",
            Severity.NOTE,
            None,
            len(names),
            f"{counted(len(names), 'column is', 'columns are')} constant in each query",
            "On its own, such a column changes no order.",
            "--interactions auto searches for columns with which it matters.",
            tuple(names[: 2 * EXAMPLES]),
        )


def no_hashes(n_rows: int) -> Hashes:
    """The hashes of rows without columns."""
    return np.zeros(n_rows, dtype=np.uint64)


def add_column(hashes: Hashes, column: Column) -> None:
    """Let a column change the hashes of its rows, in place; different rows collide by a chance of 2⁻⁶⁴."""
    values = column.values
    if values.dtype.kind == "O":
        own = np.fromiter(map(hash, map(_plain, values.tolist())), dtype=np.int64, count=len(values))
        bits = own.view(np.uint64)
    elif values.dtype.kind == "M":
        bits = values.view(np.uint64)
    else:
        positive = values + 0.0  # -0.0 equals 0.0
        positive[np.isnan(positive)] = np.nan  # whatever its bits
        bits = positive.view(np.uint64)
    hashes *= np.uint64(31)
    hashes += bits
    hashes[:] = mixed(hashes)


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | None) else str(value)
