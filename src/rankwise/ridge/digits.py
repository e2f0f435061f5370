"""How many digits of a kernel model's scores survive rounding, estimated from the model itself."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from rankwise.family import LinearMap
from rankwise.operators.kernel import Kernel, KernelName
from rankwise.types import Floats, Ints, Matrix

EPS = float(np.finfo(np.float64).eps)
# Scores are compared on this many rows, evenly chosen.
ROWS_SAMPLED = 256


class KernelFunctions(Protocol):
    """Functions ``Σ_b a_b k(x_b, ·)`` over training rows; see `solvers.spaces`."""

    @property
    def X(self) -> Matrix: ...  # noqa: N802

    @property
    def kernel(self) -> Kernel: ...

    @property
    def basis_indices(self) -> Ints: ...

    def scorer(self, X: Matrix) -> LinearMap: ...

    def norms(self, rows: Ints) -> Floats:
        """``√k(x, x)`` of training rows."""
        ...


def surviving_digits(space: KernelFunctions, coef: Floats, reference: Ints) -> Floats:
    """About how many digits of the differences between scores are right, one number per alpha.

    A kernel value is at most ``√k(a, a) √k(b, b)``, and is rounded relative to that. The errors of the terms
    ``a_b k(x_b, x)`` are independent, so those of a score add up to about
    ``eps √k(x, x) (Σ_b a_b² k(x_b, x_b))^½``. Solving adds no more: the residual r of ``(FKFᵀ + αI) z = t``
    moves the scores by ``FKFᵀ(FKFᵀ + αI)⁻¹ r``, which is no longer than r.

    Parameters
    ----------
    space : KernelFunctions
    coef : Floats, shape (n_alphas, p) or (n_alphas, n_targets, p)
    reference : Ints, shape (m,)
        For each row, one that it is compared with.
    """
    models = coef.reshape(-1, coef.shape[-1])
    compared = np.flatnonzero(reference != np.arange(len(reference)))
    chosen = compared[np.linspace(0, len(compared) - 1, min(len(compared), ROWS_SAMPLED)).astype(np.int64)]
    rows, place = np.unique(np.concatenate([chosen, reference[chosen]]), return_inverse=True)
    scores = space.scorer(space.X[rows])(np.ascontiguousarray(models.T))[place]
    largest = np.abs(scores[: len(chosen)] - scores[len(chosen) :]).max(axis=0)
    error = _rounding(space.kernel, space.X[rows]) * space.norms(rows).max()
    error = error * np.linalg.norm(space.norms(space.basis_indices) * models, axis=1)
    share = np.divide(error, largest, out=np.full(len(models), EPS), where=largest > 0.0)
    return digits_of(share.reshape(len(coef), -1).max(axis=1))


def digits_of(share: Floats) -> Floats:
    """The digits left by errors of this relative size."""
    return np.asarray(-np.log10(np.clip(share, EPS, 1.0)))


def _rounding(kernel: Kernel, rows: Matrix) -> float:
    """The rounding error of kernel values, relative to their bound."""
    if kernel.function is KernelName.POLYNOMIAL:
        return EPS * max(1.0, kernel.degree)
    if kernel.function is KernelName.RBF:
        # The relative error of exp(d) is the error of d, a difference of products of centred rows.
        centre = rows.mean(axis=0, dtype=np.float64) if isinstance(rows, np.ndarray) else 0.0
        squares = np.square(rows - centre) if isinstance(rows, np.ndarray) else rows.multiply(rows)
        between = kernel(rows, rows)
        np.fill_diagonal(between, 0.0)
        exponent = 4.0 * kernel.gamma * float(squares.sum(axis=1).max())
        return EPS * (1.0 + exponent * float(between.max()))
    return EPS
