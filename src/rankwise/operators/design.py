"""The few products with a feature matrix that the solvers need."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from rankwise.factored_rows import FactoredRows
from rankwise.operators.blocks import centred, dense
from rankwise.operators.gram import difference_factor, difference_norm, difference_system
from rankwise.operators.kernel import Kernel, KernelName
from rankwise.operators.native_rows import NativeRows, by_column
from rankwise.operators.normal import NormalOperator, normal_operator
from rankwise.operators.reference import near_zero
from rankwise.operators.renumbering import frequency_order, renumbered
from rankwise.operators.spread import ColumnSums, Spread, column_sums, widest_with_covariances
from rankwise.preferences.differences import Differences
from rankwise.types import Floats, Ints, Matrix

# Lengths of rows are judged by this many of them.
ROWS_SAMPLED = 256


class Design(Protocol):
    """What a closed form needs of the data."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def centred_rows(self, index: Ints, offsets: Ints, weight: Floats) -> Floats:
        """Selected rows of X minus the weighted mean of their group; `offsets` says where groups start."""
        ...

    def difference_system(self, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
        """``Xᵀ L X`` as a dense n × n matrix, O(m s n), and ``Xᵀ Fᵀ t``."""
        ...

    def difference_factor(self, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
        """``R`` and ``Qᵀt`` of ``F X = QR``; for systems too ill-conditioned for ``Xᵀ L X``."""
        ...

    def difference_norm(self, differences: Differences, directions: Floats) -> float:
        """The Frobenius norm of ``F X V`` for directions V: 0, but for rounding, if ``Xᵀ L X V`` is 0."""
        ...


class MatrixDesign:
    """A dense or CSR matrix, in memory or memory-mapped, or `FactoredRows`.

    With `reference`, such as the first row of each row's query, the products are those of each row minus its
    reference row, wherever features far from zero would otherwise cost digits (`operators.reference`).

    Products run in compiled kernels on several threads, accumulate in double precision whatever the dtype
    of X, and are bit-identical for any number of threads.
    """

    def __init__(self, X: Matrix | FactoredRows, reference: Ints | None = None) -> None:
        self.X: Any = X
        self._reference = reference

    @cached_property
    def _near(self) -> tuple[Any, Ints | None]:
        """The rows to compute with, and those to measure them from if need be; a pass over X to find out."""
        return near_zero(self.X, self._reference)

    @cached_property
    def _rows(self) -> NativeRows:
        X, reference = self._near
        return NativeRows(X, reference)

    @cached_property
    def _rows_used_often(self) -> NativeRows:
        """The same rows, with columns renumbered where many products are to gain from it."""
        order = frequency_order(self._near[0])
        if order is None:
            return self._rows
        return NativeRows(renumbered(self._near[0], order), column_order=order)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    def scores(self, weights: Floats) -> Floats:
        """``X w``; O(m s) per column."""
        return by_column(self._rows.scores, weights)

    def adjoint(self, rows: Floats) -> Floats:
        """``Xᵀ u``; O(m s) per column."""
        return by_column(self._rows.adjoint, rows)

    def normal_operator(self, differences: Differences) -> NormalOperator:
        """``w ↦ Xᵀ L X w``, prepared once and called often; O(m s + l) per call."""
        return normal_operator(differences, self._rows_used_often)

    def rows(self, index: Ints) -> Floats:
        """Selected rows, dense and in double precision."""
        X, reference = self._near
        rows = dense(X[index])
        return rows if reference is None else rows - dense(X[reference[index]])

    def centred_rows(self, index: Ints, offsets: Ints, weight: Floats) -> Floats:
        return centred(self.X, index, offsets, weight)

    def inner_products(self) -> Floats:
        """``X Xᵀ`` as a dense m × m matrix, O(m² s)."""
        X, reference = self._near
        whole = reference is None and not isinstance(X, FactoredRows)
        rows: Any = X if whole else self.rows(np.arange(X.shape[0]))
        return Kernel(KernelName.LINEAR)(rows, rows)

    def row_length(self) -> float:
        """About the norm of the longest row, from a sample: how much products magnify rounding errors."""
        X, reference = self._near
        sample = np.linspace(0, X.shape[0] - 1, min(X.shape[0], ROWS_SAMPLED)).astype(np.int64)
        rows: Any = X[sample] if reference is None else self.rows(sample)
        if hasattr(rows, "indptr"):
            row, values = np.repeat(np.arange(len(sample)), np.diff(rows.indptr)), rows.data
        else:
            row, values = np.repeat(np.arange(len(sample)), rows.shape[1]), rows.ravel()
        largest = float(np.abs(values).max(initial=0.0)) or 1.0  # divided by, so that squares cannot overflow
        squares = np.square(values / largest, dtype=np.float64)
        return largest * float(np.sqrt(np.bincount(row, squares).max(initial=0.0)))

    def spread(self, weight: Floats) -> Spread:
        """An estimate of how columns vary among rows that are compared, from a sample of weighted rows."""
        X, reference = self._near
        narrow = widest_with_covariances(X)
        sums = column_sums(X, weight, self.shape, narrow=narrow, reference=reference, group=self._reference)
        return sums.spread()

    def column_sums(self, weight: Floats, shape: tuple[int, int]) -> ColumnSums:
        """What these rows add to the sums behind the spread of a matrix of this shape."""
        X, reference = self._near
        return column_sums(X, weight, shape, reference=reference, group=self._reference)

    def subtracted(self, index: Ints) -> Matrix:
        """What the products leave out of selected rows, dense or sparse as X is."""
        X, reference = self._near
        if reference is not None:
            return dense(self.X[reference[index]])
        if X is self.X:
            left_out: Matrix = 0.0 * self.X[index]
        else:
            left_out = self.X[index] - X[index]
        return left_out

    @property
    def leaves_out(self) -> bool:
        """Whether the products leave out anything."""
        X, reference = self._near
        return reference is not None or X is not self.X

    def difference_system(self, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
        # Dense rows are centred on the way.
        X = self._near[0] if sparse.issparse(self.X) else self.X
        return difference_system(X, differences, target)

    def difference_factor(self, differences: Differences, target: Floats) -> tuple[Floats, Floats]:
        return difference_factor(self.X, differences, target)

    def difference_norm(self, differences: Differences, directions: Floats) -> float:
        return difference_norm(self.X, differences, directions)
