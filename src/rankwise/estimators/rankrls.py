"""RankRLS: regularized least squares on differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from rankwise.estimators.base import LinearRanker
from rankwise.estimators.held_out import HeldOut
from rankwise.estimators.iterative import ITERATION_STATE, MAX_ENTRIES, How
from rankwise.estimators.least_squares import LeastSquaresRanker, joined_targets
from rankwise.estimators.selected import DEFAULT_ALPHAS, SelectingRanker, grid_of
from rankwise.losses.squared import SquaredLoss
from rankwise.metrics.measure import Measure
from rankwise.operators.design import MatrixDesign
from rankwise.operators.kernel import Kernel, KernelName
from rankwise.persist.fields import Fields, value
from rankwise.solvers.krylov import feature_space
from rankwise.solvers.spaces import ExampleSpace, FeatureSpace, MappedSpace, Space
from rankwise.types import Floats, Matrix, Solver
from rankwise.validation import check_choice


class RankRLS(LeastSquaresRanker, LinearRanker):
    """Linear RankRLS: minimize ``Σ_q c_q Σ_{i<j in q} (yᵢ − yⱼ − (xᵢ − xⱼ)·w)² + alpha ‖w‖²``.

    Parameters
    ----------
    alpha : float, default=1.0
        The papers' λ; 0 gives the least-squares solution of smallest norm.
    solver : {"auto", "primal", "dual", "cg"}, default="auto"
        "primal" solves in the space of features (O(m n² + n³)), "dual" in the space of rows (O(m² n + m³)),
        "cg" by conjugate gradient on sparse products (O(t m s) for t iterations and s non-zeros a row; paper
        C). "auto" takes the cheapest, see `choose_solver`. All give the same model, "cg" up to `tol`.
    ties : {"keep", "drop"}, default="keep"
        Whether pairs with equal labels count.
    weighting : {"example", "pair", "query"}, default="example"
        The weight c of a query's pairs: one over its number of rows, 1, or one over its number of pairs.
    tol : float, default=1e-5
        "cg" ends when the residual is at most this part of the right-hand side.
    max_iter : int, default=500
        "cg" ends after so many iterations, with a warning.
    early_stopping : bool, default=False
        Whether "cg" keeps the iterate that does best by `measure` on held-out rows (or on `eval_set`) and
        stops after `patience` iterations without a better one: regularization by iteration. With alpha = 0 it
        is the only regularization, otherwise the model has both.
    patience : int, default=10
    validation_fraction : float, default=0.1
        The part of the queries (of the rows, for one global ranking) that is held out to stop early.
    measure : str, default="pairwise_error"
        The measure on held-out rows, by its name in `rankwise.metrics`.
    checkpoint : str, optional
        A folder in which "cg" saves its state; a run that was killed takes it up and ends with the same bits.
    checkpoint_seconds : float, default=60
        The least time between two saves.
    random_state : int, RandomState or None, default=None
        Chooses the rows to hold out.

    Attributes
    ----------
    coef_ : array, shape (n,) or (k, n)
        The weights w, one row a target when y has k columns.
    solver_ : {"primal", "dual", "cg"}
        The solver that "auto" chose.
    n_iter_ : int or None
        Iterations of "cg".
    validation_curve_ : array, shape (n_iter_,)
        The measure after each iteration; only with held-out rows.
    best_iter_ : int
        The best iteration, counted from 1: the one that early stopping keeps.

    References
    ----------
    Pahikkala et al., "Learning to Rank with Pairwise Regularized Least-Squares" (2007), equations 8 and 11;
    Airola et al., "Large scale training methods for linear RankRLS" (2010).

    Examples
    --------
    >>> from rankwise import RankRLS
    >>> X, y, qid = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 0.0, 2.0], ["a", "a", "a"]
    >>> RankRLS(alpha=0.1).fit(X, y, qid).rank(X, qid).tolist()
    [2, 0, 1]
    """

    _fitted_state: Fields = (*LinearRanker._fitted_state, value("solver_", str), *ITERATION_STATE)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        solver: str = "auto",
        ties: str = "keep",
        weighting: str = "example",
        tol: float = 1e-5,
        max_iter: int = 500,
        early_stopping: bool = False,
        patience: int = 10,
        validation_fraction: float = 0.1,
        measure: str = "pairwise_error",
        checkpoint: str | None = None,
        checkpoint_seconds: float = 60.0,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.solver = solver
        self.ties = ties
        self.weighting = weighting
        self.tol = tol
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.measure = measure
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds
        self.random_state = random_state

    def _spaces_for(self, X: Matrix, losses: Sequence[SquaredLoss], held_out: HeldOut | None) -> list[Space]:
        how = How(self._iterations(), held_out)
        wanted = check_choice("solver", self.solver, Solver)
        if wanted is Solver.AUTO and (self._wants_iterations or held_out is not None):
            wanted = Solver.CG
        n_entries = X.nnz if sparse.issparse(X) else X.size
        chosen = choose_solver(wanted, X.shape[0], X.shape[1], n_entries)
        self.solver_ = str(chosen)
        return _SPACES[chosen](self, X, losses, how)

    def _accept(self, coefficients: Sequence[Floats]) -> None:
        self.coef_ = np.ascontiguousarray(joined_targets(coefficients))


# What an entry costs in sparse products, in multiply-adds of dense linear algebra; and the iterations that
# conjugate gradient is expected to take.
SPARSE_COST, EXPECTED_ITERATIONS = 40.0, 100


def choose_solver(solver: Solver, n_rows: int, n_features: int, n_entries: int) -> Solver:
    """What "auto" stands for: the solver with the fewest multiply-adds among those that memory can hold.

    A closed form is exact, conjugate gradient stops at a tolerance: so it must be ten times cheaper.
    """
    if solver is not Solver.AUTO:
        return solver
    m, n, density = float(n_rows), float(n_features), n_entries / max(1, n_rows * n_features)
    sparse_share = min(1.0, SPARSE_COST * density)
    cost = {
        Solver.PRIMAL: m * n**2 * sparse_share**2 + n**3 / 3,
        Solver.DUAL: m**2 * n * sparse_share + m**3 / 3,
    }
    closed = min(cost, key=lambda name: cost[name])
    iterative = EXPECTED_ITERATIONS * SPARSE_COST * n_entries
    too_large = min(m, n) ** 2 > MAX_ENTRIES
    return Solver.CG if too_large or 10 * iterative < cost[closed] else closed


def _in_features(ranker: RankRLS, X: Matrix, losses: Sequence[SquaredLoss], how: How) -> list[Space]:
    how.refuse(ranker)
    design = MatrixDesign(X)
    return [FeatureSpace(design, loss) for loss in losses]


def _in_examples(ranker: RankRLS, X: Matrix, losses: Sequence[SquaredLoss], how: How) -> list[Space]:
    how.refuse(ranker)
    K, design = Kernel(KernelName.LINEAR)(X, X), MatrixDesign(X)
    return [MappedSpace(ExampleSpace(K, loss), design.adjoint) for loss in losses]


def _by_iteration(ranker: RankRLS, X: Matrix, losses: Sequence[SquaredLoss], how: How) -> list[Space]:
    design, validation = MatrixDesign(X), how.validation(lambda rows: MatrixDesign(rows).scores)
    return [feature_space(design, loss, how.iterations, validation) for loss in losses]


_SPACES: dict[Solver, Callable[[RankRLS, Matrix, Sequence[SquaredLoss], How], list[Space]]] = {
    Solver.PRIMAL: _in_features,
    Solver.DUAL: _in_examples,
    Solver.CG: _by_iteration,
}


class RankRLSCV(SelectingRanker, LinearRanker):
    """Linear RankRLS that chooses alpha, every value of it from one decomposition or one run of "cg".

    The objective is that of `RankRLS`. Primal, O(m n² + n³) and then O(n²) an alpha; leaving a query of h
    rows out adds at most O(n³) for all alphas together, or O(h² n + h³) for each, whichever is less. Dual and
    "cg" as in `RankRLS`.

    Parameters
    ----------
    alphas : sequence of float, default=(2⁻¹⁵, ..., 2¹⁵)
        The values to choose from.
    cv : "leave-query-out", "leave-pair-out", int, splitter or None, default="leave-query-out"
        What the choice rests on when `fit` gets no `eval_set`. Leave-query-out is exact for every alpha, at
        the price of a few fits; a number of folds or a scikit-learn splitter of whole queries is treated
        alike. In one global ranking (no qid) leave-pair-out takes its place, and folds are of rows: dealt out
        by their labels, or by a splitter; each takes a fit then.
    measure : str or Measure, default="pairwise_error"
        What is measured on the rows left out; see `rankwise.metrics.get_measure`.
    solver : {"auto", "primal", "dual", "cg"}, default="auto"
        "cg" solves all alphas with the products of a single run and, given an `eval_set`, measures every
        iterate of every alpha on it; folds take one run each.
    ties : {"keep", "drop"} or a tuple of them, default="keep"
        ``("keep", "drop")`` chooses as paper A does.
    weighting : {"example", "pair", "query"} or a tuple of them, default="example"
    early_stopping : bool, default=False
        Whether "cg" takes each alpha at its best iteration (paper C's hybrid; with ``alphas=[0]`` its
        regularization by iteration) and stops when none improves, rather than at convergence.
    tol, max_iter, patience, checkpoint, checkpoint_seconds
        Of "cg", as in `RankRLS`.

    Attributes
    ----------
    coef_ : array, shape (n,)
    alpha_, best_score_ : float
        The chosen alpha and what was measured for it.
    best_ : dict
        Both, and the other settings.
    alphas_ : array, shape (n_alphas,)
        Ascending.
    settings_ : list of dict
        The combinations of the other settings.
    scores_ : array, shape (n_settings, n_alphas)
        The measure for each.
    cv_ : str
        What the choice rested on.
    solver_ : {"primal", "dual", "cg"}
    surface_ : array, shape (n_alphas, n_iterations)
        The measure on the `eval_set` for every alpha and iteration of "cg".
    readings_ : dict
        What each of paper C's methods would choose on that surface, and its score: "tikhonov" (the best alpha
        at convergence), "iteration" (the best iteration at the smallest alpha), "hybrid" (the best of all).
    n_iter_, validation_curve_, best_iter_
        As in `RankRLS`, for the chosen alpha.

    Examples
    --------
    >>> from rankwise import RankRLSCV, make_search_data
    >>> data = make_search_data(60, seed=0)
    >>> model = RankRLSCV(measure="ndcg@10", ties=("keep", "drop")).fit(data.X, data.y, data.qid)
    >>> model.cv_, model.scores_.shape
    ('leave-query-out', (2, 31))
    >>> model.best_["ties"], model.alpha_
    ('drop', 0.0009765625)
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
        tol: float = 1e-5,
        max_iter: int = 500,
        early_stopping: bool = False,
        patience: int = 10,
        checkpoint: str | None = None,
        checkpoint_seconds: float = 60.0,
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.measure = measure
        self.solver = solver
        self.ties = ties
        self.weighting = weighting
        self.tol = tol
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.patience = patience
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds

    def _candidates(self) -> Iterator[tuple[dict[str, Any], LeastSquaresRanker]]:
        for setting in grid_of({"ties": self.ties, "weighting": self.weighting}):
            yield (
                setting,
                RankRLS(
                    solver=self.solver,
                    tol=self.tol,
                    max_iter=self.max_iter,
                    early_stopping=self.early_stopping,
                    patience=self.patience,
                    checkpoint=self.checkpoint,
                    checkpoint_seconds=self.checkpoint_seconds,
                    **setting,
                ),
            )
