"""Compiled products with a dense or sparse matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwise import _native
from rankwise.config import resolve_threads
from rankwise.factored_rows import FactoredRows
from rankwise.mapped import check_not_cut, is_on_disk, mapped_parts
from rankwise.preferences.queries import restored
from rankwise.types import Floats, Ints, Matrix


class NativeRows:
    """A matrix that the kernels read in place, in memory or memory-mapped, without copying its values.

    All products are bit-identical for any number of threads. If the matrix is in a store, they keep only
    the few megabytes they are working on in memory, and read its rows in order if the rows of each query are
    contiguous.

    Parameters
    ----------
    X : Matrix or FactoredRows, shape (m, n)
        Already validated; see `validation.check_problem`.
    reference : Ints, shape (m,), or None
        For a dense X: the products are those of each row less the row named here.
    column_order : Ints, shape (n,), or None
        The columns that those of X stand for, if X is `renumbered`; weights and sums are in their order.
    """

    def __init__(
        self,
        X: Matrix | FactoredRows,
        reference: Ints | None = None,
        column_order: Ints | None = None,
    ) -> None:
        self._column_order, self._factor = column_order, None
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        stored: Any = X
        if isinstance(X, FactoredRows):
            stored, self._factor = X.factors
        self._n_columns = int(stored.shape[1])
        self.n_threads = resolve_threads()
        self._mapped = mapped_parts(stored)
        if isinstance(stored, np.ndarray):
            values = np.ascontiguousarray(stored)
            self.n_entries = values.size
            self.entry_bytes = values.itemsize
            self.matrix = _native.dense_rows(values, reference, is_on_disk(values))
        else:
            columns = stored.indices
            offsets = np.ascontiguousarray(stored.indptr, dtype=np.int64)
            self.n_entries = int(offsets[-1])
            self.entry_bytes = stored.data.itemsize + columns.itemsize
            self.matrix = _native.sparse_rows(
                offsets, columns, stored.data, self._n_columns, is_on_disk(stored)
            )

    def column_ranges(self) -> tuple[Floats, Floats]:
        """The largest absolute value of each column in the reference rows, and less them; of dense rows."""
        offset, spread = np.empty((2, self._n_columns))
        _native.column_ranges(self.matrix, offset, spread, self.n_threads)
        return offset, spread

    def column_moments(self, weight: Floats, step: int) -> tuple[Floats, Floats, Floats]:
        """``Σ wᵢ xᵢⱼ``, ``Σ wᵢ xᵢⱼ²`` and the number of entries of each column, over every `step`-th row.

        For a sparse X; the rows are read in place.
        """
        moments = np.zeros((self.shape[1], 3))
        check_not_cut(self._mapped)
        _native.column_moments(self.matrix, weight, step, moments)
        total, square, count = np.ascontiguousarray(restored(moments, self._column_order).T)
        return total, square, count

    def scores(self, weights: Floats) -> Floats:
        out = np.empty(self.shape[0])
        check_not_cut(self._mapped)
        _native.scores(self.matrix, self._inward(weights), out, self.n_threads)
        return out

    def adjoint(self, u: Floats) -> Floats:
        out = np.empty(self._n_columns)
        check_not_cut(self._mapped)
        _native.adjoint(self.matrix, u, out, self.n_threads)
        return self._outward(out)

    def query_normal_product(
        self,
        offsets: Ints,
        order: Ints | None,
        level_offsets: Ints | None,
        row_weight: Floats,
        query_weight: Floats,
        weights: Floats,
    ) -> Floats:
        """``XᵀLXw`` for the pairs within queries, one query at a time."""
        out = np.empty(self._n_columns)
        check_not_cut(self._mapped)
        _native.query_normal_product(
            self.matrix,
            offsets,
            order,
            level_offsets,
            row_weight,
            query_weight,
            self._inward(weights),
            out,
            self.n_threads,
        )
        return self._outward(out)

    def row_normal_product(self, scale: Floats, shift: Floats, weights: Floats) -> Floats:
        """``Xᵀ(scale ∘ Xw − shift)``, one row at a time."""
        out = np.empty(self._n_columns)
        check_not_cut(self._mapped)
        _native.row_normal_product(self.matrix, scale, shift, self._inward(weights), out, self.n_threads)
        return self._outward(out)

    def _inward(self, weights: Floats) -> Floats:
        """The weights of the columns of the matrix that is stored."""
        if self._factor is not None:
            return np.asarray(self._factor @ weights)
        return weights if self._column_order is None else weights[self._column_order]

    def _outward(self, sums: Floats) -> Floats:
        """Sums over the columns of the matrix that is stored as those of X."""
        if self._factor is not None:
            return np.asarray(self._factor.T @ sums)
        return restored(sums, self._column_order)


def by_column(product: Callable[[Floats], Floats], operand: Floats) -> Floats:
    """A product with a vector or, one by one, with the columns of a matrix."""
    if operand.ndim == 1:
        return product(operand)
    return np.column_stack([product(np.ascontiguousarray(column)) for column in operand.T])
