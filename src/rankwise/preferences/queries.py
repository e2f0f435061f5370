"""Rows partitioned into queries."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.types import AnyArray, Ints


@dataclass(frozen=True)
class Queries:
    """A partition of rows into queries: the only rows that are ever compared share one.

    Attributes
    ----------
    offsets : Ints, shape (n_queries + 1,)
        Query q holds the grouped rows ``offsets[q]:offsets[q + 1]``; no query is empty.
    order : Ints or None
        Grouped row i is the caller's row ``order[i]``; None when the caller's rows are grouped already.
    labels : array or None, shape (n_queries,)
        The caller's label of each query, in order of first appearance; None for one global ranking.
    """

    offsets: Ints
    order: Ints | None = None
    labels: AnyArray | None = None

    @property
    def n_rows(self) -> int:
        return int(self.offsets[-1])

    @property
    def n_queries(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)

    def grouped(self, rows: Any) -> Any:
        """Rows of an array or matrix in grouped order (the same object when they are grouped already)."""
        return rows if self.order is None else rows[self.order]

    def restored(self, grouped: AnyArray) -> AnyArray:
        """Undo `grouped` for an array."""
        if self.order is None:
            return grouped
        rows = np.empty_like(grouped)
        rows[self.order] = grouped
        return rows

    def query_of_row(self) -> Ints:
        """The position of each of the caller's rows' query."""
        grouped = np.repeat(np.arange(self.n_queries), self.sizes)
        return self.restored(grouped)


def one_query(n_rows: int) -> Queries:
    """One global ranking of all rows."""
    return Queries(offsets=np.array([0, n_rows], dtype=np.int64))


def group_rows(qid: ArrayLike | Iterable[Hashable] | None, n_rows: int) -> Queries:
    """Partition rows by their query label, which may be any hashable, in any order.

    Queries are numbered by first appearance; rows keep their order inside a query. O(m log m) at most.
    """
    if qid is None:
        return one_query(n_rows)
    codes, labels = _encode(qid)
    if len(codes) != n_rows:
        raise DataError(f"qid must have one entry per row of X: expected {n_rows}, got {len(codes)}.")
    return group_codes(codes, labels)


def group_codes(codes: Ints, labels: AnyArray) -> Queries:
    """Partition rows by the number of their query, 0, 1, ... by first appearance, each of which has a row."""
    sizes = np.bincount(codes, minlength=len(labels))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    grouped = bool(np.all(codes[1:] >= codes[:-1]))
    order = None if grouped else np.argsort(codes, kind="stable").astype(np.int64)
    return Queries(offsets=offsets, order=order, labels=labels)


def qid_from_group_sizes(sizes: ArrayLike) -> Ints:
    """The qid, 0, 1, ..., of rows that come query after query, from the number of rows of each.

    LightGBM calls the sizes ``group``: one entry per *query*, with the number of rows as their sum.
    """
    array = np.asarray(sizes)
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iu":
        raise DataError("Group sizes must be a one-dimensional array of whole numbers, one per query.")
    if (array < 1).any():
        at = int((array < 1).argmax())
        raise DataError(f"Group sizes must be at least 1; group {at} has {array[at]}.")
    return np.repeat(np.arange(len(array), dtype=np.int64), array)


def _encode(qid: ArrayLike | Iterable[Hashable]) -> tuple[Ints, AnyArray]:
    """Codes 0, 1, ... by first appearance, and the label of each code."""
    if not isinstance(qid, np.ndarray):
        return _encode_hashables(_as_list(qid))
    if qid.ndim != 1:
        raise DataError(f"qid must be one-dimensional, one entry per row; got shape {qid.shape}.")
    if qid.dtype.kind == "O":
        return _encode_hashables(_as_list(qid))
    if qid.dtype.kind == "f" and np.isnan(qid).any():
        raise DataError(f"qid has a missing value (NaN) in row {int(np.isnan(qid).argmax())}.")
    labels, first, codes = np.unique(qid, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first, kind="stable")
    rank = np.empty_like(by_appearance)
    rank[by_appearance] = np.arange(len(labels))
    return rank[codes].astype(np.int64), labels[by_appearance]


def _as_list(qid: ArrayLike | Iterable[Hashable]) -> list[Any]:
    to_list = getattr(qid, "tolist", None) or getattr(qid, "to_list", None)
    return list(to_list()) if to_list is not None else list(qid)  # type: ignore[arg-type]


def _encode_hashables(values: list[Any]) -> tuple[Ints, AnyArray]:
    code_of: dict[Any, int] = {}
    codes = np.empty(len(values), dtype=np.int64)
    for row, value in enumerate(values):
        if value is None or value != value:
            raise DataError(f"qid has a missing value in row {row}.")
        try:
            codes[row] = code_of.setdefault(value, len(code_of))
        except TypeError as error:
            raise DataError(
                f"qid must hold hashable labels; row {row} holds a {type(value).__name__}."
            ) from error
    labels = np.empty(len(code_of), dtype=object)
    labels[:] = list(code_of)
    narrowed = np.array(list(code_of)) if all(type(v) in (int, str) for v in code_of) else labels
    return codes, narrowed if narrowed.shape == labels.shape else labels
