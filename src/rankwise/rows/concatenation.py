"""Joining data sets, one below the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rankwise.errors import DataError, ParameterError
from rankwise.features import Features
from rankwise.preferences.queries import group_rows, label_array, shared_query
from rankwise.rows.ranking import RankingData
from rankwise.rows.storage import is_dense
from rankwise.rows.table import Table, stacked
from rankwise.types import AnyArray, Floats, is_sparse


def concatenated(
    parts: Sequence[RankingData], names: Sequence[str] | None = None, *, merge_queries: bool = False
) -> RankingData:
    """Join data sets with the same features (see `RankingData.concat`); `names` call the parts in errors."""
    if not parts or not all(isinstance(part, RankingData) for part in parts):
        raise ParameterError("concat takes a list of at least one RankingData.")
    if len(parts) == 1:
        return parts[0]
    names = [f"part {number}" for number in range(len(parts))] if names is None else names
    check_alike([(part.features, part.has_queries) for part in parts], names)
    if not merge_queries:
        _check_queries_differ(parts, names)
    n_rows = sum(part.n_rows for part in parts)
    qid = None if parts[0].qid is None else _joined_labels([part.qid for part in parts])
    queries = group_rows(qid, n_rows)
    return RankingData(
        X=_stacked([part.X for part in parts]),
        y=np.concatenate([part.y for part in parts]),
        queries=queries,
        qid=qid,
        docs=_joined_texts(parts, lambda part: part.docs),
        sample_weight=_joined_weights(parts),
        features=parts[0].features,
        comments=_joined_texts(parts, lambda part: part.comments),
    )


def check_alike(parts: Sequence[tuple[Features, bool]], names: Sequence[str]) -> None:
    """Reject parts, given by their features and whether they have queries, that differ from the first."""
    features, has_queries = parts[0]
    for (others, have), name in zip(parts[1:], names[1:], strict=True):
        if (others.names is None) != (features.names is None):
            without, having = (name, names[0]) if others.names is None else (names[0], name)
            differ = f"those of {having} have names, but those of {without} do not"
            raise DataError(f"The features differ: {differ}.")
        features.check(others, names[0], name)
        if have != has_queries:
            without, having = (name, names[0]) if has_queries else (names[0], name)
            raise DataError(f"{without} has no queries, but {having} has.")


def _check_queries_differ(parts: Sequence[RankingData], names: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for part, name in zip(parts, names, strict=True):
        for label in [] if part.queries.labels is None else part.queries.labels.tolist():
            # Text holds query labels as words, so 7 in one file is '7' in another.
            if str(label) in seen:
                raise shared_query(label, seen[str(label)], name)
        if part.queries.labels is not None:
            seen |= {str(label): name for label in part.queries.labels.tolist()}


def _joined_labels(labels: Sequence[Any]) -> AnyArray:
    """The labels of all parts; as text if some of them are numbers and others words."""
    kinds = {"U" if array.dtype.kind == "O" else array.dtype.kind for array in labels}
    if len(kinds) == 1 and "U" not in kinds:
        return np.concatenate(labels)
    entries = [label for array in labels for label in array.tolist()]
    if {type(label) for label in entries} == {int, str}:
        entries = [str(label) for label in entries]
    joined = label_array(entries)
    return joined.astype(object) if joined.dtype.kind == "U" else joined


def _joined_texts(
    parts: Sequence[RankingData], column_of: Callable[[RankingData], AnyArray | None]
) -> AnyArray | None:
    """A column of all parts, with '' in the rows of parts that do not have it, as a text file would have."""
    columns = [column_of(part) for part in parts]
    if all(column is None for column in columns):
        return None
    if all(column is not None and column.dtype.kind == columns[0].dtype.kind for column in columns):  # type: ignore[union-attr]
        return np.concatenate(columns)  # type: ignore[arg-type]
    joined = np.empty(sum(part.n_rows for part in parts), dtype=object)
    start = 0
    for part, column in zip(parts, columns, strict=True):
        joined[start : start + part.n_rows] = "" if column is None else column
        start += part.n_rows
    return joined


def _joined_weights(parts: Sequence[RankingData]) -> Floats | None:
    if all(part.sample_weight is None for part in parts):
        return None
    weights = [np.ones(part.n_rows) if part.sample_weight is None else part.sample_weight for part in parts]
    return np.concatenate(weights)


def _stacked(matrices: Sequence[Any]) -> Any:
    if all(isinstance(X, Table) for X in matrices):
        return stacked(matrices)
    if not any(is_sparse(X) for X in matrices):
        return np.concatenate(matrices)
    from scipy import sparse

    rows = sparse.csr_matrix(sparse.vstack([sparse.csr_matrix(X) for X in matrices], format="csr"))
    # A file that is nearly full may be read as dense where the others are sparse.
    mixed = not all(is_sparse(X) for X in matrices)
    return rows.toarray() if mixed and is_dense("auto", rows.nnz, *rows.shape) else rows
