"""Forward selection of blocks of features, such as the products of two columns, by the squared error."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Floats

# What is left of a feature is nothing if it is so small a share of it.
SPANNED = 1e-9


def forward_blocks(
    matrix: Floats, right: Floats, constant: float, widths: Sequence[int], n_rows: int
) -> list[int]:
    """Choose, again and again, the block that lowers the squared error most, beyond what noise would.

    The error is ``wᵀAw − 2bᵀw + c``. A block of d features of pure noise lowers it by d σ², where σ² is the
    error per row; as in Mallows' Cp, twice that is subtracted. The choice ends when nothing is left of any
    block. O(k n² d + n³) for k chosen of n features.

    Parameters
    ----------
    matrix, right, constant
        A, b and c.
    widths : sequence of int
        How many features each block has; the first block is always in the model.
    n_rows : int

    Returns
    -------
    list of int
        The chosen blocks, counted from the one after the first.
    """
    ends = np.cumsum([0, *widths])
    first, *others = (slice(start, stop) for start, stop in pairwise(ends.tolist()))
    least = SPANNED * np.diag(matrix)
    with one_blas_thread(len(matrix) <= SMALL):
        rest = _Rest(matrix, right, constant, least)
        rest.eliminate(first)
        chosen: list[int] = []
        while len(chosen) < len(others):
            gains = [
                -np.inf if number in chosen else rest.gain(block, n_rows)
                for number, block in enumerate(others)
            ]
            best = int(np.argmax(gains))
            if gains[best] <= 0.0:
                break
            chosen.append(best)
            rest.eliminate(others[best])
    return chosen


class _Rest:
    """What the chosen features leave of the others, and of the error."""

    def __init__(self, matrix: Floats, right: Floats, error: float, least: Floats) -> None:
        self._matrix, self._right, self._error, self._least = matrix.copy(), right.copy(), error, least

    def gain(self, block: slice, n_rows: int) -> float:
        """By how much a block lowers the error, less twice what noise would."""
        root = self._inverse_root(block)
        explained = np.square(root.T @ self._right[block]).sum()
        return float(explained - 2.0 * root.shape[1] * max(self._error, 0.0) / n_rows)

    def eliminate(self, block: slice) -> None:
        root = self._inverse_root(block)
        explained = root.T @ self._right[block]
        rows = root.T @ self._matrix[block]
        self._matrix -= rows.T @ rows
        self._right -= rows.T @ explained
        self._error -= float(explained @ explained)

    def _inverse_root(self, block: slice) -> Floats:
        """R for which ``RRᵀ`` is the inverse of what is left of a block, where there is anything."""
        scale = np.sqrt(np.where(self._least[block] > 0.0, self._least[block], 1.0))
        values, vectors = np.linalg.eigh(self._matrix[block, block] / np.outer(scale, scale))
        kept = values > 1.0
        root: Floats = vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None]
        return root
