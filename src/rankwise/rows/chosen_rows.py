"""Which rows to take: those with certain numbers, those of certain queries, or some at random."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from rankwise.errors import DataError, ParameterError
from rankwise.preferences.queries import Queries
from rankwise.types import Ints, RandomSource
from rankwise.validation import check_number, check_random_state


def row_numbers(rows: Any, n_rows: int) -> Ints:
    """The rows that a slice, a mask or row numbers choose, in this order."""
    if isinstance(rows, slice):
        return np.arange(n_rows)[rows]
    array = np.asarray(rows)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "biu"):
        raise ParameterError("The 'rows' parameter must be a slice, a mask or a list of row numbers.")
    if array.dtype.kind == "b":
        if len(array) != n_rows:
            raise ParameterError(f"The mask 'rows' must have one entry per row: {n_rows}; got {len(array)}.")
        return np.flatnonzero(array)
    outside = (array < -n_rows) | (array >= n_rows)
    if outside.any():
        row = array[outside.argmax()]
        raise ParameterError(f"The 'rows' parameter contains row {row}, but the data has {n_rows} rows.")
    return array.astype(np.int64) % n_rows


def rows_of_queries(queries: Queries, labels: Iterable[Hashable]) -> Ints:
    """The rows of the queries with these labels, in ascending order."""
    if queries.labels is None:
        raise DataError("The data has no queries to select: it was created without qid.")
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
        raise ParameterError(f"The 'queries' parameter must be a collection of labels; got {labels!r}.")
    position = {label: q for q, label in enumerate(queries.labels.tolist())}
    wanted = np.zeros(queries.n_queries, dtype=bool)
    for label in labels:
        if not isinstance(label, Hashable) or label not in position:
            raise DataError(f"The data has no query {label!r}.")
        wanted[position[label]] = True
    return np.flatnonzero(wanted[queries.query_of_row()])


def rows_at_random(queries: Queries, fraction: float, random_state: RandomSource) -> tuple[Ints, Ints]:
    """The rows of a random fraction of the queries, or of the rows of one ranking; and the others."""
    fraction = check_number("fraction", fraction, minimum=0.0, maximum=1.0, exclusive=True)
    by_row = queries.labels is None
    n_units = queries.n_rows if by_row else queries.n_queries
    if n_units < 2:
        raise DataError(f"The data cannot be split: it has only one {'row' if by_row else 'query'}.")
    n_first = min(max(round(fraction * n_units), 1), n_units - 1)
    in_first = np.zeros(n_units, dtype=bool)
    in_first[check_random_state("random_state", random_state).permutation(n_units)[:n_first]] = True
    mask = in_first if by_row else in_first[queries.query_of_row()]
    return np.flatnonzero(mask), np.flatnonzero(~mask)
