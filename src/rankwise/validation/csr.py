"""Bounds checks for the index arrays of CSR matrices, which the kernels do not check themselves."""

from __future__ import annotations

from typing import Any

from rankwise.errors import DataError
from rankwise.mapped import blocks_of
from rankwise.types import AnyArray


def check_csr(X: Any) -> None:
    """Reject a CSR matrix with out-of-bounds indices; O(entries), block by block if it is on disk."""
    if not ascends(X.indptr) or X.indptr[0] != 0 or X.indptr[-1] > min(len(X.indices), len(X.data)):
        raise DataError(
            "X is a damaged CSR matrix: indptr must start at 0, never decrease and stay within the entries."
        )
    if not are_inside(X.indices, X.shape[1]):
        raise DataError(f"X is a damaged CSR matrix: a column index is outside its {X.shape[1]} columns.")


def ascends(offsets: AnyArray, *, strictly: bool = False) -> bool:
    """Whether offsets never decrease or, if `strictly`, always increase."""
    after, before = offsets[1:], offsets[:-1]
    return bool((after > before).all() if strictly else (after >= before).all())


def are_inside(indices: AnyArray, end: int) -> bool:
    """Whether all indices are at least 0 and less than `end`."""
    return all(block.min() >= 0 and block.max() < end for block in blocks_of(indices))
