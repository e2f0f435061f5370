"""Rows measured from a row of their own query, where features far from zero would cost digits.

Only differences inside a query (or between rows that pairs connect) matter to a linear ranker, so each row
may be replaced by its difference from a reference row of the same query. Where a column is far from zero
compared with how much it varies (a timestamp, an id, a price in cents), that keeps the digits that products
of the rows themselves would lose.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.factored_rows import FactoredRows
from rankwise.operators.blocks import MeasuredRows, block_rows, pieces
from rankwise.operators.native_rows import NativeRows
from rankwise.types import Bools, Floats, Ints, Matrix

# A column is far from zero if its values are this many times its spread: two digits would be lost.
FAR = 100.0
# Sparse rows are shifted if this many queries, evenly chosen, show that it is needed.
SAMPLED_QUERIES = 1000
# Of factored rows, so many are looked at.
SAMPLED_ROWS = 4096
# So many rows of a query usually have no column in common if all of its rows have none.
COMPARED_ROWS = 32


def near_zero(X: Matrix | FactoredRows, reference: Ints | None) -> tuple[Any, Ints | None]:
    """The rows to compute with and, if they are to be measured from reference rows, those.

    One pass over a dense X. Of a sparse one, a column that every row of a query stores is shifted in a copy;
    elsewhere the zeros make it vary as much as it is far from zero, and nothing is lost. Of factored rows,
    those of P are shifted in a copy if a column of X shows that it is needed.
    """
    if reference is None:
        return X, None
    if isinstance(X, FactoredRows):
        return _shifted_factors(X, reference) if _has_far_features(X, reference) else X, None
    if not isinstance(X, np.ndarray):
        return _shifted_sparse(X, reference), None
    offset, spread = column_ranges(X, reference)
    return X, reference if _far(offset, spread).any() else None


def column_ranges(X: Any, reference: Ints) -> tuple[Floats, Floats]:
    """The largest absolute value of each column in the reference rows, and less them; X is not sparse."""
    if not isinstance(X, FactoredRows):
        return NativeRows(X, reference=reference).column_ranges()
    origins, measured = np.unique(reference), MeasuredRows(X, reference)
    offset, spread = np.zeros((2, X.shape[1]))
    for place in pieces(0, len(origins), block_rows(X)):
        np.maximum(offset, np.abs(X[origins[place]]).max(axis=0), out=offset)
    for place in pieces(0, len(X), block_rows(X)):
        np.maximum(spread, np.abs(measured[place]).max(axis=0), out=spread)
    return offset, spread


def _far(offset: Floats, spread: Floats) -> Bools:
    """Which columns are far from zero; constant ones, if they are so compared with those that vary."""
    varies = np.where(spread > 0.0, spread, spread.max(initial=0.0))
    return np.asarray((offset > FAR * varies) & (varies > 0.0))


def _has_far_features(X: FactoredRows, reference: Ints) -> bool:
    """Look at a sample of rows, in which columns vary less, and at all rows of columns that seem far."""
    sample = np.linspace(0, len(X) - 1, min(len(X), SAMPLED_ROWS)).astype(np.int64)
    few = np.union1d(sample, reference[sample])
    offset, spread = column_ranges(X[few], np.searchsorted(few, reference[few]))
    rows, unit = NativeRows(X), np.zeros(X.shape[1])
    for column in np.flatnonzero(_far(offset, spread)).tolist():
        unit[column] = 1.0
        values = rows.scores(unit)
        unit[column] = 0.0
        offset[column] = np.abs(values[reference]).max()
        spread[column] = np.abs(values - values[reference]).max()
    return bool(_far(offset, spread).any())


def _shifted_factors(X: FactoredRows, reference: Ints) -> FactoredRows:
    points, features = X.factors
    return FactoredRows((points - points[reference], features), MeasuredRows(X, reference))


def _shifted_sparse(X: Any, reference: Ints) -> Any:
    queries = np.unique(reference)
    sample = queries[:: max(1, len(queries) // SAMPLED_QUERIES)]
    rows = np.flatnonzero(np.isin(reference, sample))
    few = np.union1d(rows[_first_of_each(reference[rows], COMPARED_ROWS)], sample)
    if not _common_part(X[few], np.searchsorted(few, reference[few])).nnz:
        return X
    if not _has_far_columns(X[rows], np.searchsorted(rows, reference[rows])):
        return X
    return (X - _common_part(X, reference)).tocsr()


def _first_of_each(group: Ints, n: int) -> Ints:
    """The positions of the first n members of each group."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    start = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    place = start[:, None] + np.arange(n)
    first: Ints = order[place[place < np.append(start[1:], len(group))[:, None]]]
    return first


def _has_far_columns(X: Any, reference: Ints) -> bool:
    common = _common_part(X, reference)
    stored = common != 0
    spread = abs((X - common).multiply(stored)).max(axis=0).toarray().ravel()
    return bool(_far(abs(common).max(axis=0).toarray().ravel(), spread).any())


def _common_part(X: Any, reference: Ints) -> Any:
    """For each row, the entries of its reference row in columns that every row of its query stores."""
    from scipy import sparse

    first, query = np.unique(reference, return_inverse=True)
    n_rows, n_queries = X.shape[0], len(first)
    member = sparse.csr_array((np.ones(n_rows), (query, np.arange(n_rows))), shape=(n_queries, n_rows))
    pattern = sparse.csr_array((np.ones_like(X.data, dtype=np.float64), X.indices, X.indptr), shape=X.shape)
    counts = (member @ pattern).tocsr()
    sizes = np.bincount(query, minlength=n_queries)
    counts.data = (counts.data == np.repeat(sizes, np.diff(counts.indptr))).astype(np.float64)
    counts.eliminate_zeros()
    return (member.T @ counts.multiply(sparse.csr_array(X[first]).astype(np.float64))).tocsr()
