"""The weights of a linear RankRLS model without each query in turn, from the decomposition of the whole.

As in `leave_query_out`, whose scores these weights give, for one alpha and in terms of weights.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from rankwise.preferences.differences import QueryDifferences
from rankwise.ridge.closed_form import PrimalFamily
from rankwise.ridge.leave_out.leave_query_out import LEAST_SHARE
from rankwise.ridge.leave_out.left_out_batches import Batch
from rankwise.ridge.spectrum import RidgeSystem
from rankwise.threads import one_blas_thread
from rankwise.types import Floats


def weights_without_each_query(family: PrimalFamily, alpha: float) -> list[Floats | None]:
    """The weights of the model of all other queries, query by query.

    With ``XᵀLX = QTQᵀ``, ``D = (T + αI)⁻¹``, ``g = QᵀXᵀFᵀt`` and, for a query with rows ``Z = F_q X`` and
    targets ``t_q``, ``B = ZQ``, they are ``Q D (g − Bᵀe)`` with ``e = (I − B D Bᵀ)⁻¹ (t_q − B D g)``. A query
    of h rows takes O(h n² + h² n + h³).

    Parameters
    ----------
    family : PrimalFamily
        With a loss on the labels of queries, for one target.
    alpha : float
        Positive.

    Returns
    -------
    list of Floats, shape (n,), or None
        None where the query has nearly all there is to learn from, so that few digits would be left.
    """
    F, loss, design = family.loss.differences, family.loss, family.space.features
    if not isinstance(F, QueryDifferences) or loss.target.ndim != 1:
        raise TypeError("Leaving out queries needs a loss on the labels of one target.")
    form = family.decomposition(alpha)
    Q = form.basis
    banded = np.vstack([np.append(0.0, form.off_diagonal), form.diagonal + alpha])
    solved = linalg.solveh_banded(banded, form.target, check_finite=False)

    def without(query: int) -> Floats | None:
        batch = Batch(F, [np.array([query])])
        B = batch.differences(batch.centred_rows(design) @ Q)
        DB = linalg.solveh_banded(banded, B.T, check_finite=False)
        rest = RidgeSystem(np.eye(len(B)) - B @ DB, loss.target[batch.places] - B @ solved)
        e, reciprocal = rest.cholesky(0.0)
        # No eigenvalue is larger than 1, so the smallest is about the reciprocal condition.
        return None if reciprocal < LEAST_SHARE else Q @ (solved - DB @ e)

    with one_blas_thread():  # the products are small
        return [without(query) for query in range(F.queries.n_queries)]
