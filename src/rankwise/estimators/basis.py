"""Which training rows become basis vectors."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np

from rankwise.errors import ParameterError
from rankwise.operators.kernel import Kernel, KernelName, row_blocks
from rankwise.types import Floats, Ints, Matrix
from rankwise.validation import check_choice

# A row is spanned by others when this share of the largest kernel value is left of it, or less.
_SPANNED = 1e-12


class BasisChoice(StrEnum):
    """How a number of basis vectors is chosen among the training rows."""

    RANDOM = "random"
    GREEDY = "greedy"


def choose_basis(basis: object, choice: str, X: Matrix, kernel: Kernel, random_state: Any) -> Ints:
    """The training rows that the `basis` and `basis_choice` parameters stand for."""
    how, n_rows = check_choice("basis_choice", choice, BasisChoice), X.shape[0]
    if not isinstance(basis, (int, np.integer)) or isinstance(basis, bool):
        return _given_rows(basis, n_rows)
    if not 1 <= basis <= n_rows:
        raise ParameterError(f"The 'basis' parameter must be between 1 and {n_rows} rows; got {basis}.")
    return _CHOICES[how](X, kernel, int(basis), random_state)


def _random_rows(X: Matrix, _: Kernel, size: int, random_state: Any) -> Ints:
    from sklearn.utils import check_random_state

    drawn = check_random_state(random_state).choice(X.shape[0], size, replace=False)
    return np.sort(drawn).astype(np.int64)


def _greedy_rows(X: Matrix, kernel: Kernel, size: int, _: Any) -> Ints:
    """Each next row is the one that those before explain least: the pivots of a Cholesky factorization.

    ``K ≈ CᵀC`` grows by a row at a time; what is left of the diagonal says how far a row is from the span of
    those chosen. O(m r²) time, O(m r) memory, one column of K at a time. It ends early when nothing is left.
    """
    left = np.concatenate(
        [_values(kernel, X, place, place).diagonal() for place in row_blocks(X.shape[0], 64)]
    )
    scale, factor, chosen = float(left.max()), np.empty((size, X.shape[0])), []
    for k in range(size):
        row = int(left.argmax())
        if left[row] <= _SPANNED * scale:
            break
        column = _values(kernel, X, slice(None), slice(row, row + 1))[:, 0]
        factor[k] = (column - factor[:k].T @ factor[:k, row]) / np.sqrt(left[row])
        left = left - factor[k] ** 2
        left[row] = 0.0
        chosen.append(row)
    return np.array(chosen or [0], dtype=np.int64)


_CHOICES = {BasisChoice.RANDOM: _random_rows, BasisChoice.GREEDY: _greedy_rows}


def _values(kernel: Kernel, X: Matrix, rows: slice, columns: slice) -> Floats:
    if kernel.function is KernelName.PRECOMPUTED:
        return np.asarray(X[rows, columns], dtype=np.float64)
    return kernel(X[rows], X[columns])


def _given_rows(basis: object, n_rows: int) -> Ints:
    indices = np.asarray(basis)
    if indices.ndim != 1 or len(indices) == 0 or indices.dtype.kind not in "iu":
        raise ParameterError(f"The 'basis' parameter must be None, an int or row numbers; got {basis!r}.")
    outside = (indices < 0) | (indices >= n_rows)
    if outside.any():
        raise ParameterError(
            f"The 'basis' parameter must hold rows 0 to {n_rows - 1}; got {indices[outside.argmax()]}."
        )
    values, counts = np.unique(indices, return_counts=True)
    if (counts > 1).any():
        raise ParameterError(f"The 'basis' parameter must not repeat rows; {values[counts.argmax()]} does.")
    return indices.astype(np.int64)
