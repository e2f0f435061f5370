"""Kernels between rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np

from rankwise import _native
from rankwise.errors import DataError
from rankwise.threads import SMALL, SMALL_TO_FACTOR, one_blas_thread
from rankwise.types import Floats, Matrix
from rankwise.validation.arrays import as_floats, check_products
from rankwise.validation.parameters import check_choice

# k(A, B) returns the matrix of kernel values between the rows of A and those of B.
KernelFunction: TypeAlias = Callable[[Any, Any], Any]

# Maximum size of a full kernel matrix; computing it takes about as much again.
MAX_MATRIX_BYTES = 2 << 30
# Bytes of kernel values computed at a time when streaming over rows.
BLOCK_BYTES = 1 << 25
# Tolerated deviation of kernel matrices from symmetry, relative to their largest value, and from positive
# semi-definiteness, relative to a bound on their largest eigenvalue: what single precision may cause.
TOLERANCE = 1e-7


class KernelName(StrEnum):
    """Named kernels."""

    LINEAR = "linear"
    POLYNOMIAL = "polynomial"
    RBF = "rbf"
    PRECOMPUTED = "precomputed"


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its parameters.

    Attributes
    ----------
    function : KernelName or callable
        ``linear``: a·b; ``polynomial``: (gamma a·b + coef0)^degree; ``rbf``: exp(−gamma ‖a − b‖²);
        ``precomputed``: the matrix passed as A already holds the values; or a callable k(A, B) -> matrix.
    gamma : float
    degree : float
    coef0 : float
    """

    function: KernelName | KernelFunction
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 1.0

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that the function uses."""
        used = {KernelName.POLYNOMIAL: ("gamma", "degree", "coef0"), KernelName.RBF: ("gamma",)}
        return used.get(self.function, ()) if isinstance(self.function, KernelName) else ()

    def __call__(self, A: Matrix, B: Matrix) -> Floats:
        """Kernel values between rows, shape (len(A), len(B)); O(len(A) len(B) s)."""
        if not isinstance(self.function, KernelName):
            return self._checked_call(A, B)
        return _NAMED[self.function](self, A, B)

    def _checked_call(self, A: Matrix, B: Matrix) -> Floats:
        assert not isinstance(self.function, KernelName)
        returned = self.function(A, B)
        dense = returned.toarray() if hasattr(returned, "toarray") else returned
        values = as_floats("The return value of the kernel function", dense)
        expected = (A.shape[0], B.shape[0])
        if values.shape != expected:
            raise DataError(
                f"The kernel function must return one value per pair of rows, shape {expected}; "
                f"got shape {values.shape}."
            )
        if not np.isfinite(values).all():
            raise DataError("The kernel function must return finite values; got NaN or infinity.")
        return values


# scikit-learn's kernels would repeat our checks, at several times the cost of a small kernel.


def _linear(_: Kernel, A: Matrix, B: Matrix) -> Floats:
    # In double precision whatever the rows are in: single precision would keep seven digits of the sums.
    product = A.astype(np.float64, copy=False) @ B.T.astype(np.float64, copy=False)
    return np.ascontiguousarray(product.toarray() if hasattr(product, "toarray") else product)


def _polynomial(kernel: Kernel, A: Matrix, B: Matrix) -> Floats:
    values = _linear(kernel, A, B)
    values *= kernel.gamma
    values += kernel.coef0
    values **= kernel.degree
    return values


def _rbf(kernel: Kernel, A: Matrix, B: Matrix) -> Floats:
    """With rows scaled by √(2 gamma): exp(a·b − ½‖a‖² − ½‖b‖²), in three passes over the values.

    Dense rows are centred first: for features far from zero, such as timestamps, the products would
    otherwise lose the digits that distinguish the rows.
    """
    same = A is B
    scale = math.sqrt(2.0 * kernel.gamma)
    dense = isinstance(A, np.ndarray) and isinstance(B, np.ndarray)
    centre = B.sum(axis=0, dtype=np.float64) / len(B) if dense else None
    A, half_a = _moved(A, centre, scale)
    B, half_b = (A, half_a) if same else _moved(B, centre, scale)
    values = _linear(kernel, A, B)
    _native.negative_half_distances(values, half_a, half_b)
    if same:
        check_products(half_a)
        np.fill_diagonal(values, 0.0)
    return np.exp(values, out=values)


def _moved(rows: Matrix, centre: Floats | None, scale: float) -> tuple[Matrix, Floats]:
    """Centre and scale rows, and return them with half their squared norms."""
    if centre is not None and isinstance(rows, np.ndarray):
        moved, half_squares = np.empty(rows.shape), np.empty(rows.shape[0])
        _native.move_rows(rows, centre, scale, moved, half_squares)
        return moved, half_squares
    scaled = rows.astype(np.float64, copy=False) * scale
    squares = (
        np.vecdot(scaled, scaled) if isinstance(scaled, np.ndarray) else scaled.multiply(scaled).sum(axis=1)
    )
    return scaled, 0.5 * np.asarray(squares, dtype=np.float64).ravel()


def _precomputed(_: Kernel, A: Matrix, B: Matrix) -> Floats:
    return np.asarray(A, dtype=np.float64)


_NAMED: dict[KernelName, Callable[[Kernel, Matrix, Matrix], Floats]] = {
    KernelName.LINEAR: _linear,
    KernelName.POLYNOMIAL: _polynomial,
    KernelName.RBF: _rbf,
    KernelName.PRECOMPUTED: _precomputed,
}


def checked_function(kernel: object) -> KernelName | KernelFunction:
    """The function that the parameter `kernel` names or is."""
    return kernel if callable(kernel) else check_choice("kernel", kernel, KernelName)


def check_kernel_fits(n_rows: int) -> None:
    """Reject a full kernel matrix that is too large, before allocating it."""
    most = math.isqrt(MAX_MATRIX_BYTES // 8)
    if n_rows > most:
        raise DataError(
            f"The kernel matrix of {n_rows:,} rows ({8 * n_rows**2 / 2**30:.1f} GB) does not fit in memory; "
            f"at most {most:,} rows are supported. Use KernelRankRLS with basis vectors or solver='cg', "
            "RankSVM, or a sample of the rows."
        )


def check_kernel_matrix(K: Floats, name: str) -> None:
    """Reject a kernel matrix that is not symmetric positive semi-definite, and say by how much.

    Takes one Cholesky factorization, m³/3, and eigenvalues only if it fails.
    """
    from scipy import linalg

    sizes = np.abs(K)
    skew = float(np.abs(K - K.T).max(initial=0.0))
    if skew > TOLERANCE * float(sizes.max(initial=0.0)):
        i, j = np.unravel_index(np.abs(K - K.T).argmax(), K.shape)
        raise DataError(
            f"{name} must be symmetric; its values at ({i}, {j}) and ({j}, {i}) are "
            f"{K[i, j]:g} and {K[j, i]:g}."
        )
    shift = TOLERANCE * float(sizes.sum(axis=1).max(initial=0.0))
    shifted = K.copy()
    shifted[np.diag_indices_from(shifted)] += shift
    with one_blas_thread(len(K) <= SMALL_TO_FACTOR):
        failed = linalg.lapack.dpotrf(shifted, lower=1, overwrite_a=1)[1]
    if shift > 0.0 and failed:
        with one_blas_thread(len(K) <= SMALL):
            values = linalg.eigvalsh(K)
        raise DataError(
            f"{name} must be positive semi-definite; its smallest eigenvalue is {values[0]:.3g}, "
            f"its largest {values[-1]:.3g}."
        )


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices of rows whose kernel values against `n_columns` rows fit in a block."""
    size = max(64, BLOCK_BYTES // (8 * max(1, n_columns)))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
