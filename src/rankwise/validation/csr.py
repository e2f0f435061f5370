"""Bounds checks for the index arrays of sparse matrices, which neither SciPy nor the kernels check."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.errors import DataError
from rankwise.mapped import blocks_of
from rankwise.types import AnyArray

# Keeps a wrong feature id from using up all memory: solvers store several vectors of this many weights.
MAX_FEATURES = 2**26

_INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))


def check_width(n_features: int) -> None:
    """Reject a matrix with more features than solvers can store weights for."""
    if n_features > MAX_FEATURES:
        raise DataError(
            f"X has {n_features:,} features; at most {MAX_FEATURES:,} are supported: use consecutive numbers "
            "for those that occur, or hash them."
        )


def check_sparse(X: Any) -> None:
    """Reject a sparse matrix of any format with out-of-bounds indices, before anything converts it.

    O(entries), block by block if it is on disk. Formats without index arrays need no check.
    """
    if X.ndim != 2:
        raise DataError(f"X must be two-dimensional, one row per document; got {X.ndim} dimension(s).")
    if X.format in ("csr", "csc", "bsr"):
        check_offsets(X)
        _, n_columns = _blocks_along(X)
        _check(X, are_inside(X.indices, n_columns), f"a column index is outside its {n_columns} columns")
    elif X.format == "coo":
        for indices, size in ((X.row, X.shape[0]), (X.col, X.shape[1])):
            _check(X, _are_indices(indices), "its indices must be 32- or 64-bit integers")
            _check(X, indices.shape == X.data.shape, "its arrays differ in length")
            _check(X, are_inside(indices, size), f"an entry is outside its shape {X.shape}")


def check_offsets(X: Any) -> None:
    """Reject compressed rows (CSR), columns (CSC) or blocks (BSR) with inconsistent offsets; O(rows)."""
    for name in ("indptr", "indices"):
        _check(
            X, _are_indices(getattr(X, name)), f"{name} must be a contiguous array of 32- or 64-bit integers"
        )
    is_plain = X.data.ndim == (3 if X.format == "bsr" else 1) and X.data.flags.c_contiguous
    _check(
        X,
        is_plain and 0 not in X.data.shape[1:],
        f"data must be a contiguous array, got shape {X.data.shape}",
    )
    _check(X, len(X.indices) == len(X.data), f"it has {len(X.indices)} indices for {len(X.data)} entries")
    n_rows, _ = _blocks_along(X)
    fault = f"indptr has {len(X.indptr)} entries instead of {n_rows + 1}"
    _check(X, len(X.indptr) == n_rows + 1, fault)
    leads = ascends(X.indptr) and X.indptr[0] == 0 and X.indptr[-1] <= len(X.indices)
    _check(X, leads, "indptr must start at 0, never decrease and stay within the entries")


def _blocks_along(X: Any) -> tuple[int, int]:
    """Return the number of compressed rows and the bound of their indices."""
    if X.format == "csc":
        return X.shape[1], X.shape[0]
    height, width = X.blocksize if X.format == "bsr" else (1, 1)
    return X.shape[0] // height, X.shape[1] // width


def _check(X: Any, is_right: bool, fault: str) -> None:
    if not is_right:
        raise DataError(f"X is a damaged {X.format.upper()} matrix: {fault}.")


def _are_indices(array: AnyArray) -> bool:
    return array.ndim == 1 and array.dtype in _INDEX_TYPES and array.flags.c_contiguous


def ascends(offsets: AnyArray, *, strictly: bool = False) -> bool:
    """Whether offsets never decrease or, if `strictly`, always increase."""
    after, before = offsets[1:], offsets[:-1]
    return bool((after > before).all() if strictly else (after >= before).all())


def are_inside(indices: AnyArray, end: int) -> bool:
    """Whether all indices, which are signed integers, are at least 0 and less than `end`."""
    unsigned = np.dtype(f"u{indices.itemsize}")  # in which the negative ones are the largest
    return all(block.view(unsigned).max() < end for block in blocks_of(indices))
