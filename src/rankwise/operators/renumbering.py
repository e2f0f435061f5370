"""Columns renumbered by frequency, so that the weights of frequent ones stay in the first cache.

A product with sparse rows waits for the weights and sums that its entries name. In text, a few words make up
most of the entries; side by side they fit in the first cache, scattered over all columns they do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from rankwise import _native
from rankwise.config import resolve_threads
from rankwise.mapped import mapped_parts
from rankwise.types import Ints, Matrix

# With fewer columns, all weights and sums fit in the second cache.
LEAST_COLUMNS = 1 << 14
# With fewer entries per column, a product is over before the copy of the indices pays.
LEAST_ENTRIES_PER_COLUMN = 64
# Weights per cache line, and lines of weights (and as many of sums) that fit in the first cache.
COLUMNS_PER_LINE, CACHED_LINES = 8, 256
# Renumbering pays if so much more of the entries are then served from the first cache.
LEAST_GAIN = 0.1
# Frequencies are estimated from about this many entries.
SAMPLED_ENTRIES = 1 << 20


def frequency_order(X: Matrix) -> Ints | None:
    """The columns of X, the most frequent first, if renumbering them pays within a few products.

    None for a matrix that is dense, memory-mapped (a copy of its indices may not fit), narrow or small, and
    if the frequent columns already lie side by side.
    """
    if not sparse.issparse(X) or mapped_parts(X) or X.shape[1] < LEAST_COLUMNS:
        return None
    if X.nnz < LEAST_ENTRIES_PER_COLUMN * X.shape[1]:
        return None
    columns = X.indices[: X.nnz : max(1, X.nnz // SAMPLED_ENTRIES)]
    count = np.bincount(columns, minlength=X.shape[1])
    order = np.argsort(-count, kind="stable")
    gain = _cached(count[order]) - _cached(count)
    return order if gain >= LEAST_GAIN * len(columns) else None


def _cached(count: Ints) -> int:
    """The number of entries in the cache lines that are used most."""
    lines = np.add.reduceat(count, np.arange(0, len(count), COLUMNS_PER_LINE))
    return int(np.sort(lines)[-CACHED_LINES:].sum())


def renumbered(X: Any, order: Ints) -> sparse.csr_array:
    """X with its columns in another order.

    The entries of each row keep theirs, so that products have the same bits. Copies the indices, four bytes
    per entry; the values are shared.
    """
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    columns = np.empty(X.nnz, dtype=np.int32)
    _native.renumber_columns(X.indices[: X.nnz], number, columns, resolve_threads())
    return sparse.csr_array((X.data[: X.nnz], columns, X.indptr), shape=X.shape)
