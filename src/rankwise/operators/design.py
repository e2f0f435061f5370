"""A feature matrix as the few products that the solvers need."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import sparse

from rankwise.preferences.differences import Differences
from rankwise.types import Floats, Matrix


class Design(Protocol):
    """What a solver may ask of the data."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def scores(self, weights: Floats) -> Floats:
        """``X w``; O(m s) a column."""
        ...

    def adjoint(self, rows: Floats) -> Floats:
        """``Xᵀ u``; O(m s) a column."""
        ...

    def normal_product(self, differences: Differences, weights: Floats) -> Floats:
        """``Xᵀ L X w``."""
        ...

    def difference_gram(self, differences: Differences) -> Floats:
        """``Xᵀ L X`` as a dense n × n matrix; O(m s n)."""
        ...


class MatrixDesign:
    """A dense or CSR matrix in memory or memory-mapped."""

    def __init__(self, X: Matrix) -> None:
        self.X = X

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    def scores(self, weights: Floats) -> Floats:
        return np.asarray(self.X @ weights, dtype=np.float64)

    def adjoint(self, rows: Floats) -> Floats:
        return np.asarray(self.X.T @ rows, dtype=np.float64)

    def normal_product(self, differences: Differences, weights: Floats) -> Floats:
        return self.adjoint(differences.laplacian(self.scores(weights)))

    def difference_gram(self, differences: Differences) -> Floats:
        if sparse.issparse(self.X):
            raise NotImplementedError
        Z = differences.apply(np.asarray(self.X, dtype=np.float64))
        return np.asarray(Z.T @ Z)
