"""Kernel RankRLS with built-in selection of alpha and kernel parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rankwise.metrics.measure import Measure
from rankwise.model.outcome import Outcome
from rankwise.model.schemas import SCHEMAS
from rankwise.operators.kernel import KernelFunction
from rankwise.preferences.pairs import Pairs
from rankwise.rankers.kernel_rankrls import checked_basis
from rankwise.rankers.kernels import checked_kernel
from rankwise.rankers.rankrls_cv import DEFAULT_ALPHAS
from rankwise.rankers.ridge_solvers import (
    SpaceToTry,
    choice_outcome,
    pair_loss,
    ridge_candidates,
    row_loss,
    settings_of_loss,
)
from rankwise.rankers.search_ranker import SearchRanker
from rankwise.ridge.kernel_spaces import BasisSpace, kernel_space
from rankwise.scoring.functions import FeatureFunction
from rankwise.selection.criteria import LossOf
from rankwise.selection.search import Candidate, Choice, grid_of
from rankwise.types import Floats, Ints, Matrix, RandomSource
from rankwise.validation import Problem


class KernelRankRLSCV(SearchRanker):
    """Kernel RankRLS with built-in selection of alpha and kernel parameters.

    The objective is that of `KernelRankRLS`. Each combination of the other settings takes O(m³), or O(m r²)
    with r basis vectors, and each alpha O(m²) or O(r²); leave-query-out costs about as much as a few fits.

    Parameters
    ----------
    alphas : sequence of float, default=(2⁻¹⁵, ..., 2¹⁵)
        The values to choose from; all of them share one decomposition per kernel.
    cv, measure, early_stopping
        As in `RankRLSCV`.
    kernel, gamma, degree, coef0, basis, ties, weighting, random_state, columns
        As in `KernelRankRLS`; gamma, degree, coef0, ties and weighting may each be a list or tuple of values
        to choose from.
    solver, tol, max_iter, patience, checkpoint, checkpoint_seconds
        As in `KernelRankRLS`. Every fold and setting has its own checkpoint in the folder.

    Attributes
    ----------
    basis_indices_, basis_, dual_coef_, rank_, gamma_, degree_, coef0_
        As in `KernelRankRLS`.
    solver_, n_iter_, validation_score_, validation_curve_, best_iter_
        As in `KernelRankRLS`, for the chosen alpha and setting.
    alpha_, best_score_, best_, best_index_, alphas_, settings_, scores_, cv_, cv_results_
        As in `RankRLSCV`; a setting holds the parameters of the kernel, ties and weighting.
    surface_, readings_, left_out_scores_, calibration_
        As in `RankRLSCV`.

    See Also
    --------
    KernelRankRLS : For a given alpha.
    RankRLSCV : The linear version, which is faster.

    Examples
    --------
    >>> from rankwise import KernelRankRLSCV, make_search_data
    >>> data = make_search_data(30, random_state=0).scale_per_query()
    >>> model = KernelRankRLSCV(gamma=[0.01, 0.1, 1.0]).fit(data)
    >>> model.cv_, model.scores_.shape
    ('leave-query-out', (3, 31))
    >>> model.best_["gamma"]
    0.01
    """

    _schema = SCHEMAS["KernelRankRLSCV"]
    _row_loss = staticmethod(row_loss)
    _pair_loss = staticmethod(pair_loss)

    def __init__(
        self,
        alphas: Sequence[float] | Floats = DEFAULT_ALPHAS,
        *,
        cv: Any = "auto",
        measure: str | Measure = "pairwise_error",
        kernel: str | KernelFunction = "rbf",
        gamma: float | Sequence[float] | None = None,
        degree: float | Sequence[float] = 3,
        coef0: float | Sequence[float] = 1,
        basis: int | Sequence[int] | Ints | None = None,
        ties: str | Sequence[str] = "keep",
        weighting: str | Sequence[str] = "example",
        random_state: RandomSource = None,
        solver: str = "auto",
        tol: float = 1e-5,
        max_iter: int = 500,
        early_stopping: bool = False,
        patience: int = 10,
        checkpoint: str | None = None,
        checkpoint_seconds: float = 60.0,
        columns: Any = None,
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
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.patience = patience
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds
        self.columns = columns

    def _candidates(
        self, X: Matrix, statements: Problem | Pairs, loss_on: Callable[[dict[str, Any]], LossOf]
    ) -> tuple[list[Candidate], bool]:
        losses = settings_of_loss(self.ties, self.weighting)
        spaces = self._spaces(X, loss_on(losses[0])(statements).reference())
        return ridge_candidates(self, spaces, losses, statements, loss_on)

    def _chosen(self, choice: Choice) -> tuple[FeatureFunction, Outcome]:
        function = choice.family.space.function(choice.solutions.coef[choice.place])
        return function, choice_outcome(choice, early_stopping=self.early_stopping)

    def _spaces(self, X: Matrix, reference: Ints) -> list[SpaceToTry]:
        basis = checked_basis(self.basis, X.shape[0], self.random_state)
        options = grid_of({name: getattr(self, name) for name in ("gamma", "degree", "coef0")})
        kernels = [
            checked_kernel(self.kernel, **option, X=X, encoding=self._inputs.encoding) for option in options
        ]
        used = [{name: option[name] for name in kernels[0].parameters} for option in options]
        make, by = (kernel_space, [reference]) if basis is None else (BasisSpace, [basis, reference])
        return [
            (setting, partial(make, X, kernel, *by))
            for number, (setting, kernel) in enumerate(zip(used, kernels, strict=True))
            if setting not in used[:number]  # skip values of parameters that the kernel does not use
        ]
