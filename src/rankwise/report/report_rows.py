"""Judged rows as the rankers of a report take them: as numbers, or by the names of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankwise.errors import DataError
from rankwise.rows.documents import rows_by_name
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import Table
from rankwise.trec import Run
from rankwise.types import Reading


def with_numbers(data: RankingData, names: Sequence[str] | None = None) -> RankingData:
    """The rows for models that take numbers: a table becomes a matrix of its columns, or of those named."""
    if not isinstance(data.X, Table):
        return data
    wanted = list(data.X.columns if names is None else names)
    table = data.X.matched(wanted)
    X = np.column_stack([table.read(column, Reading.NUMBER) for column in wanted])
    return replace(data, X=X, features=replace(data.features, names=tuple(wanted)))


def scores_of_run(run: Run, data: RankingData) -> tuple[np.ma.MaskedArray[Any, np.dtype[np.float64]], int]:
    """The scores of a run, masked where it did not retrieve a document, and how many others it did."""
    known, n_unknown = rows_by_name(data), 0
    scores = np.full(data.n_rows, np.nan)
    for qid, docs in run.items():
        for doc, score in docs.items():
            rows = known.get((qid, doc), [])
            scores[rows] = score
            n_unknown += not rows
    if np.isnan(scores).all():
        raise DataError("the run and the data share no document of a query.")
    return np.ma.masked_invalid(scores), n_unknown
