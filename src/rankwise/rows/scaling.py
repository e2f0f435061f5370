"""Scaling of features to [0, 1] within each query, as paper A prepares its document retrieval data."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.mapped import check_not_cut, mapped_parts
from rankwise.preferences.queries import Queries, group_rows
from rankwise.types import AnyArray, Ints, Matrix
from rankwise.validation import check_matrix
from rankwise.validation.csr import check_sparse, check_width

# Whole queries are scaled in chunks of about this many values, which stay in cache.
_CHUNK_VALUES = 1 << 16
# The number of values in a part when the whole matrix should not be in memory.
_PART_VALUES = 1 << 22


def scale_per_query(X: Any, qid: ArrayLike | Iterable[Hashable] | None = None) -> Matrix:
    """Scale every feature linearly so that, within each query, its minimum is 0 and its maximum 1.

    A feature that is constant within a query becomes 0 there. O(m n), or O(nnz) for sparse X.

    Parameters
    ----------
    X : array-like or sparse matrix, shape (m, n)
        Sparse X stays sparse. A feature that some row of a query does not store is 0 there, so 0 must be its
        minimum; negative values alongside unstored zeros would make the matrix dense and raise an error.
    qid : array-like of hashables, shape (m,), optional
        Without it all rows form one query.

    Returns
    -------
    Matrix
        A new matrix with the rows in the order of X; float32 is kept.

    Examples
    --------
    >>> from rankwise import scale_per_query
    >>> scale_per_query([[1.0], [3.0], [2.0], [50.0], [70.0]], qid=[1, 1, 1, 2, 2]).ravel()
    array([0. , 1. , 0.5, 0. , 1. ])
    """
    X = check_matrix(X)
    return scale_grouped(X, group_rows(qid, X.shape[0]))


def scale_grouped(X: Matrix, queries: Queries) -> Matrix:
    """`scale_per_query` for a checked matrix and a known partition."""
    check_not_cut(mapped_parts(X))
    return _scale_dense(X, queries) if isinstance(X, np.ndarray) else _scale_sparse(X, queries)


def scaled_parts(X: Matrix, queries: Queries) -> Iterator[tuple[Ints | slice, Matrix]]:
    """Yield the scaled rows in parts of whole queries, each with the row numbers in X.

    Only one part is in memory at a time, so X may be a file larger than memory.
    """
    size = _PART_VALUES // max(1, X.shape[1])
    for first, last in _chunks(queries.offsets, max(1, size)):
        offsets = queries.offsets[first : last + 1]
        place = slice(int(offsets[0]), int(offsets[-1]))
        rows = place if queries.order is None else queries.order[place]
        labels = None if queries.labels is None else queries.labels[first:last]
        yield rows, scale_grouped(X[rows], Queries(offsets - offsets[0], labels=labels))


def _scale_dense(X: AnyArray, queries: Queries) -> AnyArray:
    scaled = np.empty_like(X)
    for first, last in _chunks(queries.offsets * X.shape[1], _CHUNK_VALUES):
        start, stop = queries.offsets[first], queries.offsets[last]
        rows = slice(start, stop) if queries.order is None else queries.order[start:stop]
        chunk = X[rows]
        if last - first == 1:
            chunk, low, span = _ranges(chunk, chunk.min(axis=0), chunk.max(axis=0))
        else:
            starts, sizes = queries.offsets[first:last] - start, np.diff(queries.offsets[first : last + 1])
            low, high = np.minimum.reduceat(chunk, starts, axis=0), np.maximum.reduceat(chunk, starts, axis=0)
            chunk, low, span = _ranges(chunk, low, high)
            low, span = np.repeat(low, sizes, axis=0), np.repeat(span, sizes, axis=0)
        out = scaled[rows] if queries.order is None else chunk
        np.subtract(chunk, low, out=out)
        np.divide(out, span, out=out)
        if queries.order is not None:
            scaled[rows] = out
    return scaled


def _scale_sparse(X: Any, queries: Queries) -> Any:
    check_sparse(X)
    check_width(X.shape[1])
    scaled: Any = X.copy() if queries.order is None else X[queries.order]
    scaled.sum_duplicates()
    query_of_row = np.repeat(np.arange(queries.n_queries), queries.sizes)
    n_stored_before = scaled.indptr[queries.offsets]
    for first, last in _chunks(n_stored_before, max(_CHUNK_VALUES, X.shape[1])):
        rows = slice(queries.offsets[first], queries.offsets[last])
        stored = slice(n_stored_before[first], n_stored_before[last])
        scaled.data[stored] = _scale_stored(scaled[rows], query_of_row[rows], queries)
    scaled.eliminate_zeros()
    return scaled if queries.order is None else scaled[np.argsort(queries.order)]


def _scale_stored(rows: Any, query_of_row: Ints, queries: Queries) -> AnyArray:
    """The stored values of some whole queries, scaled."""
    from scipy import sparse

    # The positions of the values by column and, within a column, by query: each run is one feature of one
    # query.
    places = sparse.csr_array((np.arange(rows.nnz), rows.indices, rows.indptr), shape=rows.shape).tocsc()
    query = query_of_row[places.indices]
    is_start = np.diff(query, prepend=-1) != 0
    is_start[places.indptr[:-1][np.diff(places.indptr) > 0]] = True
    starts = np.flatnonzero(is_start)
    lengths = np.diff(starts, append=len(query))
    values = rows.data[places.data]
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    with_zero = lengths < queries.sizes[query[starts]]
    if (low[with_zero] < 0).any():
        at = starts[(with_zero & (low < 0)).argmax()]
        raise _filling(int(rows.indices[places.data[at]]), int(query[at]), queries)
    low[with_zero] = 0
    values, low, span = _ranges(values, low, high)
    scaled = np.empty_like(values)
    scaled[places.data] = (values - np.repeat(low, lengths)) / np.repeat(span, lengths)
    return scaled


def _ranges(x: AnyArray, low: AnyArray, high: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """`x`, `low` and ``high − low`` (1 where that is 0), all halved if the range overflows."""
    with np.errstate(over="ignore"):
        span = high - low
    if not np.isfinite(span).all():
        x, low, span = x / 2, low / 2, high / 2 - low / 2
    span[span == 0] = 1
    return x, low, span


def _filling(column: int, query: int, queries: Queries) -> DataError:
    where = "" if queries.labels is None else f" of query {queries.labels.tolist()[query]!r}"
    return DataError(
        f"Column {column}{where} has negative values alongside zeros that are not stored; scaling to [0, 1] "
        "would make the sparse matrix dense, so pass X as a dense array or make the feature non-negative."
    )


def _chunks(n_before: Ints, size: int) -> list[tuple[int, int]]:
    """Runs of whole queries with about `size` values each; `n_before` counts the values before each query."""
    cuts = np.searchsorted(n_before, np.arange(0, n_before[-1], size), side="left")
    ends = np.unique(np.append(cuts, len(n_before) - 1))
    return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
