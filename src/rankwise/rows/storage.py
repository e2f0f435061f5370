"""How rows are stored, and CSR matrices around arrays that are known to be valid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise.rows.table import Table
from rankwise.types import AnyArray, Auto
from rankwise.validation.csr import check_width

if TYPE_CHECKING:
    from scipy import sparse


def csr_around(
    values: AnyArray, indices: AnyArray, indptr: AnyArray, shape: tuple[int, int]
) -> sparse.csr_matrix:
    """Wrap sorted arrays without duplicates in a CSR matrix, without reading, copying or converting them.

    SciPy's constructor would read all 64-bit indices to see whether 32 bits suffice, which is too expensive
    for a matrix on disk.
    """
    from scipy import sparse

    matrix = sparse.csr_matrix(shape, dtype=values.dtype)
    matrix.data, matrix.indices, matrix.indptr = values, indices, indptr
    matrix.has_canonical_format = True
    return matrix


def is_dense(dense: bool | Auto, n_entries: int, n_rows: int, n_columns: int) -> bool:
    """Resolve "auto": X is dense if at least half of its entries are present."""
    if dense is True:
        check_width(n_columns)
    return 2 * n_entries >= n_rows * n_columns if dense == "auto" else dense


def storage_of(X: Any) -> str:
    """What X is, in a few words."""
    if isinstance(X, Table):
        return "table"
    if isinstance(X, np.ndarray):
        return str(X.dtype)
    return f"sparse {X.dtype}, {X.nnz / max(1, X.shape[0] * X.shape[1]):.2%} filled"
