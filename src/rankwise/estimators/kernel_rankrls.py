"""Kernel RankRLS, on all rows or on basis vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rankwise.estimators.held_out import HeldOut
from rankwise.estimators.iterative import ITERATION_STATE, MAX_ENTRIES, How
from rankwise.estimators.kernel_ranker import (
    KernelRanker,
    check_basis,
    check_kernel,
    features_of_basis,
    kernel_matrix,
)
from rankwise.estimators.least_squares import LeastSquaresRanker, joined_targets
from rankwise.estimators.selected import DEFAULT_ALPHAS, SelectingRanker, grid_of
from rankwise.losses.squared import SquaredLoss
from rankwise.metrics.measure import Measure
from rankwise.operators.design import MatrixDesign
from rankwise.operators.kernel import (
    Kernel,
    KernelFunction,
    KernelName,
    row_blocks,
)
from rankwise.operators.kernel_products import KernelProducts
from rankwise.persist.fields import Fields, value
from rankwise.solvers.krylov import example_space, feature_space
from rankwise.solvers.spaces import ExampleSpace, FeatureSpace, MappedSpace, Space
from rankwise.types import Floats, Ints, KernelSolver, Matrix
from rankwise.validation import check_choice, check_random_state


class KernelRankRLS(LeastSquaresRanker, KernelRanker):
    """Kernel RankRLS: minimize ``Σ_q c_q Σ_{i<j in q} (yᵢ − yⱼ − (f(xᵢ) − f(xⱼ)))² + alpha ‖f‖²``.

    Parameters
    ----------
    alpha : float, default=1.0
        The papers' λ.
    kernel : {"rbf", "linear", "polynomial", "precomputed"} or callable, default="rbf"
        A callable k(A, B) returns the matrix of values between the rows of A and B. With "precomputed", X is
        the matrix of kernel values: (m, m) for `fit`, (rows, m) for `predict`; this is how kernels on graphs,
        strings or parses come in.
    gamma : float, optional
        The rbf kernel is exp(−gamma ‖a − b‖²), the polynomial (gamma a·b + coef0)^degree; 1 over the number
        of features by default.
    degree : float, default=3
    coef0 : float, default=1
    basis : None, int or array of int, default=None
        The training rows that may have a coefficient: all (None; paper A, O(m³)), so many chosen at random,
        or the rows given (paper B, Sparse RankRLS, O(m r²) for r basis vectors).
    ties : {"keep", "drop"}, default="keep"
        Whether pairs with equal labels count.
    weighting : {"example", "pair", "query"}, default="example"
        The weight c of a query's pairs: one over its number of rows, 1, or one over its number of pairs.
    random_state : int, RandomState or None, default=None
        Chooses the random basis, and the rows to hold out.
    solver : {"auto", "closed", "cg"}, default="auto"
        "closed" decomposes the kernel matrix, O(m³) time and O(m²) memory without a basis; "cg" multiplies
        with it, computed in blocks in every iteration, O(t m² s) time and O(m) memory. "auto" takes "cg" for
        more rows than memory can square, and to stop early.
    tol, max_iter, early_stopping, patience, validation_fraction, measure, checkpoint, checkpoint_seconds
        Of "cg", as in `RankRLS`.

    Attributes
    ----------
    basis_indices_ : array of int, shape (r,)
        The training rows that have a coefficient. Basis vectors that the others span are left out.
    basis_ : array or CSR matrix, shape (r, n)
        Those rows; not set for a precomputed kernel.
    dual_coef_ : array, shape (r,) or (k, r)
        Their coefficients a, one row a target when y has k columns.
    rank_ : int
        The number of basis vectors that were independent: r, and less than asked for if some were left out.
    gamma_, degree_, coef0_ : float
        The kernel parameters used.
    solver_, n_iter_, validation_curve_, best_iter_
        As in `RankRLS`.

    References
    ----------
    Pahikkala et al., "Learning to Rank with Pairwise Regularized Least-Squares" (2007), equation 8;
    Tsivtsivadze et al., "A Sparse Regularized Least-Squares Preference Learning Algorithm" (2008).

    Examples
    --------
    >>> from rankwise import KernelRankRLS, make_search_data
    >>> data = make_search_data(60, seed=0).scale_per_query()
    >>> model = KernelRankRLS(basis=100, random_state=0).fit(data.X, data.y, data.qid)
    >>> model.dual_coef_.shape
    (100,)
    >>> round(model.score(data.X, data.y, data.qid), 2)
    0.89
    """

    _fitted_state: Fields = (*KernelRanker._fitted_state, value("solver_", str), *ITERATION_STATE)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        basis: int | Sequence[int] | Ints | None = None,
        ties: str = "keep",
        weighting: str = "example",
        random_state: Any = None,
        solver: str = "auto",
        tol: float = 1e-5,
        max_iter: int = 500,
        early_stopping: bool = False,
        patience: int = 10,
        validation_fraction: float = 0.1,
        measure: str = "pairwise_error",
        checkpoint: str | None = None,
        checkpoint_seconds: float = 60.0,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.basis = basis
        self.ties = ties
        self.weighting = weighting
        self.random_state = random_state
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.measure = measure
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds

    def _spaces_for(self, X: Matrix, losses: Sequence[SquaredLoss], held_out: HeldOut | None) -> list[Space]:
        kernel, how = self._checked_kernel(X), How(self._iterations(), held_out)
        random = check_random_state("random_state", self.random_state)
        wanted = check_choice("solver", self.solver, KernelSolver)
        if wanted is KernelSolver.AUTO and (self._wants_iterations or held_out is not None):
            wanted = KernelSolver.CG
        chosen = choose_kernel_solver(wanted, X.shape[0], self.basis is not None)
        self.solver_ = str(chosen)
        if chosen is KernelSolver.CLOSED:
            how.refuse(self)
        by_iteration = how if chosen is KernelSolver.CG else None
        if self.basis is None:
            return self._on_all_rows(X, kernel, losses, by_iteration)
        return self._on_basis(X, kernel, losses, check_basis(self.basis, X.shape[0], random), by_iteration)

    def _on_all_rows(
        self, X: Matrix, kernel: Kernel, losses: Sequence[SquaredLoss], how: How | None
    ) -> list[Space]:
        self._keep_basis(X, kernel, np.arange(X.shape[0], dtype=np.int64))
        if how is not None:
            product = KernelProducts(kernel, X, X)
            validation = how.validation(lambda rows: KernelProducts(kernel, rows, X))
            return [example_space(product, loss, how.iterations, validation) for loss in losses]
        K = kernel_matrix(X, kernel, "take basis vectors or solver='cg'")
        return [ExampleSpace(K, loss) for loss in losses]

    def _on_basis(
        self, X: Matrix, kernel: Kernel, losses: Sequence[SquaredLoss], chosen: Ints, how: How | None
    ) -> list[Space]:
        features = features_of_basis(X, kernel, chosen)
        self._keep_basis(X, kernel, chosen[features.kept])
        design, transform = MatrixDesign(features.features), features.transform
        if how is None:
            return [MappedSpace(FeatureSpace(design, loss), lambda w: transform @ w) for loss in losses]
        validation = how.validation(
            lambda rows: (
                lambda w: np.concatenate(
                    [
                        self._kernel_values(rows[place]) @ (transform @ w)
                        for place in row_blocks(rows.shape[0], len(transform))
                    ]
                )
            )
        )
        return [
            feature_space(design, loss, how.iterations, validation, lambda w: transform @ w)
            for loss in losses
        ]

    def _keep_basis(self, X: Matrix, kernel: Kernel, indices: Ints) -> None:
        self.basis_indices_ = indices
        self.rank_ = len(indices)
        if kernel.function is not KernelName.PRECOMPUTED:
            self.basis_ = X if len(indices) == X.shape[0] and self.basis is None else X[indices]

    def _accept(self, coefficients: Sequence[Floats]) -> None:
        self.dual_coef_ = np.ascontiguousarray(joined_targets(coefficients))


def choose_kernel_solver(solver: KernelSolver, n_rows: int, has_basis: bool) -> KernelSolver:
    """What "auto" stands for: decompositions as long as memory holds the matrix to decompose."""
    if solver is not KernelSolver.AUTO:
        return solver
    return KernelSolver.CG if not has_basis and n_rows**2 > MAX_ENTRIES else KernelSolver.CLOSED


class KernelRankRLSCV(SelectingRanker, KernelRanker):
    """Kernel RankRLS that chooses alpha and the kernel's parameters.

    The objective is that of `KernelRankRLS`. O(m³), or O(m r²) with r basis vectors, for each combination of
    the other settings, then O(m²) or O(r²) an alpha; the scores left out cost about as much as a few fits.

    Parameters
    ----------
    alphas : sequence of float, default=(2⁻¹⁵, ..., 2¹⁵)
        The values to choose from; all of them from one decomposition for each kernel.
    cv, measure
        As in `RankRLSCV`.
    kernel, gamma, degree, coef0, basis, ties, weighting, random_state
        As in `KernelRankRLS`; gamma, degree, coef0, ties and weighting may each be a list or tuple of values
        to choose from.

    Attributes
    ----------
    basis_indices_, basis_, dual_coef_, rank_, gamma_, degree_, coef0_
        As in `KernelRankRLS`.
    alpha_, best_score_, best_, alphas_, settings_, scores_, cv_
        As in `RankRLSCV`; a setting holds the kernel's own parameters, ties and weighting.

    Examples
    --------
    >>> from rankwise import KernelRankRLSCV, make_search_data
    >>> data = make_search_data(30, seed=0).scale_per_query()
    >>> model = KernelRankRLSCV(gamma=[0.01, 0.1, 1.0]).fit(data.X, data.y, data.qid)
    >>> model.cv_, model.scores_.shape
    ('leave-query-out', (3, 31))
    >>> model.best_["gamma"]
    0.01
    """

    _fitted_state: Fields = (*KernelRankRLS._fitted_state, *SelectingRanker._selection_state)

    def __init__(
        self,
        alphas: Sequence[float] | Floats = DEFAULT_ALPHAS,
        *,
        cv: Any = "leave-query-out",
        measure: str | Measure = "pairwise_error",
        kernel: str | KernelFunction = "rbf",
        gamma: float | Sequence[float] | None = None,
        degree: float | Sequence[float] = 3,
        coef0: float | Sequence[float] = 1,
        basis: int | Sequence[int] | Ints | None = None,
        ties: str | Sequence[str] = "keep",
        weighting: str | Sequence[str] = "example",
        random_state: Any = None,
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.measure = measure
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.basis = basis
        self.ties = ties
        self.weighting = weighting
        self.random_state = random_state

    def _candidates(self) -> Iterator[tuple[dict[str, Any], LeastSquaresRanker]]:
        names = ("gamma", "degree", "coef0", "ties", "weighting")
        function = check_kernel(self.kernel)
        used = function.parameters if isinstance(function, KernelName) else ()
        for setting in grid_of({name: getattr(self, name) for name in names}):
            yield (
                {name: setting[name] for name in (*used, "ties", "weighting")},
                KernelRankRLS(
                    kernel=self.kernel, basis=self.basis, random_state=self.random_state, **setting
                ),
            )
