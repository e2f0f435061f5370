"""RankSVMPath: kernel RankSVM for every regularization at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from rankwise.errors import ParameterError, warn_caller
from rankwise.estimators.kernel_ranker import kernel_matrix
from rankwise.estimators.path_ranker import PathRanker, level_per_alpha
from rankwise.operators.kernel import KernelFunction, KernelName
from rankwise.preferences.graphs import (
    GraphKind,
    PreferenceGraph,
    Representative,
    check_graph_fits,
    explicit_graph,
    full_graph,
    least_alike,
    reduced_graph,
)
from rankwise.solvers.svm_path import Progress, ranking_svm_path
from rankwise.threads import resolve_threads
from rankwise.types import Floats, Matrix, Weighting
from rankwise.validation import (
    Problem,
    check_choice,
    check_count,
    check_number,
    check_preferences,
    check_problem,
)

# Where the path ends by default, as a share of the largest breakpoint.
DEFAULT_REACH = 1e-3


@dataclass(frozen=True)
class _Settings:
    """Parameters of the path, checked before anything is computed."""

    graph: GraphKind
    weighting: Weighting
    alpha_min: float | None
    max_events: int | None
    tolerance: float


class RankSVMPath(PathRanker):
    """Kernel RankSVM for all alphas: minimize ``R(f) + alpha ‖f‖²``, R the weighted mean hinge over pairs.

    With the linear kernel and the full graph, the model at `alpha` is the one of ``RankSVM(alpha)``. A
    breakpoint with k pairs on the margin takes O(k² + m k) time and a look at the pairs that may come next;
    memory is O(m² + pairs).

    Parameters
    ----------
    kernel : {"rbf", "linear", "polynomial", "precomputed"} or callable, default="rbf"
        As in `KernelRankRLS`.
    gamma : float, optional
        The rbf kernel is exp(−gamma ‖a − b‖²), the polynomial (gamma a·b + coef0)^degree; 1 over the number
        of features by default.
    degree : float, default=3
    coef0 : float, default=1
    graph : {"full", "reduced"}, default="full"
        Every pair of a query with different scores, or paper E's double stars between neighbouring levels:
        about two pairs a row, and so many times faster to follow.
    representative : callable, optional
        Which of the rows of a level (an array of row numbers) stands for it in the reduced graph; by default
        the one that the kernel finds least like the rows of its query, as a threshold would be.
    weighting : {"query", "pair", "example"}, default="query"
        Whether every query has the same say, every pair, or every row.
    alpha_min : float, optional
        Where the path ends; a thousandth of the largest breakpoint by default.
    max_events : int, optional
        Stop after so many breakpoints.
    tol : float, default=1e-7
        The largest violation of the optimality conditions, in units of the margin, at any breakpoint.

    Attributes
    ----------
    alphas_ : array, shape (n_breakpoints,)
        The breakpoints, falling. Between two of them ``alpha f`` is linear in alpha.
    n_events_ : int
    active_size_ : array of int, shape (n_breakpoints,)
        Pairs on the margin after each breakpoint.
    violation_ : array, shape (n_breakpoints,)
        The largest violation of the optimality conditions at each breakpoint: the certificate.
    n_pairs_ : int
    alpha_ : float
        What `predict` uses: the last breakpoint, or the one that `select` chose.
    path_error_ : array, shape (n_breakpoints,)
        What `select` measured at each breakpoint.
    dual_coef_ : array, shape (m,)
        The coefficients of the training rows at `alpha_`.

    Notes
    -----
    A saved model keeps the whole path: 12 bytes for every multiplier that changes at a breakpoint.

    References
    ----------
    Zapien, Gasso, Gärtner, Canu, "Model Selection for Ranking SVM Using Regularization Path" (2009).

    Examples
    --------
    >>> from rankwise import RankSVMPath, make_search_data
    >>> train, test = make_search_data(20, seed=0).scale_per_query().split(0.7)
    >>> model = RankSVMPath(graph="reduced").fit(train.X, train.y, train.qid)
    >>> len(model.alphas_) == model.n_events_ + 1, bool(model.violation_.max() < 1e-7)
    (True, True)
    >>> model.select(test.X, test.y, test.qid, "ndcg@10").alpha_ in model.alphas_
    True
    """

    def __init__(
        self,
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        graph: str = "full",
        representative: Representative | None = None,
        weighting: str = "query",
        alpha_min: float | None = None,
        max_events: int | None = None,
        tol: float = 1e-7,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.graph = graph
        self.representative = representative
        self.weighting = weighting
        self.alpha_min = alpha_min
        self.max_events = max_events
        self.tol = tol

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        on_event: Progress | None = None,
    ) -> Self:
        """Follow the path of all solutions.

        Parameters
        ----------
        X : array or CSR matrix, shape (m, n)
        y : array, shape (m,)
            Labels of any real value; higher is better.
        qid : sequence of hashables, optional
            The query of each row, in any order; None means one global ranking.
        sample_weight : array, shape (m,), optional
            A pair weighs the product of its rows' weights.
        on_event : callable, optional
            Called now and then with the part of the path behind (0 to 1, by log alpha), the number of events
            so far and the number of pairs on the margin.
        """
        problem = check_problem(self, X, y, qid, sample_weight)
        settings = self._checked_settings()
        if settings.graph is GraphKind.FULL:
            check_graph_fits(problem.queries, problem.y)
        K = self._kernel_matrix(problem.X)
        self._follow(K, self._graph_of(problem, settings, K), settings, on_event)
        self.fitted_with_qid_ = qid is not None
        return self

    def fit_preferences(
        self, X: Any, pairs: Any, *, weight: ArrayLike | None = None, on_event: Progress | None = None
    ) -> Self:
        """Follow the path for the caller's own pairs (better row, worse row); see `fit`."""
        rows, checked = check_preferences(self, X, pairs, None, weight)
        settings = self._checked_settings()
        graph = explicit_graph(checked, rows.shape[0])
        self._follow(self._kernel_matrix(rows), graph, settings, on_event)
        self.fitted_with_qid_ = False
        return self

    def _kernel_matrix(self, X: Matrix) -> Floats:
        """Kernel values between the training rows, which become the basis."""
        kernel = self._checked_kernel(X)
        self.basis_indices_ = np.arange(X.shape[0], dtype=np.int64)
        self.rank_ = X.shape[0]
        if kernel.function is not KernelName.PRECOMPUTED:
            self.basis_ = X
        return kernel_matrix(X, kernel, "train on a sample, or use RankSVM or KernelRankRLS with a basis")

    def _checked_settings(self) -> _Settings:
        chosen, least, most = self.representative, self.alpha_min, self.max_events
        if chosen is not None and not callable(chosen):
            raise ParameterError(f"The 'representative' parameter must be None or callable; got {chosen!r}.")
        return _Settings(
            graph=check_choice("graph", self.graph, GraphKind),
            weighting=check_choice("weighting", self.weighting, Weighting),
            alpha_min=None
            if least is None
            else check_number("alpha_min", least, minimum=0.0, exclusive=True),
            max_events=None if most is None else check_count("max_events", most),
            tolerance=check_number("tol", self.tol, minimum=0.0, exclusive=True),
        )

    def _graph_of(self, problem: Problem, settings: _Settings, K: Floats) -> PreferenceGraph:
        make = full_graph
        if settings.graph is GraphKind.REDUCED:
            chosen = self.representative or least_alike(K, problem.queries, problem.row_weight)
            make = partial(reduced_graph, representative=chosen)
        return make(problem.queries, problem.y, weighting=settings.weighting, row_weight=problem.row_weight)

    def _follow(
        self, K: Floats, graph: PreferenceGraph, settings: _Settings, on_event: Progress | None
    ) -> None:
        scale = level_per_alpha(graph)
        least = settings.alpha_min
        path = ranking_svm_path(
            K,
            graph,
            min_level=lambda first: DEFAULT_REACH * first if least is None else min(first, scale * least),
            max_events=settings.max_events,
            tolerance=settings.tolerance,
            n_threads=resolve_threads(),
            on_event=on_event,
        )
        if not path.converged:
            warn_caller(
                f"The path stops at alpha = {path.levels[-1] / scale:.3g}: {path.message}.",
                ConvergenceWarning,
            )
        self._path = path
        self.alphas_ = path.levels / scale
        self.n_events_ = path.n_breakpoints - 1
        self.active_size_ = path.active_sizes
        self.violation_ = path.violations
        self.n_pairs_ = graph.n_pairs
        self._choose(self.n_events_)
