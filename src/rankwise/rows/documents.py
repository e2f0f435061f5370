"""Rows by the labels of their query and document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from rankwise.errors import DataError, warn_caller
from rankwise.rows.ranking import RankingData
from rankwise.types import AnyArray
from rankwise.validation import check_kind

Number = TypeVar("Number", int, float)

# The rows with each pair of query and document label, as text: files have no other type.
RowsByName = dict[tuple[str, str], list[int]]


def rows_by_name(data: RankingData) -> RowsByName:
    """The rows of each query and document label; usually one."""
    rows: RowsByName = {}
    queries, docs = names_of(data)
    for row, (qid, doc) in enumerate(zip(queries.tolist(), docs.tolist(), strict=True)):
        rows.setdefault((str(qid), str(doc)), []).append(row)
    return rows


def find_row(rows: RowsByName, qid: str, doc: str) -> int | None:
    """The row of a query and document, if there is one; several are an error."""
    found = rows.get((qid, doc), ())
    if len(found) > 1:
        raise DataError(
            f"The query {qid!r} of the data contains the document {doc!r} {len(found)} times; expected once."
        )
    return found[0] if found else None


def row_named(rows: RowsByName, qid: str, doc: str) -> int:
    """The row of a query and document, which must exist."""
    row = find_row(rows, qid, doc)
    if row is None:
        raise DataError(f"the query {qid!r} of the data has no document {doc!r}.")
    return row


def warn_of_unknown(unknown: Sequence[tuple[str, str]], n_known: int) -> None:
    """Count judgments of queries and documents that the data lacks; if it lacks all, that is an error."""
    if not unknown:
        return
    qid, doc = unknown[0]
    first = f"the first: query {qid!r}, document {doc!r}"
    if not n_known:
        raise DataError(f"None of the {len(unknown):,} judgments names a document of the data ({first}).")
    warn_caller(
        f"{len(unknown):,} of {len(unknown) + n_known:,} judgments name documents that the data lacks, and "
        f"are left out ({first})."
    )


def values_by_name(data: RankingData, values: list[Number]) -> dict[str, dict[str, Number]]:
    """The value of each row, by query and document; without queries, all rows belong to the query "1"."""
    if data.qid is None:
        data = replace(data, qid=np.ones(data.n_rows, dtype=np.int64))
    rows = rows_by_name(data)
    named: dict[str, dict[str, Number]] = {}
    for qid, doc in rows:
        named.setdefault(qid, {})[doc] = values[row_named(rows, qid, doc)]
    return named


def names_of(data: RankingData) -> tuple[AnyArray, AnyArray]:
    """The query and document labels of rows that are found, or written, by name."""
    check_kind("data", data, RankingData)
    if data.qid is None or data.docs is None:
        missing = "query" if data.qid is None else "document"
        raise DataError(f"Rows are matched by query and document, but the data has no {missing} labels.")
    return data.qid, data.docs
