"""Models without some queries, from the system of all: what a fold adds to it is subtracted.

``(A − ZᵀZ + αI) w = r − Zᵀt`` for folds with rows Z and targets t, for every alpha; see `leave_query_out`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rankwise._native import FoldRows, left_out_systems
from rankwise.config import resolve_threads
from rankwise.operators.blocks import gram_on_threads, product_on_threads
from rankwise.operators.design import Design
from rankwise.ridge.leave_out.left_out_batches import Batch
from rankwise.ridge.spectrum import EPS, RidgeSystem
from rankwise.ridge.squared import SquaredLoss
from rankwise.ridge.tridiagonal import WELL_CONDITIONED, lapack
from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Bools, Floats

# A fold is refitted if more of what it leaves would be lost to rounding.
LARGEST_LOSS = 1e-7
LEAST_SHARE = 4.0 * EPS / LARGEST_LOSS
# In a fold with so many rows per column, nothing but products with these rows takes long.
LARGE_FOLD = 8


@dataclass(frozen=True)
class Whole:
    """The system of all queries, in coordinates of the features or, if these have null directions, of a
    basis without them: what is 0 for all queries is 0 without some of them."""

    design: Design
    loss: SquaredLoss
    system: RidgeSystem
    basis: Floats | None = None

    @property
    def is_projected(self) -> bool:
        return self.basis is not None

    def rows(self, batch: Batch) -> Floats:
        """The centred rows of a batch."""
        rows = batch.centred_rows(self.design)
        return rows if self.basis is None else product_on_threads(rows, self.basis)

    def removed(self, batch: Batch, rows: Floats) -> tuple[Floats, Floats]:
        """The differences that folds of these rows remove, and their targets."""
        return batch.removed(rows), batch.removed_target(self.loss.target)


class Systems:
    """Subtract each fold from the system, and reduce what is left to a tridiagonal one."""

    def __init__(self, whole: Whole, alphas: Floats) -> None:
        self._whole, self._system, self._alphas = whole, whole.system, alphas
        self._smallest = float(alphas.min())

    def __call__(self, batch: Batch) -> tuple[Floats, Bools]:
        rows = self._whole.rows(batch)
        (Z, t), X = self._whole.removed(batch, rows), batch.scored(rows)
        scores = np.empty((len(X), len(self._alphas)))
        resolved = np.empty(len(batch.folds), dtype=np.bool_)
        # The rest has no larger eigenvalue than the whole.
        least = WELL_CONDITIONED * self._system.tridiagonal.extremes[1] - self._smallest
        with one_blas_thread():
            left_out_systems(
                lapack(),
                self._system.matrix,
                self._system.right,
                FoldRows(Z, batch.removed_offsets),
                t,
                FoldRows(X, batch.offsets),
                self._alphas,
                least,
                LEAST_SHARE,
                scores,
                resolved,
                resolve_threads(),
            )
        return scores, resolved


class LargeFolds:
    """The same, with all threads at one fold, for folds of many more rows than columns.

    Rows stay in the coordinates of the features: what they remove is projected, and weights projected back.
    """

    def __init__(self, whole: Whole, alphas: Floats) -> None:
        self._whole, self._system, self._alphas = whole, whole.system, alphas

    def __call__(self, batch: Batch) -> tuple[Floats, Bools]:
        rows = batch.centred_rows(self._whole.design)
        (Z, t), X = self._whole.removed(batch, rows), batch.scored(rows)
        scores, resolved = np.empty((len(X), len(self._alphas))), np.empty(len(batch.folds), dtype=np.bool_)
        removed = [slice(*ends) for ends in pairwise(batch.removed_offsets)]
        for f, place in enumerate(slice(*ends) for ends in pairwise(batch.offsets)):
            weights = self._weights(*gram_on_threads(Z[removed[f]], t[removed[f]]))
            resolved[f] = weights is not None
            if weights is not None:
                scores[place] = product_on_threads(X[place], weights)
        return scores, resolved

    def _weights(self, removed: Floats, of_target: Floats) -> Floats | None:
        """The weights of features without a fold, a column for each alpha; None beyond the limits."""
        basis, smallest = self._whole.basis, float(self._alphas.min())
        with one_blas_thread(len(removed) <= SMALL):
            if basis is not None:
                removed, of_target = basis.T @ removed @ basis, of_target @ basis
            rest = RidgeSystem(self._system.matrix - removed, self._system.right - of_target)
            left = np.maximum(np.diag(rest.matrix), 0.0) + smallest
            largest = self._system.tridiagonal.extremes[1]
            # The rest has no larger eigenvalue than the whole.
            if (
                not leaves_enough(left, np.diag(self._system.matrix))
                or rest.tridiagonal.extremes[0] + smallest <= WELL_CONDITIONED * largest
            ):
                return None
            weights = rest.tridiagonal.solve_all(self._alphas).T
            return np.ascontiguousarray(weights if basis is None else basis @ weights)


class MinimumNorm:
    """The minimum-norm solution (alpha = 0) without each fold, from the rank of what is left."""

    def __init__(self, whole: Whole) -> None:
        self._whole, self._system = whole, whole.system

    def __call__(self, batch: Batch) -> tuple[Floats, Bools]:
        rows = self._whole.rows(batch)
        (Z, t), X = self._whole.removed(batch, rows), batch.scored(rows)
        scores, resolved = np.empty((len(X), 1)), np.empty(len(batch.folds), dtype=np.bool_)
        removed = [slice(*ends) for ends in pairwise(batch.removed_offsets)]
        for f, place in enumerate(slice(*ends) for ends in pairwise(batch.offsets)):
            Z_f, t_f = Z[removed[f]], t[removed[f]]
            with one_blas_thread(self._system.is_small):
                rest = RidgeSystem(self._system.matrix - Z_f.T @ Z_f, self._system.right - Z_f.T @ t_f)
            resolved[f] = leaves_enough(np.diag(rest.matrix), np.diag(self._system.matrix))
            if resolved[f]:
                scores[place, 0] = X[place] @ rest.spectrum.solve(0.0)
        return scores, resolved


def leaves_enough(left: Floats, total: Floats) -> bool:
    """Whether what a fold leaves of the diagonal has digits that rounding the whole did not cost it."""
    return bool((left >= LEAST_SHARE * total).all())
