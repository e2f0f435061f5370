"""Rows partitioned into queries."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.types import AnyArray, Ints


@dataclass(frozen=True)
class Queries:
    """A partition of rows into queries; only rows of the same query are ever compared.

    Attributes
    ----------
    offsets : Ints, shape (n_queries + 1,)
        Query q holds the grouped rows ``offsets[q]:offsets[q + 1]``; no query is empty.
    order : Ints or None
        Grouped row i is the caller's row ``order[i]``; None if the caller's rows are already grouped.
    labels : array or None, shape (n_queries,)
        The caller's label of each query, in order of first appearance; None for one global ranking.
    """

    offsets: Ints
    order: Ints | None = None
    labels: AnyArray | None = None

    def __repr__(self) -> str:
        return f"Queries({self.n_queries:,} queries, {self.n_rows:,} rows)"

    @property
    def n_rows(self) -> int:
        return int(self.offsets[-1])

    @property
    def n_queries(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        return self.offsets[1:] - self.offsets[:-1]

    def grouped(self, rows: Any) -> Any:
        """Return rows of an array or matrix in grouped order (the same object if already grouped)."""
        return rows if self.order is None else rows[self.order]

    def restored(self, grouped: AnyArray) -> AnyArray:
        """Undo `grouped` for an array."""
        return restored(grouped, self.order)

    def query_of_row(self) -> Ints:
        """Return the number of each row's query, in the caller's row order."""
        grouped = np.repeat(np.arange(self.n_queries), self.sizes)
        return self.restored(grouped)

    def first_rows(self) -> Ints:
        """For each of the caller's rows, the first row of its query."""
        first = self.offsets[:-1] if self.order is None else self.order[self.offsets[:-1]]
        return first[self.query_of_row()]

    def rows_of(self, query: int) -> Ints:
        """The rows of a query, by its position."""
        first, last = self.offsets[query : query + 2]
        return np.arange(first, last) if self.order is None else self.order[first:last]

    def select(self, rows: Ints) -> Queries:
        """The partition of some of the caller's rows."""
        some = group_rows(self.query_of_row()[rows], len(rows))
        labels = None if self.labels is None or some.labels is None else self.labels[some.labels]
        return replace(some, labels=labels)


def restored(ordered: AnyArray, order: Ints | None, n_rows: int | None = None) -> AnyArray:
    """Undo ``rows[order]`` for an array; with None, return the same object.

    If `order` names only some of `n_rows` rows, the others are 0.
    """
    if order is None:
        return ordered
    rows = np.empty_like(ordered) if n_rows is None else np.zeros(n_rows, dtype=ordered.dtype)
    rows[order] = ordered
    return rows


def nothing_to_learn(queries: Queries) -> DataError:
    """Return the error for data in which no query has two rows of positive weight with different labels."""
    who = "all rows of the ranking have"
    if queries.labels is not None:
        more = ", ..." if queries.n_queries > 3 else ""
        who = f"all rows of each query ({', '.join(map(str, queries.labels[:3]))}{more}) have"
    return DataError(f"There is nothing to learn: {who} the same label.")


def shared_query(label: Any, first: str, second: str) -> DataError:
    """The error for a query of two parts, when they are not to be merged."""
    return DataError(
        f"The query {label!r} is both in {first} and in {second}; if it is the same query, set "
        "merge_queries (--merge-queries), otherwise give it another label in one of them."
    )


def one_query(n_rows: int) -> Queries:
    """Return a single query of all rows: one global ranking."""
    return Queries(offsets=np.array([0, n_rows], dtype=np.int64))


def group_rows(qid: ArrayLike | Iterable[Hashable] | None, n_rows: int, name: str = "qid") -> Queries:
    """Partition rows by query label; labels may be any hashables, in any order.

    Queries are numbered by first appearance; rows keep their order within a query. O(m log m) at most.
    """
    if qid is None:
        return one_query(n_rows)
    codes, labels = _encode(qid, name)
    if len(codes) != n_rows:
        raise DataError(f"{name} must have one entry per row of X: expected {n_rows}, got {len(codes)}.")
    return group_codes(codes, labels)


def group_codes(codes: Ints, labels: AnyArray) -> Queries:
    """Partition rows by query number: 0, 1, ... by first appearance, each with at least one row."""
    sizes = np.bincount(codes, minlength=len(labels))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    grouped = bool(np.all(codes[1:] >= codes[:-1]))
    # NumPy sorts 8-bit and 16-bit integers by radix.
    narrow = codes.astype(np.min_scalar_type(len(labels)))
    order = None if grouped else np.argsort(narrow, kind="stable").astype(np.int64, copy=False)
    return Queries(offsets=offsets, order=order, labels=labels)


def members(offsets: Ints, groups: Ints) -> tuple[Ints, Ints, Ints]:
    """All members of the requested groups: the request, the grouped row, and its rank in its group."""
    size = np.diff(offsets)[groups]
    request = np.repeat(np.arange(len(groups)), size)
    rank = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return request, offsets[groups][request] + rank, rank


def qid_from_group_sizes(sizes: ArrayLike) -> Ints:
    """Convert the number of rows of each query to a qid of 0, 1, ..., for rows sorted by query.

    LightGBM calls these sizes ``group``: one entry per *query*, summing to the number of rows. O(m).

    Parameters
    ----------
    sizes : array-like of int, shape (n_queries,)
        At least 1 each.

    Returns
    -------
    Ints, shape (m,)

    Examples
    --------
    >>> from rankwise import qid_from_group_sizes
    >>> qid_from_group_sizes([2, 3])
    array([0, 0, 1, 1, 1])
    """
    array = np.asarray(sizes)
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iu":
        raise DataError("Group sizes must be a one-dimensional array of whole numbers, one per query.")
    if (array < 1).any():
        at = int((array < 1).argmax())
        raise DataError(f"Group sizes must be at least 1; group {at} has {array[at]}.")
    return np.repeat(np.arange(len(array), dtype=np.int64), array)


def refuse_rounded(name: str, labels: AnyArray) -> None:
    """Refuse labels that are floats where two whole numbers may have become the same."""
    if labels.dtype.kind != "f":
        return
    least = 2.0 ** (
        np.finfo(labels.dtype).nmant + 1
    )  # whose successor among the whole numbers is not a float
    rounded = np.isfinite(labels) & (np.abs(labels) >= least)
    if rounded.any():
        row = int(rounded.argmax())
        raise DataError(
            f"{name} has the float {labels[row]:.17g} in row {row}, which may have lost digits; labels this "
            f"large must be integers or text."
        )


def _encode(qid: ArrayLike | Iterable[Hashable], name: str) -> tuple[Ints, AnyArray]:
    """Return codes 0, 1, ... by first appearance, and the label of each code."""
    # Lists are not converted: in an array, tuples would become a second dimension and [1, "1"] one label.
    if not hasattr(qid, "__array__"):
        return _encode_hashables(_as_list(qid, name), name)
    array = np.asarray(qid)
    if isinstance(qid, np.ma.MaskedArray) and np.ma.is_masked(qid):
        raise DataError(f"{name} has a missing value in row {int(np.ma.getmaskarray(qid).argmax())}.")
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, one entry per row; got shape {array.shape}.")
    if array.dtype.kind == "O":
        return _encode_hashables(array.tolist(), name)
    missing = array != array  # NaN and NaT
    if missing.any():
        raise DataError(f"{name} has a missing value in row {int(missing.argmax())}.")
    refuse_rounded(name, array)
    if array.dtype.kind in "iu" and len(array) > 0:
        low, high = int(array.min()), int(array.max())
        if high - low < 4 * len(array) + 1000:
            return _encode_range(array, low, high)
    labels, first, codes = np.unique(array, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    return np.argsort(by_appearance)[codes].astype(np.int64, copy=False), labels[by_appearance]


def _encode_range(array: AnyArray, low: int, high: int) -> tuple[Ints, AnyArray]:
    """Encode integers in a range so narrow that a lookup table is cheaper than a sort; O(m)."""
    wide = array.astype(np.int64) if array.dtype.kind == "i" else array
    index = (wide - wide.dtype.type(low)).astype(np.int64)
    first = np.full(high - low + 1, -1, dtype=np.int64)
    # The last assignment to an index wins; in reverse order, that is the first row of each label.
    first[index[::-1]] = np.arange(len(array))[::-1]
    present = np.flatnonzero(first >= 0)
    by_appearance = present[np.argsort(first[present])]
    labels = array[first[by_appearance]]
    first[by_appearance] = np.arange(len(by_appearance))
    return first[index], labels


def _as_list(qid: Any, name: str) -> list[Any]:
    if isinstance(qid, (str, bytes)) or not isinstance(qid, Iterable):
        raise DataError(f"{name} must be an array or list of labels, one per row; got {type(qid).__name__}.")
    return list(qid)


def _encode_hashables(values: list[Any], name: str) -> tuple[Ints, AnyArray]:
    code_of: dict[Any, int] = {}
    try:
        codes = np.fromiter(
            (code_of.setdefault(value, len(code_of)) for value in values), np.int64, len(values)
        )
    except TypeError:
        row, value = next((row, value) for row, value in enumerate(values) if not _is_hashable(value))
        message = f"{name} must hold hashable labels; row {row} has type {type(value).__name__}."
        raise DataError(message) from None
    for value, code in code_of.items():
        if is_missing(value):
            raise DataError(f"{name} has a missing value in row {int((codes == code).argmax())}.")
    return codes, label_array(list(code_of))


def label_array(labels: list[Any]) -> AnyArray:
    """Return labels as an array of integers or strings if that preserves them, otherwise of objects."""
    if {type(label) for label in labels} in ({int}, {str}):
        plain = np.array(labels)
        # NumPy drops trailing null bytes from strings, which may be all that distinguishes two labels.
        if plain.tolist() == labels:
            return plain
    objects = np.empty(len(labels), dtype=object)
    objects[:] = labels
    return objects


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_missing(value: Any) -> bool:
    """Whether this is None, NaN, NaT or pandas' NA, whose comparisons have no truth value."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
