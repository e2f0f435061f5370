"""Rows by the labels of their query and document."""

from __future__ import annotations

from rankwise.errors import DataError
from rankwise.rows.ranking import RankingData
from rankwise.types import AnyArray
from rankwise.validation import check_kind

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
    found = rows.get((qid, doc), [])
    if len(found) > 1:
        raise DataError(
            f"The query {qid!r} of the data contains the document {doc!r} {len(found)} times; "
            "it must be there once."
        )
    return found[0] if found else None


def names_of(data: RankingData) -> tuple[AnyArray, AnyArray]:
    """The query and document labels of rows that are found, or written, by name."""
    check_kind("data", data, RankingData)
    if data.qid is None or data.docs is None:
        missing = "query" if data.qid is None else "document"
        raise DataError(f"Rows are identified by query and document, but the data has no {missing} labels.")
    return data.qid, data.docs
