"""RankRLS: regularized least squares on differences."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Self

from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.estimators.base import LinearRanker
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.differences import QueryDifferences
from rankwise.solvers.spectrum import solve_primal
from rankwise.types import Ties, Weighting
from rankwise.validation import check_choice, check_number, check_problem


class RankRLS(LinearRanker):
    """Linear RankRLS: minimize ``Σ_q c_q Σ_{i<j in q} (yᵢ − yⱼ − (xᵢ − xⱼ)·w)² + alpha ‖w‖²``.

    Parameters
    ----------
    alpha : float, default=1.0
        The papers' λ.
    ties : {"keep", "drop"}, default="keep"
        Whether pairs with equal labels count.
    weighting : {"example", "pair", "query"}, default="example"
        The weight c of a query's pairs: one over its number of rows, 1, or one over its number of pairs.
    """

    def __init__(self, alpha: float = 1.0, *, ties: str = "keep", weighting: str = "example") -> None:
        self.alpha = alpha
        self.ties = ties
        self.weighting = weighting

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        alpha = check_number("alpha", self.alpha, minimum=0.0)
        ties = check_choice("ties", self.ties, Ties)
        weighting = check_choice("weighting", self.weighting, Weighting)
        problem = check_problem(self, X, y, qid, sample_weight)
        differences = QueryDifferences(
            problem.queries, problem.y, ties=ties, weighting=weighting, row_weight=problem.row_weight
        )
        if not differences.has_pairs:
            raise DataError("There is nothing to learn: no query has two rows with different labels.")
        self.coef_ = solve_primal(MatrixDesign(problem.X), differences, problem.y, alpha)
        return self
