"""CSR matrices around arrays that are known to be right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwise.types import AnyArray

if TYPE_CHECKING:
    from scipy import sparse


def csr_around(
    values: AnyArray, indices: AnyArray, indptr: AnyArray, shape: tuple[int, int]
) -> sparse.csr_matrix:
    """A CSR matrix of exactly these arrays: sorted, without duplicates, nothing read, copied or converted.

    SciPy's constructor reads all of 64-bit indices to see whether 32 bits would do, which a matrix on disk
    must be spared.
    """
    from scipy import sparse

    matrix = sparse.csr_matrix(shape, dtype=values.dtype)
    matrix.data, matrix.indices, matrix.indptr = values, indices, indptr
    matrix.has_canonical_format = True
    return matrix
