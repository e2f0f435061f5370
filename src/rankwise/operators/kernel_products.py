"""Kernel matrices, in full or as products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.operators.kernel import (
    Kernel,
    KernelName,
    check_kernel_fits,
    check_kernel_matrix,
    row_blocks,
)
from rankwise.types import Floats, Ints, Matrix
from rankwise.validation import check_products

# Norms come from the diagonals of kernel matrices of this many rows.
NORMS_AT_ONCE = 16


@dataclass(frozen=True)
class KernelProducts:
    """``a ↦ K a`` with ``K_ij = k(rows_i, basis_j)``, recomputed in blocks of rows on every call.

    O(m r s) time per product and column, O(r) memory beyond a block of 32 MB.

    Attributes
    ----------
    kernel : Kernel
    rows : Matrix, shape (m, n)
        For a precomputed kernel, the kernel values themselves, shape (m, r).
    basis : Matrix, shape (r, n)
    """

    kernel: Kernel
    rows: Matrix
    basis: Matrix

    def __call__(self, coefficients: Floats) -> Floats:
        out = np.empty((self.rows.shape[0], *coefficients.shape[1:]))
        for place in row_blocks(self.rows.shape[0], len(coefficients)):
            out[place] = self.kernel(self.rows[place], self.basis) @ coefficients
        return out


def kernel_matrix(X: Matrix, kernel: Kernel) -> Floats:
    """Return the kernel values between all rows, if they fit in memory."""
    if kernel.function is not KernelName.PRECOMPUTED:
        check_kernel_fits(X.shape[0])
    return checked_kernel_matrix(np.ascontiguousarray(kernel(X, X)), kernel)


def checked_kernel_matrix(K: Floats, kernel: Kernel) -> Floats:
    """Check values between training rows: those of named kernels may overflow, and of others be anything."""
    precomputed = kernel.function is KernelName.PRECOMPUTED
    if precomputed or not isinstance(kernel.function, KernelName):
        check_kernel_matrix(K, "The precomputed kernel" if precomputed else "The kernel function")
        K = (K + K.T) / 2  # rounding may have left it slightly asymmetric
    check_products(K)
    return K


def kernel_norms(X: Matrix, kernel: Kernel, rows: Ints) -> Floats:
    """``√k(x, x)`` of some rows, in small blocks: kernels are defined between sets of rows."""
    norms = np.empty(len(rows))
    for start in range(0, len(rows), NORMS_AT_ONCE):
        place = slice(start, start + NORMS_AT_ONCE)
        block = X[rows[place]]
        if kernel.function is KernelName.PRECOMPUTED:
            block = block[:, rows[place]]
        norms[place] = np.sqrt(np.abs(kernel(block, block).diagonal()))
    return norms
