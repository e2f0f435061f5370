"""The functions that rankers learn: linear ones, and sums of kernel values with basis rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from rankwise.operators.kernel import Kernel, KernelFunction, KernelName, row_blocks
from rankwise.operators.native_rows import NativeRows, by_column
from rankwise.operators.reference import near_zero
from rankwise.rows.table import Table
from rankwise.scoring.additive import AdditiveFunction
from rankwise.types import Floats, Ints, Matrix


@dataclass(frozen=True, slots=True, eq=False)
class LinearFunction:
    """``x ↦ w·x``.

    Attributes
    ----------
    weights : Floats, shape (n,) or (k, n)
        The weights w, one row per target.
    """

    weights: Floats

    @property
    def propagates_nonfinite(self) -> bool:
        """NaN and infinity times any weight, even 0, are not finite, and neither is a sum of these."""
        return True

    @property
    def takes_sparse(self) -> bool:
        return True

    def scores(self, rows: Matrix) -> Floats:
        return by_column(NativeRows(rows).scores, np.asarray(self.weights.T, dtype=np.float64))

    def difference(self, pair: Matrix) -> Floats:
        """What each feature adds to the score of the first of two rows over that of the second."""
        dense = pair if isinstance(pair, np.ndarray) else pair.toarray()
        first, second = np.asarray(dense, dtype=np.float64)
        return np.asarray(self.weights * (first - second))


@dataclass(frozen=True, slots=True, eq=False)
class KernelExpansion:
    """``x ↦ Σ_b a_b k(x, b)`` over basis rows b.

    Attributes
    ----------
    kernel : Kernel
    coefficients : Floats, shape (r,) or (k, r)
        The coefficients a, one row per target.
    indices : Ints, shape (r,)
        Which training rows the basis rows are; with a precomputed kernel, each row to score holds its kernel
        values with all training rows.
    basis : Matrix or None, shape (r, n)
        None with a precomputed kernel.
    reference : Ints or None, shape (r,)
        With a linear kernel: the basis row from which each is measured.
    over_all_rows : bool
        Whether the basis is all training rows; coefficients then sum to 0.
    """

    kernel: Kernel
    coefficients: Floats
    indices: Ints
    basis: Matrix | None = None
    reference: Ints | None = None
    over_all_rows: bool = False

    @property
    def propagates_nonfinite(self) -> bool:
        """An rbf kernel is 0 at infinity, and of a precomputed one not every column is read."""
        return self.reference is not None

    @property
    def takes_sparse(self) -> bool:
        return self.kernel.function is not KernelName.PRECOMPUTED

    @property
    def kernel_parameter(self) -> str | KernelFunction:
        """The kernel as users name it."""
        function = self.kernel.function
        return str(function) if isinstance(function, KernelName) else function

    @property
    def weights(self) -> Floats | None:
        """The weights of features that the coefficients stand for; None unless the kernel is linear."""
        return self._linear_weights() if self.kernel.function is KernelName.LINEAR else None

    def scores(self, rows: Matrix) -> Floats:
        """Computed in blocks, so memory use stays small for any number of rows.

        For one target, each row is computed separately: in a matrix product, rounding depends on the position
        of a row, so equal rows would not be tied.
        """
        a = self.coefficients
        if self.reference is not None:
            return LinearFunction(self._linear_weights()).scores(rows)
        scores = np.empty((rows.shape[0], *a.shape[:-1]))
        for place, values in self.blocks_of_values(rows):
            scores[place] = np.vecdot(values, a) if a.ndim == 1 else values @ a.T
        return scores

    def difference(self, pair: Matrix) -> Floats:
        """What each basis row adds to the score of the first of two rows over that of the second."""
        first, second = self.kernel_values(pair)
        return np.asarray(self.coefficients * (first - second))

    def kernel_values(self, rows: Matrix) -> Floats:
        """Kernel values between rows and the basis rows, in C order."""
        if self.basis is None:
            return np.ascontiguousarray(rows[:, self.indices], dtype=np.float64)
        basis = self.basis
        movable = self.kernel.function is KernelName.LINEAR and self.over_all_rows
        if movable and isinstance(basis, np.ndarray):
            # The coefficients sum to 0, so scores do not depend on where the basis is measured from.
            basis = basis - basis.mean(axis=0, dtype=np.float64)
        return np.ascontiguousarray(self.kernel(rows, basis))

    def blocks_of_values(self, rows: Matrix) -> Iterator[tuple[slice, Floats]]:
        """The same, some rows at a time; a product with a matrix may round by what else is in a block."""
        for place in row_blocks(rows.shape[0], len(self.indices)):
            yield place, self.kernel_values(rows[place])

    def _linear_weights(self) -> Floats:
        assert self.basis is not None
        basis, reference = near_zero(self.basis, self.reference)
        adjoint = NativeRows(basis, reference=reference).adjoint
        return np.ascontiguousarray(by_column(adjoint, np.ascontiguousarray(self.coefficients.T)).T)


@dataclass(frozen=True, slots=True, eq=False)
class ExpansionOfColumns:
    """A sum of kernel values, of the features that the columns of a table become.

    Kernels mix features, so there is no function of each column, and rows are encoded to be scored.

    Attributes
    ----------
    encode : function of a Table
        The features of rows.
    expansion : KernelExpansion
    """

    encode: Callable[[Table], Matrix]
    expansion: KernelExpansion

    @property
    def propagates_nonfinite(self) -> bool:
        """Missing values have features, and infinite ones are refused when columns are read."""
        return False

    @property
    def takes_sparse(self) -> bool:
        return False

    @property
    def weights(self) -> None:
        """Columns have no weights."""
        return None

    def scores(self, rows: Table) -> Floats:
        return self.expansion.scores(self.encode(rows))

    def difference(self, pair: Table) -> Floats:
        """What each basis row adds to the score of the first of two rows over that of the second."""
        return self.expansion.difference(self.encode(pair))


FeatureFunction: TypeAlias = LinearFunction | KernelExpansion
ScoringFunction: TypeAlias = FeatureFunction | AdditiveFunction | ExpansionOfColumns


def checked_scores(function: ScoringFunction, check: Callable[[bool], Any]) -> Floats:
    """The scores of rows that `check` returns or refuses: ``check(True)`` also if they are not finite.

    That takes a pass over the rows, about as long as scoring them. Where the function propagates what is not
    finite, the scores show it, and only finite rows whose products overflow are checked for nothing.
    """
    if not function.propagates_nonfinite:
        return function.scores(check(True))
    scores = function.scores(check(False))
    if not np.isfinite(scores).all():
        check(True)
    return scores
