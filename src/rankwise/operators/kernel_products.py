"""Products with a kernel matrix that is never whole in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.operators.kernel import Kernel, row_blocks
from rankwise.types import Floats, Matrix


@dataclass(frozen=True)
class KernelProducts:
    """``a ↦ K a`` with ``K_ij = k(rows_i, basis_j)``, computed anew in blocks of rows every time.

    O(m r s) time a product, O(r) memory beyond a block of 32 MB.

    Attributes
    ----------
    kernel : Kernel
    rows : Matrix, shape (m, n)
        The kernel values themselves, shape (m, r), for a precomputed kernel.
    basis : Matrix, shape (r, n)
    """

    kernel: Kernel
    rows: Matrix
    basis: Matrix

    def __call__(self, coefficients: Floats) -> Floats:
        out = np.empty(self.rows.shape[0])
        for place in row_blocks(self.rows.shape[0], len(coefficients)):
            out[place] = self.kernel(self.rows[place], self.basis) @ coefficients
        return out
