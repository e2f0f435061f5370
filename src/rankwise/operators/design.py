"""The few products with a feature matrix that the solvers need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from rankwise.operators.blocks import dense
from rankwise.operators.gram import difference_factor, difference_system
from rankwise.operators.normal import NormalOperator, normal_operator
from rankwise.operators.rows import NativeRows
from rankwise.operators.spread import Spread, column_spread
from rankwise.preferences.differences import Differences
from rankwise.types import Floats, Ints, Matrix


class Design(Protocol):
    """The operations on the data that a solver may use."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def scores(self, weights: Floats) -> Floats:
        """``X w``; O(m s) per column."""
        ...

    def adjoint(self, rows: Floats) -> Floats:
        """``Xᵀ u``; O(m s) per column."""
        ...

    def normal_operator(self, differences: Differences) -> NormalOperator:
        """``w ↦ Xᵀ L X w``, prepared once and called often; O(m s + l) per call."""
        ...

    def rows(self, index: Ints) -> Floats:
        """Selected rows of X, dense and in double precision."""
        ...

    def spread(self, weight: Floats) -> Spread:
        """An estimate of how columns vary, from a sample of weighted rows."""
        ...

    def difference_system(self, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
        """``Xᵀ L X`` as a dense n × n matrix, O(m s n), and ``Xᵀ Fᵀ t``."""
        ...

    def difference_factor(self, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
        """``R`` and ``Qᵀt`` of ``F X = QR``; for systems too ill-conditioned for ``Xᵀ L X``."""
        ...


class MatrixDesign:
    """A dense or CSR matrix, in memory or memory-mapped.

    Products run in compiled kernels on `n_threads` threads, accumulate in double precision whatever the dtype
    of X, and are bit-identical for any number of threads.
    """

    def __init__(self, X: Matrix, n_threads: int | None = None) -> None:
        self.X = X
        self._rows = NativeRows(X, n_threads)

    @property
    def shape(self) -> tuple[int, int]:
        return self._rows.shape

    def scores(self, weights: Floats) -> Floats:
        return _by_column(self._rows.scores, weights)

    def adjoint(self, rows: Floats) -> Floats:
        return _by_column(self._rows.adjoint, rows)

    def normal_operator(self, differences: Differences) -> NormalOperator:
        return normal_operator(differences, self._rows)

    def rows(self, index: Ints) -> Floats:
        return dense(self.X[index])

    def spread(self, weight: Floats) -> Spread:
        return column_spread(self.X, weight)

    def difference_system(self, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
        return difference_system(self.X, differences, target)

    def difference_factor(self, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
        return difference_factor(self.X, differences, target)


def _by_column(product: Callable[[Floats], Floats], operand: Floats) -> Floats:
    if operand.ndim == 1:
        return product(operand)
    return np.column_stack([product(np.ascontiguousarray(column)) for column in operand.T])
