"""Joining data sets, one below the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rankwise.errors import DataError, ParameterError
from rankwise.preferences.queries import group_rows, label_array, shared_query
from rankwise.rows.csr import is_dense
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import Table, stacked
from rankwise.types import AnyArray, is_sparse


def concatenated(
    parts: Sequence[RankingData], names: Sequence[str] | None = None, *, merge_queries: bool = False
) -> RankingData:
    """Join data sets with the same features (see `RankingData.concat`); `names` call the parts in errors."""
    if not parts or not all(isinstance(part, RankingData) for part in parts):
        raise ParameterError("concat takes a list of at least one RankingData.")
    if len(parts) == 1:
        return parts[0]
    names = [f"part {number}" for number in range(len(parts))] if names is None else names
    _check_alike(parts, names)
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
        feature_names=parts[0].feature_names,
        comments=_joined_texts(parts, lambda part: part.comments),
        scaled_per_query=parts[0].scaled_per_query,
        numbered_from=parts[0].numbered_from,
    )


def _check_alike(parts: Sequence[RankingData], names: Sequence[str]) -> None:
    first = parts[0]
    for part, name in zip(parts[1:], names[1:], strict=True):
        if part.n_features != first.n_features:
            differ = f"{names[0]} has {first.n_features} and {name} has {part.n_features}"
            raise DataError(f"The features differ: {differ}.")
        if part.feature_names != first.feature_names:
            raise DataError(f"The features differ: {_difference(first, part, names[0], name)}.")
        if part.numbered_from != first.numbered_from and None not in (
            part.numbered_from,
            first.numbered_from,
        ):
            differ = f"{names[0]} numbers them from {first.numbered_from}, {name} from {part.numbered_from}"
            raise DataError(f"The features differ: {differ}; load the files together, or set zero_based.")
        if part.scaled_per_query != first.scaled_per_query:
            scaled, raw = (names[0], name) if first.scaled_per_query else (name, names[0])
            raise DataError(f"{scaled} was scaled within each query, but {raw} was not.")
        if (part.qid is None) != (first.qid is None):
            without, having = (name, names[0]) if part.qid is None else (names[0], name)
            raise DataError(f"{without} has no queries, but {having} has.")


def _difference(a: RankingData, b: RankingData, name_a: str, name_b: str) -> str:
    if a.feature_names is None or b.feature_names is None:
        without, having = (name_b, name_a) if b.feature_names is None else (name_a, name_b)
        return f"those of {having} have names, but those of {without} do not"
    only = [name for name in a.feature_names if name not in b.feature_names]
    return f"{name_b} has no {only[0]!r}, but {name_a} has" if only else f"{name_b} has them in another order"


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
