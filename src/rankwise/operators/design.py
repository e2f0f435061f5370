"""A feature matrix as the few products that the solvers need."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from rankwise.operators.gram import difference_factor, difference_gram
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

    def difference_factor(self, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
        """``R`` and ``Qᵀt`` of ``F X = QR``; for systems too ill-conditioned for ``Xᵀ L X``."""
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
        return difference_gram(self.X, differences)

    def difference_factor(self, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
        return difference_factor(self.X, differences, target)
