"""Whether the index arrays of compressed rows stay inside them: kernels follow them without looking."""

from __future__ import annotations

from typing import Any

from rankwise.errors import DataError
from rankwise.mapped import blocks_of
from rankwise.types import AnyArray


def check_csr(X: Any) -> None:
    """Refuse a CSR matrix whose indices lead outside it; O(entries), block by block if it is on disk."""
    if not ascends(X.indptr) or X.indptr[0] != 0 or X.indptr[-1] > min(len(X.indices), len(X.data)):
        raise DataError("X is a damaged CSR matrix: its indptr does not lead through its entries in order.")
    if not are_inside(X.indices, X.shape[1]):
        raise DataError(f"X is a damaged CSR matrix: an entry is outside its {X.shape[1]} columns.")


def ascends(offsets: AnyArray, *, strictly: bool = False) -> bool:
    """Whether no offset is below the one before it."""
    after, before = offsets[1:], offsets[:-1]
    return bool((after > before).all() if strictly else (after >= before).all())


def are_inside(indices: AnyArray, end: int) -> bool:
    """Whether all indices are from 0 to below the end."""
    return all(block.min() >= 0 and block.max() < end for block in blocks_of(indices))
