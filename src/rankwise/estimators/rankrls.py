"""RankRLS: regularized least squares on differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rankwise.estimators.base import LinearRanker
from rankwise.estimators.closed_form import ClosedFormRanker, joined_targets
from rankwise.estimators.selected import DEFAULT_ALPHAS, SelectingRanker, grid_of
from rankwise.losses.squared import SquaredLoss
from rankwise.metrics.measure import Measure
from rankwise.operators.design import MatrixDesign
from rankwise.operators.kernel import Kernel, KernelName
from rankwise.persist.fields import Fields, value
from rankwise.solvers.spaces import ExampleSpace, FeatureSpace, MappedSpace, Space
from rankwise.types import Floats, Matrix, Solver
from rankwise.validation import check_choice


class RankRLS(ClosedFormRanker, LinearRanker):
    """Linear RankRLS: minimize ``Σ_q c_q Σ_{i<j in q} (yᵢ − yⱼ − (xᵢ − xⱼ)·w)² + alpha ‖w‖²``.

    Parameters
    ----------
    alpha : float, default=1.0
        The papers' λ; 0 gives the least-squares solution of smallest norm.
    solver : {"auto", "primal", "dual"}, default="auto"
        "primal" solves in the space of features (O(m n² + n³)), "dual" in the space of rows (O(m² n + m³));
        "auto" takes the smaller space. Both give the same model.
    ties : {"keep", "drop"}, default="keep"
        Whether pairs with equal labels count.
    weighting : {"example", "pair", "query"}, default="example"
        The weight c of a query's pairs: one over its number of rows, 1, or one over its number of pairs.

    Attributes
    ----------
    coef_ : array, shape (n,) or (k, n)
        The weights w, one row a target when y has k columns.
    solver_ : {"primal", "dual"}
        The solver that "auto" chose.

    References
    ----------
    Pahikkala et al., "Learning to Rank with Pairwise Regularized Least-Squares" (2007), equations 8 and 11.

    Examples
    --------
    >>> from rankwise import RankRLS
    >>> X, y, qid = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 0.0, 2.0], ["a", "a", "a"]
    >>> RankRLS(alpha=0.1).fit(X, y, qid).rank(X, qid).tolist()
    [2, 0, 1]
    """

    _fitted_state: Fields = (*LinearRanker._fitted_state, value("solver_", str))

    def __init__(
        self, alpha: float = 1.0, *, solver: str = "auto", ties: str = "keep", weighting: str = "example"
    ) -> None:
        self.alpha = alpha
        self.solver = solver
        self.ties = ties
        self.weighting = weighting

    def _spaces_for(self, X: Matrix, losses: Sequence[SquaredLoss]) -> list[Space]:
        chosen = choose_solver(check_choice("solver", self.solver, Solver), *X.shape)
        self.solver_ = str(chosen)
        return _SPACES[chosen](X, losses)

    def _accept(self, coefficients: Sequence[Floats]) -> None:
        self.coef_ = np.ascontiguousarray(joined_targets(coefficients))


def choose_solver(solver: Solver, n_rows: int, n_features: int) -> Solver:
    """What "auto" stands for: the smaller of the two spaces."""
    if solver is not Solver.AUTO:
        return solver
    return Solver.PRIMAL if n_features <= n_rows else Solver.DUAL


def _in_features(X: Matrix, losses: Sequence[SquaredLoss]) -> list[Space]:
    design = MatrixDesign(X)
    return [FeatureSpace(design, loss) for loss in losses]


def _in_examples(X: Matrix, losses: Sequence[SquaredLoss]) -> list[Space]:
    K, design = Kernel(KernelName.LINEAR)(X, X), MatrixDesign(X)
    return [MappedSpace(ExampleSpace(K, loss), design.adjoint) for loss in losses]


_SPACES: dict[Solver, Callable[[Matrix, Sequence[SquaredLoss]], list[Space]]] = {
    Solver.PRIMAL: _in_features,
    Solver.DUAL: _in_examples,
}


class RankRLSCV(SelectingRanker, LinearRanker):
    """Linear RankRLS that chooses alpha, every value of it from one decomposition.

    Parameters
    ----------
    alphas : sequence of float, default=(2⁻¹⁵, ..., 2¹⁵)
        The values to choose from.
    cv : "leave-query-out", "leave-pair-out", int, splitter or None, default="leave-query-out"
        What the choice rests on when `fit` gets no `eval_set`. Leave-query-out is exact for every alpha, at
        the price of a few fits; a number of folds or a scikit-learn splitter of whole queries is treated
        alike. One global ranking (no qid) has nothing to leave out but pairs of rows: leave-pair-out then
        takes its place.
    measure : str or Measure, default="pairwise_error"
        What is measured on the rows left out; see `rankwise.metrics.get_measure`.
    solver : {"auto", "primal", "dual"}, default="auto"
    ties : {"keep", "drop"} or a tuple of them, default="keep"
        ``("keep", "drop")`` chooses as paper A does.
    weighting : {"example", "pair", "query"} or a tuple of them, default="example"

    Attributes
    ----------
    coef_ : array, shape (n,)
    best_ : dict
        The chosen alpha, its score and the other settings.
    alphas_ : array, shape (n_alphas,)
        Ascending.
    settings_ : list of dict
        The combinations of the other settings.
    scores_ : array, shape (n_settings, n_alphas)
        The measure for each.
    cv_ : str
        What the choice rested on.
    solver_ : {"primal", "dual"}
    """

    _fitted_state: Fields = (*RankRLS._fitted_state, *SelectingRanker._selection_state)

    def __init__(
        self,
        alphas: Sequence[float] | Floats = DEFAULT_ALPHAS,
        *,
        cv: Any = "leave-query-out",
        measure: str | Measure = "pairwise_error",
        solver: str = "auto",
        ties: str | Sequence[str] = "keep",
        weighting: str | Sequence[str] = "example",
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.measure = measure
        self.solver = solver
        self.ties = ties
        self.weighting = weighting

    def _candidates(self) -> Iterator[tuple[dict[str, Any], ClosedFormRanker]]:
        for setting in grid_of({"ties": self.ties, "weighting": self.weighting}):
            yield setting, RankRLS(solver=self.solver, **setting)
