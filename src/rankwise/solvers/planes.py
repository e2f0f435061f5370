"""Planes below a convex risk, and the minimum of the highest of them plus ``alpha ‖w‖²``."""

from __future__ import annotations

import numpy as np

from rankwise.solvers.simplex_qp import minimize_on_simplex
from rankwise.types import Floats


class Planes:
    """Lower bounds ``offset_k + slope_k · w`` of a risk; they hold for every alpha.

    The first one says that a risk is not negative.

    Parameters
    ----------
    n_features : int

    Notes
    -----
    k planes take O(k n) memory; adding one costs O(k n), the program O(s³) a step for s planes in use.
    """

    def __init__(self, n_features: int) -> None:
        self._slopes = np.zeros((8, n_features))
        self._offsets = np.zeros(1)
        self._gram = np.zeros((1, 1))
        self._share = np.ones(1)
        self._unused = np.zeros(1, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, slope: Floats, offset: float) -> None:
        k = len(self)
        if k == len(self._slopes):
            self._slopes = np.concatenate([self._slopes, np.empty_like(self._slopes)])
        self._slopes[k] = slope
        self._gram = np.pad(self._gram, (0, 1))
        self._gram[k, :] = self._gram[:, k] = self._slopes[: k + 1] @ slope
        self._offsets = np.append(self._offsets, offset)
        self._share = np.append(self._share, 0.0)
        self._unused = np.append(self._unused, 0)

    def minimize(self, alpha: float) -> tuple[Floats, float]:
        """The minimizer of the highest plane plus ``alpha ‖w‖²``, and a lower bound of that minimum.

        With shares λ ≥ 0 of the planes, summing to 1, the bound is the dual objective
        ``Σ λ_k offset_k − ‖Σ λ_k slope_k‖² / (4 alpha)``: it holds for any shares, however well the program
        is solved.
        """
        self._share = minimize_on_simplex(self._gram / (2.0 * alpha), self._offsets, self._share)
        self._unused = np.where(self._share > 0.0, 0, self._unused + 1)
        slope = self._share @ self._slopes[: len(self)]
        bound = float(self._share @ self._offsets) - float(slope @ slope) / (4.0 * alpha)
        return slope / (-2.0 * alpha), bound

    def resolution(self, alpha: float) -> float:
        """How much rounding may add to a bound: offsets are at most 1, slopes sum many numbers."""
        slope = self._share @ self._slopes[: len(self)]
        return 16.0 * float(np.finfo(np.float64).eps) * (1.0 + float(slope @ slope) / (4.0 * alpha))

    def forget(self, patience: int) -> None:
        """Drop planes that the last `patience` programs did not use."""
        kept = np.flatnonzero(self._unused < patience)
        kept = np.union1d(kept, [0])
        if len(kept) == len(self):
            return
        self._slopes[: len(kept)] = self._slopes[kept]
        self._offsets, self._share = self._offsets[kept], self._share[kept]
        self._unused = self._unused[kept]
        self._gram = self._gram[np.ix_(kept, kept)]
