"""The weights of a linear RankRLS model without some queries, from the decomposition of the whole.

As in `leave_query_out`, whose scores these weights give, for one alpha and in terms of weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import linalg

from rankwise.family import Fold
from rankwise.ridge.closed_form import PrimalFamily
from rankwise.ridge.leave_out.left_out_batches import batches_of_rows
from rankwise.ridge.leave_out.left_out_systems import LEAST_SHARE
from rankwise.ridge.spectrum import RidgeSystem
from rankwise.threads import one_blas_thread
from rankwise.types import Floats


def weights_without(family: PrimalFamily, folds: Sequence[Fold], alpha: float) -> Iterator[Floats]:
    """The weights of the model of everything but a fold of whole queries, shape (n,), fold by fold.

    With ``XᵀLX = QTQᵀ``, ``D = (T + αI)⁻¹``, ``g = QᵀXᵀFᵀt`` and, for a fold with rows ``Z = F_q X`` and
    targets ``t_q``, ``B = ZQ``, they are ``Q D (g − Bᵀe)`` with ``e = (I − B D Bᵀ)⁻¹ (t_q − B D g)``. A fold
    of h rows takes O(h n² + h² n + h³). One that has nearly all there is to learn from, so that few digits
    would be left, takes a fit of the others.

    Parameters
    ----------
    family : PrimalFamily
        With a loss on the labels of queries, for one target.
    folds : sequence of Fold
    alpha : float
        Positive.
    """
    loss, design = family.loss, family.space.features
    form = family.decomposition(alpha)
    banded = np.vstack([np.append(0.0, form.off_diagonal), form.diagonal + alpha])
    with one_blas_thread():
        solved = linalg.solveh_banded(banded, form.target, check_finite=False)
    for fold in folds:
        assert fold.queries is not None
        with one_blas_thread():  # the products are small
            (batch,) = batches_of_rows(loss, design, [fold.queries])
            B = batch.removed(batch.centred_rows(design) @ form.basis)
            DB = linalg.solveh_banded(banded, B.T, check_finite=False)
            rest = RidgeSystem(np.eye(len(B)) - B @ DB, batch.removed_target(loss.target) - B @ solved)
            e, reciprocal = rest.cholesky(0.0)
            weights = form.basis @ (solved - DB @ e)
        # No eigenvalue is larger than 1, so the smallest is about the reciprocal condition.
        resolved = reciprocal >= LEAST_SHARE
        yield weights if resolved else family.solve_without(fold.loss, np.array([alpha])).coef[0]
